"""`TopologicalSort` fails on a dataflow block in a local function nested in another local function."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def f(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            v = R.add(a, a)
            @R.function
            def g(b: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                with R.dataflow():
                    c = R.add(v, b)
                    R.output(c)
                return c
            return v
        y = f(x)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "a module"
try:
    relax.transform.TopologicalSort()(module)
    given = expected
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
