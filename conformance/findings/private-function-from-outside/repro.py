"""The VM lets callers invoke a private function by its name."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        cls = Module
        y = cls.helper(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = "an error"
try:
    given = float(vm["helper"](tensor(1)).numpy())
except Exception:
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
