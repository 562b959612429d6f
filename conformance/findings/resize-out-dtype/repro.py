"""The legalization of `R.image.resize2d` ignores `out_dtype`."""

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
    def main(x: R.Tensor((1, 1, 2, 2), "float32")):
        y = R.image.resize2d(x, (2, 2), out_dtype="float16")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = "float16"
given = str(vm["main"](tensor(np.ones((1, 1, 2, 2)))).dtype)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
