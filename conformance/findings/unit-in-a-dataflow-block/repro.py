"""`BlockBuilder.normalize` keeps a `DataflowVar` bound to the empty tuple, where it replaces a `Var`."""

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
        with R.dataflow():
            lv = R.tuple()
            w = (lv, x)
            R.output(w)
        return w
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
bindings = relax.transform.Normalize()(module)["main"].body.blocks[0].bindings
expected = "Tuple"
given = type(bindings[-1].value.fields[0]).__name__
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
