"""The legalization of `R.eye_like` ignores `dtype`."""

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
    def main(x: R.Tensor((2, 2), "float32")):
        y = R.eye_like(x, 0, dtype="int32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = "int32"
given = str(vm["main"](tensor(np.zeros((2, 2)))).dtype)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
