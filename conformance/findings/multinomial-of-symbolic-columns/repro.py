"""Inference of `R.multinomial_from_uniform` rejects a symbolic number of sample columns, which may be 1."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(p: R.Tensor((1, 2), "float32"), sample: R.Tensor((1, "n"), "float32"), row: R.Tensor((1, 1), "int64")):
        y = R.multinomial_from_uniform(p, sample, row)
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
