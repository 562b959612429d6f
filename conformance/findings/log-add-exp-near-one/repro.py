"""`R.log_add_exp` of 0 and -40 returns 0, because it takes the logarithm of a rounded sum."""

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
    def main(x: R.Tensor((1,), "float64"), y: R.Tensor((1,), "float64")):
        y = R.log_add_exp(x, y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = np.logaddexp([0.0], [-40.0]).tolist()
given = vm["main"](tensor([0], "float64"), tensor([-40], "float64")).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
