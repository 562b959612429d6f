"""`R.mean` of more than 65504 elements of float16 is not legalized."""

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
    def main(x: R.Tensor((1,), "float16")):
        b = R.broadcast_to(x, (65505,))
        y = R.mean(b)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = 0.5
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([0.5], "float16")).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
