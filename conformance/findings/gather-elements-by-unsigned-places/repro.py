"""Inference of `R.gather_elements` rejects unsigned indices."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), places: R.Tensor((2,), "uint8")):
        y = R.gather_elements(x, places, axis=0)
        return y
"""

expected = "accepted"
try:
    tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = expected
except Exception as refusal:
    given = "refused, " + str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
