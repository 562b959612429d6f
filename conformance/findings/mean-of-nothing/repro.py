"""Constant folding rejects a float division by 0, so `R.mean` over an empty axis fails to build."""

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
    def main(x: R.Tensor((0, 2), "float32")):
        y = R.mean(x, axis=[0])
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "[nan, nan]"
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = str(vm["main"](tvm.runtime.tensor(np.zeros((0, 2), "float32"))).numpy().tolist())
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
