"""Inference accepts a call whose arguments give one shape variable two different sizes."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.add(x, y)

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((4,), "float32")) -> R.Object:
        cls = Module
        z = cls.f(x, y)
        return z
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
