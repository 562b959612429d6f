"""`CodeGenC` prints float constants with seven significant digits, too few for float64."""

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
    def main(x: R.Tensor((2,), "float64")):
        y = R.full((2,), R.const(0.1234567890123, "float64"), "float64")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [0.1234567890123, 0.1234567890123]
try:
    vm = relax.VirtualMachine(relax.build(module, "c"), tvm.cpu())
    given = vm["main"](tensor([0, 0], "float64")).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
