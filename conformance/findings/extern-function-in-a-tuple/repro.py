"""`BlockBuilder.normalize` leaves an `ExternFunc` unbound in a tuple."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Object):
        y = (R.ExternFunc("demo.f"), x)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
bindings = relax.transform.Normalize()(module)["main"].body.blocks[0].bindings
expected = ["Var", "Var"]
given = [type(field).__name__ for field in bindings[-1].value.fields]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
