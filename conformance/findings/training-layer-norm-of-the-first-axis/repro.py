"""`DecomposeOpsForTraining` multiplies along the last axis in `R.nn.layer_norm` of another axis."""

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
    def main(x: R.Tensor((2, 2), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")):
        with R.dataflow():
            y = R.nn.layer_norm(x, g, b, axes=[0], epsilon=0.0)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.DecomposeOpsForTraining()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[1.0, 1.0], [-2.0, -2.0]]
given = vm["main"](tensor([[1, 1], [-1, -1]]), tensor([1, 2]), tensor([0, 0])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
