"""`CodeGenVM` keeps no register for a call that returns the empty tuple, so its caller cannot return it."""

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
    def helper() -> R.Tuple:
        return R.tuple()

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = Module.helper()
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = 0
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = len(vm["main"](tensor([1, 2])) or [])
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
