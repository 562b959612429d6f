"""`exec_mode="compiled"` gives a tensor computed after one of symbolic size a nonzero offset, and the run fails."""

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
    def main(x: R.Tensor(("n",), "float32"), g: R.Tensor((1, 1, 2, 2), "float32"), y: R.Tensor((1, 1, 4, 5), "float32")):
        a = R.add(x, x)
        b = R.grad.max_pool2d_backward(g, y, pool_size=[2, 2], strides=[2, 2])
        return (b, a)
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[0.0] * 5, [0.0, 1.0, 0.0, 2.0, 0.0], [0.0] * 5, [0.0, 3.0, 0.0, 4.0, 0.0]]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm", exec_mode="compiled"), tvm.cpu())
    given, _ = vm["main"](tensor([1, 2]), tensor([[[[1, 2], [3, 4]]]]), tensor(np.arange(20).reshape(1, 1, 4, 5)))
    given = given.numpy()[0, 0].tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
