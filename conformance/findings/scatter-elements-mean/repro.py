"""`R.scatter_elements` with `reduction="mean"` averages one update at a time, so later updates weigh more."""

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
    def main(x: R.Tensor((1,), "float32"), i: R.Tensor((2,), "int64"), u: R.Tensor((2,), "float32")):
        y = R.scatter_elements(x, i, u, axis=0, reduction="mean")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [6.0]
given = vm["main"](tensor([3]), tensor([0, 0], "int64"), tensor([6, 9])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
