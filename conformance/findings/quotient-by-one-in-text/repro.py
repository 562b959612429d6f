"""The printer writes `n // 1` as `T.FloorDiv(n, 1)`, whose constant the parser reads as int32."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "T.FloorDiv(n, T.int64(1))"), "float32")) -> R.Object:
        n = T.int64()
        return x
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = "the program that was printed"
try:
    tvm.script.from_source(module.script())
    given = expected
except Exception as error:
    given = "refused, " + next((line for line in str(error).splitlines() if "mismatched" in line), type(error).__name__)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
