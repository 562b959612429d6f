"""`R.collapse_sum_to` over an empty axis leaves its output uninitialized."""

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
    def main(x: R.Tensor((0, 2), "float32"), y: R.Tensor((1, 2), "float32")):
        a = R.add(y, y)
        b = R.multiply(a, a)
        c = R.collapse_sum_to(x, R.shape([1, 2]))
        y = R.add(b, c)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[4.0, 16.0]]
given = vm["main"](tensor(np.zeros((0, 2))), tensor([[1, 2]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
