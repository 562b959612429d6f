"""`R.image.resize2d` with a region of interest is not compiled for an image of a symbolic size."""

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
    def main(x: R.Tensor((1, 1, 2, "n"), "float32")):
        y = R.image.resize2d(x, (2, 2), roi=[0.0, 0.0, 1.0, 1.0], method="linear", coordinate_transformation_mode="tf_crop_and_resize")
        return y
"""

expected = [1, 3, 4, 6]
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    image = np.array([[[[1, 2, 3], [4, 5, 6]]]], "float32")
    given = vm["main"](tvm.runtime.tensor(image)).numpy().ravel().tolist()
except Exception as error:
    given = str(error).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
