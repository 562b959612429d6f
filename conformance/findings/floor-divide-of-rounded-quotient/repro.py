"""`R.floor_divide` of floats takes the floor of a rounded quotient, which can be one too large."""

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
    def main(x: R.Tensor((1,), "float32"), y: R.Tensor((1,), "float32")):
        y = R.floor_divide(x, y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [9.0]
given = vm["main"](tensor([1]), tensor([0.1])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
