"""`R.nn.conv2d_transpose` with groups fails to build for a symbolic number of channels."""

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
    def main(x: R.Tensor((1, "n", 1, 1), "float32"), w: R.Tensor(("n", 1, 1, 1), "float32")):
        y = R.nn.conv2d_transpose(x, w, groups=2)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[[15.0]], [[24.0]]]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[[3]], [[4]]]]), tensor([[[[5]]], [[[6]]]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
