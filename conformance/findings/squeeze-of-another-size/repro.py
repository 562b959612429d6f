"""Inference of `R.squeeze` accepts an axis whose size is not 1, and keeps it."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        y = R.squeeze(x, axis=[0])
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
