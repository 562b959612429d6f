"""The printer writes an infinite constant as a string, which the parser refuses."""

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
    def main(x: R.Tensor((), "float32")):
        y = R.minimum(x, R.const(float("-inf"), "float32"))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = float("-inf")
try:
    module = tvm.script.from_source(module.script())
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor(1)).numpy().item()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
