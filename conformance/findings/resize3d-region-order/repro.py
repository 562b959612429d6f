"""`R.image.resize3d` reads `roi` with the width first instead of the depth."""

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
    def main(x: R.Tensor((1, 1, 4, 2, 2), "float32")):
        y = R.image.resize3d(x, (2, 2, 2), roi=(0.0, 0.0, 0.0, 0.333333, 1.0, 1.0), method="nearest_neighbor", coordinate_transformation_mode="tf_crop_and_resize", rounding_method="round")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = list(range(8))
given = vm["main"](tensor(np.arange(16).reshape(1, 1, 4, 2, 2))).numpy().astype(int).ravel().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
