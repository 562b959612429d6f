"""`R.broadcast_to` reads out of bounds when a symbolic axis has size 1 at run time."""

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
    def main(x: R.Tensor((2, "n"), "float32")):
        y = R.broadcast_to(x, R.shape([2, 3]))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[3.0, 3.0, 3.0], [5.0, 5.0, 5.0]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[3], [5]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
