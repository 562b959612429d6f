"""`CodeGenC` emits invalid C for a buffer size that contains a maximum, as in `R.nn.attention`."""

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
    def main(q: R.Tensor((1, 1, "n", 4), "float32"), k: R.Tensor((1, 2, 2, 4), "float32"), v: R.Tensor((1, 2, 2, 4), "float32")):
        y = R.nn.attention(q, k, v)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = np.full((1, 1, 2, 4), 3.0).tolist()
try:
    vm = relax.VirtualMachine(relax.build(module, "c"), tvm.cpu())
    given = vm["main"](tensor(np.ones((1, 1, 2, 4))), tensor(np.ones((1, 2, 2, 4))), tensor(np.full((1, 2, 2, 4), 3))).numpy().tolist()
except Exception as refusal:
    given = "refused, " + next((line for line in str(refusal).splitlines() if "error: " in line), str(refusal))
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
