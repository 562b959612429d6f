"""`R.grad.nll_loss_backward` reads a weight for a target that `ignore_index` excludes, before the first weight."""

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
    def main(g: R.Tensor((), "float32"), x: R.Tensor((2, 3), "float32"), t: R.Tensor((2,), "int64"), w: R.Tensor((3,), "float32")):
        y = R.grad.nll_loss_backward(g, x, t, w, reduction="mean", ignore_index=-1)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[0, 0, 0], [0, -1, 0]]
# The weights stand behind other numbers, which are no business of the operator.
numbers = np.full(48, 5, "float32")
start = -numbers.ctypes.data % 64 // 4 + 16
weights = numbers[start : start + 3]
weights[:] = 1
arguments = tensor(1), tensor([[1, 2, 3], [4, 5, 6]]), tensor([-1, 1], "int64"), tvm.runtime.from_dlpack(weights)
given = vm["main"](*arguments).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
