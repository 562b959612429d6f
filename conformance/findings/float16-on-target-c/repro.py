"""`CodeGenC` emits the type `half` for float16, which is not C."""

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
        y = R.add(x, x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [2.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "c"), tvm.cpu())
    given = vm["main"](tensor([1], "float16")).numpy().tolist()
except Exception as refusal:
    given = next((line for line in str(refusal).splitlines() if " error: " in line), str(refusal))
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
