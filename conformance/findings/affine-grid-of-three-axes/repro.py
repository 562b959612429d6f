"""Inference of `R.image.affine_grid` rejects a grid with three spatial axes."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 4), "float32")):
        y = R.image.affine_grid(x, (2, 2, 2))
        return y
"""

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:120]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
