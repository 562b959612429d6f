"""`R.clip` rounds an integer bound to float64 before it converts it to the input's data type."""

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
    def main(x: R.Tensor((1,), "float32")):
        y = R.clip(x, 9007199791611905, 9223372036854775807)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [2.0**53 + 2.0**30]
given = vm["main"](tensor([0])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
