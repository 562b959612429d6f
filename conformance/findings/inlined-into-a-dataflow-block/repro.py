"""`InlinePrivateFunctions` splits a dataflow block at the inlined call and leaves variables of the first part unbound."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def double(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        b = R.add(a, a)
        return b

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.negative(x)
            z = cls.double(x)
            w = R.subtract(z, y)
            R.output(w)
        return w
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.InlinePrivateFunctions()(module)
expected = "well-formed"
try:
    given = expected if relax.analysis.well_formed(module) is not False else "not well-formed"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
