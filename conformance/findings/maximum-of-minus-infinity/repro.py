"""`R.max` of only -inf returns the lowest finite number, because its reduction begins there."""

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
    def main(x: R.Tensor((2,), "float32")):
        y = R.max(x, axis=[0])
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "-inf"
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
given = str(vm["main"](tvm.runtime.tensor(np.array([-np.inf, -np.inf], "float32"))).numpy())
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
