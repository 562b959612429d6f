"""`well_formed` rejects a local function that uses a shape variable of the enclosing function."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Object:
        n = T.int64()
        @R.function
        def g(y: R.Object) -> R.Shape(ndim=1):
            return R.shape([n])
        z = g(x)
        return z
"""

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:40]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
