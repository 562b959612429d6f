"""`R.grad.take_backward` fails to build unless the indices are a vector."""

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
    def main(g: R.Tensor((1, 1), "float32"), x: R.Tensor((3,), "float32"), i: R.Tensor((1, 1), "int64")):
        y = R.grad.take_backward(g, x, i, axis=0)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [0.0, 5.0, 0.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[5]]), tensor([1, 2, 3]), tensor([[1]], "int64")).numpy().tolist()
except Exception as refusal:
    given = type(refusal).__name__
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
