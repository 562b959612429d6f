"""`R.max` over an empty axis is accepted and returns uninitialized memory."""

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
        y = R.max(x, axis=0)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
expected = "rejected"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor(np.zeros((0, 2)))).numpy().tolist()
except Exception:
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
