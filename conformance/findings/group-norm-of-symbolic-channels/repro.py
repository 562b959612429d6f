"""`R.nn.group_norm` fails to build when the number of channels is an expression such as `c * 3 + 1`."""

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
    def main(s: R.Shape(["c"]), x: R.Tensor((2, "c * 3 + 1"), "float32"), g: R.Tensor(("c * 3 + 1",), "float32"), b: R.Tensor(("c * 3 + 1",), "float32")):
        y = R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[])
        return y
"""

tensor = lambda values: tvm.runtime.tensor(np.array(values, "float32"))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    args = tensor([[1, 1, 2, 2], [3, 3, 4, 4]]), tensor([1, 1, 1, 1]), tensor([0.5, 0.5, 0.5, 0.5])
    given = vm["main"](tvm.runtime.ShapeTuple([1]), *args).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
