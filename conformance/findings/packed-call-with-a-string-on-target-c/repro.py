"""`CodeGenCHost` emits invalid C for a packed call with a string argument."""

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
    def main(x: R.Tensor((3,), "float32")):
        y = R.topk(x, k=2, axis=0, ret_type="indices", dtype="int32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1, 0]
try:
    vm = relax.VirtualMachine(relax.build(module, "c"), tvm.cpu())
    given = vm["main"](tensor([1, 2, 0])).numpy().tolist()
except Exception as refusal:
    given = "refused, " + next((line for line in str(refusal).splitlines() if "error: " in line), str(refusal))
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
