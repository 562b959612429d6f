"""`R.grad.take_backward` with a negative `axis` writes the gradient to other places."""

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
    def main(g: R.Tensor((2, 1), "float32"), x: R.Tensor((2, 2), "float32"), i: R.Tensor((1,), "int64")):
        y = R.grad.take_backward(g, x, i, axis=-1)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[5.0, 0.0], [7.0, 0.0]]
given = vm["main"](tensor([[5], [7]]), tensor([[0, 0], [0, 0]]), tensor([0], "int64")).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
