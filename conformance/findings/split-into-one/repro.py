"""Inference of `R.split` into one part gives a tensor instead of a tuple."""

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
    def main(x: R.Tensor((5,), "float32")):
        z = R.split(x, 1)
        return z[0]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
expected = 5
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2, 3, 4, 5])).numpy().size
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
