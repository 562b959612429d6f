"""`R.nn.attention_bias` reads out of bounds when a symbolic axis of the bias has size 1 at run time."""

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
    def main(q: R.Tensor((1, 2, 1, 1), "float32"), k: R.Tensor((1, 2, 1, 1), "float32"), v: R.Tensor((1, 2, 1, 1), "float32"), bias: R.Tensor((1, 1, "n", 2), "float32")):
        y = R.nn.attention_bias(q, k, v, bias)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
# One row; what lies behind it in memory is another one.
memory = np.zeros(32, "float32")
start = -memory.ctypes.data % 64 // 4
rows = memory[start : start + 4].reshape(1, 1, 2, 2)
rows[:] = [[-np.inf, 0], [0, -np.inf]]
bias = tvm.runtime.from_dlpack(rows[:, :, :1])
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[[2.0]], [[2.0]]]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[[0]], [[0]]]]), tensor([[[[0]], [[0]]]]), tensor([[[[1]], [[2]]]]), bias).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
