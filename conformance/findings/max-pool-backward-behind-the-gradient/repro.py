"""`R.grad.max_pool2d_backward` adds what lies in memory behind the gradient."""

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
memory = np.full(64, 100, "float32")
start = -memory.ctypes.data % 64 // 4  # tensors begin at multiples of 64 bytes
gradient = memory[start : start + 1].reshape(1, 1, 1, 1)
gradient[...] = 5
expected = [0.0, 0.0, 0.0, 5.0]
given = vm["main"](tvm.runtime.from_dlpack(gradient), tensor([[[[1, 2], [3, 4]]]])).numpy().ravel().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
