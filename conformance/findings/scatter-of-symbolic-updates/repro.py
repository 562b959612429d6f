"""Inference of `R.scatter_nd` rejects update sizes that it cannot prove equal to those of the indices."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), place: R.Tensor((1, 1), "int64"), update: R.Tensor(("n",), "float32")):
        y = R.scatter_nd(x, place, update)
        return y
"""

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:120]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
