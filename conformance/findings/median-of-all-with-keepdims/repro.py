"""The legalization of `R.median` does not restore the rank for `keepdims=True` without an axis."""

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
    def main(x: R.Tensor((1, 3), "float32")):
        y = R.median(x, keepdims=True)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[2.0]]
given = vm["main"](tensor([[3, 1, 2]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
