"""`R.strided_slice` along a symbolic axis with a negative bound reads out of bounds."""

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
    def main(x: R.Tensor(("n",), "float32")):
        y = R.strided_slice(x, axes=[0], begin=[-2], end=[100])
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [4.0, 5.0]
given = vm["main"](tensor([1, 2, 3, 4, 5])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
