"""`R.grad.max_pool2d_backward` sends the gradient of a window with NaN to another element."""

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
    def main(g: R.Tensor((1, 1, 1, 1), "float32"), x: R.Tensor((1, 1, 2, 2), "float32")):
        y = R.grad.max_pool2d_backward(g, x, pool_size=(2, 2))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [0.0, 5.0, 0.0, 0.0]
given = vm["main"](tensor([[[[5]]]]), tensor([[[[1, np.nan], [3, 4]]]])).numpy().ravel().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
