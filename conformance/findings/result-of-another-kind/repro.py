"""`well_formed` accepts a function whose body contradicts its return annotation."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Shape(ndim=1):
        return x
"""

expected = "rejected"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted" if relax.analysis.well_formed(module) in (None, True) else "rejected"
except Exception:
    given = "rejected"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
