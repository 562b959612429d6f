"""Inference of `R.arange` computes a wrong length for a negative step."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main():
        y = R.arange(5, 0, -2, dtype="int64")
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [3, 3]
given = [int(relax.get_shape_of(module["main"].body.body)[0]), vm["main"]().numpy().size]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
