"""`R.nn.rms_norm` over all axes of the data is not legalized."""

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
    def main(x: R.Tensor((2,), "float32"), g: R.Tensor((2,), "float32")):
        y = R.nn.rms_norm(x, g, axes=[0], epsilon=0.0)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [2.0, -3.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, -1]), tensor([2, 3])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
