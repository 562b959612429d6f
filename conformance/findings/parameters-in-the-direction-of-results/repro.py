"""`TypeBaseCheck` compares function parameters covariantly instead of contravariantly."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def f(h: R.Callable((R.Object,), R.Object, True)) -> R.Object:
        s = R.shape([1])
        y = h(s)
        return y

    @R.function
    def main(g: R.Callable((R.Tensor(ndim=1, dtype="float32"),), R.Object, True)) -> R.Object:
        cls = Module
        y = cls.f(g)
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
