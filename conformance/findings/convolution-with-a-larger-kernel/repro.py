"""`R.nn.conv2d` fails to build when the kernel exceeds the data and the result is empty."""

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
    def main(x: R.Tensor((1, 1, 1, 1), "float32"), w: R.Tensor((1, 1, 2, 2), "float32")):
        y = R.nn.conv2d(x, w)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1, 1, 0, 0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = list(vm["main"](tensor([[[[1]]]]), tensor([[[[1, 1], [1, 1]]]])).numpy().shape)
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
