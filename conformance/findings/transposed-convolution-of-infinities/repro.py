"""`R.nn.conv1d_transpose` of infinite weights returns NaN, because its lowering multiplies them by zeros that it inserts."""

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
    def main(x: R.Tensor((1, 1, 1), "float32"), w: R.Tensor((1, 1, 2), "float32")):
        y = R.nn.conv1d_transpose(x, w)
        return y
"""

tensor = lambda values: tvm.runtime.tensor(np.array(values, "float32"))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
expected = [[[float("inf"), 2.0]]]
given = vm["main"](tensor([[[1]]]), tensor([[[float("inf"), 2]]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
