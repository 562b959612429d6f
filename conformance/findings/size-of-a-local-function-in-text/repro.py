"""The printer declares a local function's shape variable in the enclosing body, and the text does not parse."""

import sys
import typing

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Object):
        @R.function
        def f(y: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            return y

        g = f
        return x
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "the program that was printed"
try:
    tvm.script.from_source(module.script(), {"I": I, "R": R, "T": T, "TypeVar": typing.TypeVar})
    given = expected
except Exception as error:
    given = "refused, " + (str(error).strip().splitlines()[0].removeprefix("error: ")[:100] or type(error).__name__)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
