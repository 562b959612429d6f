"""`R.grad.avg_pool2d_backward` with `ceil_mode` and `count_include_pad` divides by places beyond the padding."""

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
    def main(g: R.Tensor((1, 1, 1, 2), "float32"), x: R.Tensor((1, 1, 1, 3), "float32")):
        y = R.grad.avg_pool2d_backward(g, x, pool_size=(1, 2), strides=(1, 2), ceil_mode=True, count_include_pad=True)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1.0, 1.0, 4.0]
given = vm["main"](tensor([[[[2, 4]]]]), tensor([[[[0, 0, 0]]]])).numpy().ravel().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
