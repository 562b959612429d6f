"""Inference of `R.dequantize` rejects `out_dtype="float64"`."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "int8"), scale: R.Tensor((), "float32"), zero: R.Tensor((), "int8")):
        y = R.dequantize(x, scale, zero, axis=0, out_dtype="float64")
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
