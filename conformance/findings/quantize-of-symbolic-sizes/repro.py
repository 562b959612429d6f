"""Inference of `R.quantize` and `R.dequantize` rejects a scale whose size it cannot prove equal to the axis."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "int8"), scale: R.Tensor(("n",), "float32"), zero: R.Tensor((3,), "int8")):
        y = R.dequantize(x, scale, zero, axis=1)
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
