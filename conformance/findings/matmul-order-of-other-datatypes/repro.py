"""`AdjustMatmulOrder` fails on a product of products with an `out_dtype`, whose factors have different data types."""

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
    def main(x: R.Tensor((1, 2), "int32"), w: R.Tensor((2, 2), "int8"), v: R.Tensor((2, 2), "int8")):
        with R.dataflow():
            p = R.matmul(w, v, out_dtype="int32")
            y = R.matmul(x, p)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[19, 22]]
try:
    module = relax.transform.AdjustMatmulOrder()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 0]], "int32"), tensor([[1, 2], [3, 4]], "int8"), tensor([[5, 6], [7, 8]], "int8")).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
