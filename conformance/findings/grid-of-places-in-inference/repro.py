"""Inference of `R.image.grid_sample` expects the coordinates in the last axis, its kernel in axis 1."""

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
    def main(x: R.Tensor((1, 1, 2, 2), "float32"), g: R.Tensor((1, 2, 3, 4), "float32")):
        y = R.image.grid_sample(x, g)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [(1, 1, 3, 4), (1, 1, 3, 4)]
shape = relax.get_shape_of(module["main"].body.body)
given = [tuple(int(size) for size in shape), vm["main"](tensor(np.ones((1, 1, 2, 2))), tensor(np.zeros((1, 2, 3, 4)))).numpy().shape]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
