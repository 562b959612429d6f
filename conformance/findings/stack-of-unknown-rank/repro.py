"""Inference of `R.stack` rejects tensors of unknown rank."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32")):
        y = R.stack((x, x), axis=1)
        return y
"""

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:60]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
