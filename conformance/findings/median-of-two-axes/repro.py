"""The legalization of `R.median` reduces only the first of several axes, and returns a tuple."""

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
    def main(x: R.Tensor((1, 3), "float32")):
        y = R.median(x, axis=[0, 1])
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = True
given = isinstance(vm["main"](tensor([[3, 1, 2]])), tvm.runtime.Tensor)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
