"""Inference of `R.vision.non_max_suppression` rejects batch sizes that it cannot prove equal."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 1, 6), "float32"), count: R.Tensor(("m",), "int32")):
        y = R.vision.non_max_suppression(x, count, R.const([[0]], "int32"))
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
