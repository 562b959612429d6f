"""`R.nn.conv2d_transpose` of an axis without elements fails to build with a stride above 1."""

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
    def main(x: R.Tensor((1, 1, 1, 0), "float32"), w: R.Tensor((1, 1, 1, 4), "float32")):
        y = R.nn.conv2d_transpose(x, w, strides=[1, 3])
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[[0.0]]]]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor(np.zeros((1, 1, 1, 0))), tensor(np.ones((1, 1, 1, 4)))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
