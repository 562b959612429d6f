"""Inference of unary floating-point operators such as `R.exp` rejects float8."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float8_e4m3fn")):
        y = R.exp(x)
        return y
"""

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][-120:]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
