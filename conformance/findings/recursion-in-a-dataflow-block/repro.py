"""`well_formed` accepts a recursive call in a `DataflowBlock`."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        with R.dataflow():
            y = cls.main(x)
            R.output(y)
        return y
"""

expected = "rejected"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception:
    given = "rejected"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
