"""`R.index_tensor` does not count a negative index from the end, and reads another element or out of bounds."""

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
    def main(x: R.Tensor((2, 2), "float32"), i: R.Tensor((1,), "int64"), j: R.Tensor((1,), "int64")):
        y = R.index_tensor(x, (i, j))
        return y
"""

tensor = lambda values, dtype="int64": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [8.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[5, 6], [7, 8]], "float32"), tensor([1]), tensor([-1])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
