"""`R.nn.conv2d` with a blocked layout such as `NCHW2c` is not legalized."""

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
    def main(x: R.Tensor((1, 1, 1, 1, 2), "float32"), w: R.Tensor((1, 1, 1, 1, 2, 2), "float32")):
        y = R.nn.conv2d(x, w, data_layout="NCHW2c", kernel_layout="OIHW2i2o")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [4.0, 6.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[[[1, 1]]]]]), tensor([[[[[[1, 2], [3, 4]]]]]])).numpy().ravel().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
