"""`ExpandMatmulOfSum` rewrites `x @ (w + v)` to `x @ w + x @ v` even if `v` is broadcast."""

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
    def main(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32"), v: R.Tensor((2,), "float32")):
        with R.dataflow():
            s = R.add(w, v)
            y = R.matmul(x, s)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.ExpandMatmulOfSum()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[4.0, 8.0], [10.0, 18.0]]
given = vm["main"](tensor([[1, 2], [3, 4]]), tensor([[1, 0], [0, 1]]), tensor([1, 2])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
