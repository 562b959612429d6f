"""Inference of broadcasting operators gives a `PrimValue` the shape (1), so a scalar plus a `PrimValue` has rank 1."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "int64")):
        y = R.add(x, R.prim_value(1))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [0, 0]
given = [len(relax.get_shape_of(module["main"].body.body)), vm["main"](tensor(1, "int64")).numpy().ndim]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
