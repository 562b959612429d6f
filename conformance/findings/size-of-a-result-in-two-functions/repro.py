"""`well_formed` rejects a shape variable that inference copied from a callee's function type into the caller."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(x: R.Object):
        @R.function
        def f(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            return y

        return f

    @R.function
    def main(x: R.Object):
        cls = Module
        f = cls.helper(x)
        return x
"""

expected = "well-formed"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = expected if relax.analysis.well_formed(module) is not False else "not well-formed"
except Exception as refusal:
    given = "refused, " + str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
