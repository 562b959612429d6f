"""`R.grad.start_checkpoint` rejects a constant argument."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main():
        y = R.grad.start_checkpoint(R.const([1, 2], "float32"))
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
