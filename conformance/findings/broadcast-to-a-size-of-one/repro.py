"""`R.broadcast_to` from a symbolic size to size 1 fails to build."""

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
        y = R.broadcast_to(x, R.shape([1]))
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [5.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tvm.runtime.tensor(np.array([5], "float32"))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
