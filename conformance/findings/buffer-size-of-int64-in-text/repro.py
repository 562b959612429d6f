"""The printer writes an int64 buffer size of a `PrimFunc` as a string, which the parser reads as int32."""

import sys
import typing

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
    @T.prim_func(private=True, s_tir=True)
    def fill(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("fill"):
                v = T.axis.spatial(n, i)
                A[v] = T.float32(1)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = "the program that was printed"
try:
    tvm.script.from_source(module.script(), {"I": I, "R": R, "T": T, "TypeVar": typing.TypeVar})
    given = expected
except Exception as error:
    given = "refused, " + (str(error).strip().splitlines()[0].removeprefix("error: ")[:100] or type(error).__name__)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
