"""The legalization of `R.nn.instance_norm` ignores `center` and `scale`."""

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
    def main(x: R.Tensor((1, 1, 2), "float32"), g: R.Tensor((1,), "float32"), b: R.Tensor((1,), "float32")):
        y = R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2], epsilon=0.0, center=False)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[-1.0, 1.0]]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[1, 3]]]), tensor([1]), tensor([5])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
