"""`ReorderTakeAfterMatmul` drops the `out_dtype` of the product."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1), "float16"), w: R.Tensor((1, 2), "float16"), i: R.Tensor((1,), "int64")):
        with R.dataflow():
            t = R.take(w, i, axis=1)
            y = R.matmul(x, t, out_dtype="float32")
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.ReorderTakeAfterMatmul()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = vm["main"](tensor([[300]], "float16"), tensor([[200, 400]], "float16"), tensor([1], "int64")).numpy()
expected = [[120000.0]], "float32"
given = result.tolist(), str(result.dtype)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
