"""`RemoveUnusedParameters` removes a parameter of a private function, and with it the check that a call has to pass."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def one(x: R.Tensor((2,), "float32")) -> R.Tensor((), "float32"):
        return R.const(1, "float32")

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        cls = Module
        y = cls.one(x)
        return y
"""

module = relax.transform.RemoveUnusedParameters()(tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T}))
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
expected = "an error"
try:
    given = str(vm["main"](tvm.runtime.tensor(np.array([1, 2, 3], "float32"))).numpy().tolist())
except Exception:
    given = "an error"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
