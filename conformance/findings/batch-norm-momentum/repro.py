"""`R.nn.batch_norm` applies `momentum` to the batch statistics instead of the running statistics."""

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
    def main(x: R.Tensor((2, 1), "float32"), g: R.Tensor((1,), "float32"), b: R.Tensor((1,), "float32"), m: R.Tensor((1,), "float32"), v: R.Tensor((1,), "float32")):
        y = R.nn.batch_norm(x, g, b, m, v, axis=1, momentum=0.25, training=True)
        return y[1]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [4.0]
given = vm["main"](*map(tensor, ([[1], [3]], [1], [0], [10], [10]))).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
