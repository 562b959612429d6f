"""`R.nn.softplus` of -40 returns 0, because it takes the logarithm of a rounded sum."""

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
    def main(x: R.Tensor((1,), "float64")):
        y = R.nn.softplus(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = 4.248354255291589e-18
given = vm["main"](tensor([-40], "float64")).numpy().tolist()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
