"""`Gradient` fails on `R.nn.conv2d` with a dilation."""

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
    def main(x: R.Tensor((1, 1, 1, 3), "float32"), w: R.Tensor((1, 1, 1, 2), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, w, dilation=[1, 2])
            y = R.sum(c)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [5.0, 0.0, 7.0], [1.0, 3.0]
try:
    module = relax.transform.Gradient("main")(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    gradients = vm["main_adjoint"](tensor([[[[1, 2, 3]]]]), tensor([[[[5, 7]]]]))[1]
    given = tuple(gradient.numpy().ravel().tolist() for gradient in gradients)
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
