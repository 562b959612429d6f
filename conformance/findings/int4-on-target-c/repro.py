"""`CodeGenC` has no type for int4, so `R.astype` to int4 fails to build."""

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
    def main(x: R.Tensor((2,), "int8")):
        y = R.astype(x, "int4")
        z = R.astype(y, "int8")
        return z
"""

tensor = lambda values, dtype="int8": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1, -7]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "c"), tvm.cpu())
    given = vm["main"](tensor([1, 9])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
