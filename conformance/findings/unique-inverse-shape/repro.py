"""`R.unique` returns inverse indices in the input's shape, though a vector is inferred."""

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
        y = R.unique(x, True, False, True, False)
        return y[1]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [0, 1, 1, 0]
given = vm["main"](tensor([[1, 2], [2, 1]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
