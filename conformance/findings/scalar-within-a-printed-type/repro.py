"""The printer writes a `PrimType` within another type as `T.int64`, which the parser does not accept as a type."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tuple(R.Prim("int64"))):
        return x
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "the program that was printed"
try:
    tvm.script.from_source(module.script())
    given = expected
except Exception as error:
    given = "refused, " + (str(error).strip().splitlines()[0].removeprefix("error: ")[:100] or type(error).__name__)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
