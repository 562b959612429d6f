"""`R.image.resize3d` with `cubic_exclude` compares the indices along depth and height with the width."""

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
    def main(x: R.Tensor((1, 1, 4, 1, 1), "float32")):
        y = R.image.resize3d(x, (2, 1, 1), method="cubic", cubic_exclude=1)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1.371, 3.629]
given = vm["main"](tensor(np.arange(1, 5).reshape(1, 1, 4, 1, 1))).numpy().ravel().round(3).tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
