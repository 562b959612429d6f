"""Inference of `R.shape_to_tensor` gives size -1 for a shape of unknown rank."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape):
        y = R.shape_to_tensor(s)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = None
shape = relax.get_shape_of(module["main"].body.body) if "-1" in module["main"].script() else None
given = shape and [int(size) for size in shape]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
