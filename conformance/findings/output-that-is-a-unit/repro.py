"""The printer omits the binding of a dataflow output that is the empty tuple, so its text does not parse."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main():
        with R.dataflow():
            y = R.tuple()
            R.output(y)
        return y
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
