"""The parser rejects a shape variable that only the function type in a return annotation names."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Object) -> R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32"), True):
        n = T.int64()

        @R.function
        def f(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return y

        return f
"""

expected = "the program is read"
try:
    tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
    given = expected
except Exception as refusal:
    given = "refused, " + str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
