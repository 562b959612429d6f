"""`R.image.affine_grid` ends at 0.9999999 instead of 1."""

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
    def main(x: R.Tensor((1, 2, 3), "float32")):
        y = R.image.affine_grid(x, (2, 2))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [-1.0, 1.0]
given = vm["main"](tensor([[[1, 0, 0], [0, 1, 0]]])).numpy()[0, 0, 0].tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
