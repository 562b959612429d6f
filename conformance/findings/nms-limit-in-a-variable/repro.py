"""`R.vision.all_class_non_max_suppression` ignores a box limit that is not a constant."""

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
    def main(b: R.Tensor((1, 2, 4), "float32"), s: R.Tensor((1, 1, 2), "float32"), k: R.Tensor((), "int64")):
        y = R.vision.all_class_non_max_suppression(b, s, k, R.const(0.5, "float32"), R.const(0.1, "float32"))
        return y[1]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
boxes, scores = tensor([[[0, 0, 1, 1], [5, 5, 6, 6]]]), tensor([[[0.9, 0.8]]])
expected = [1]
given = vm["main"](boxes, scores, tensor(1, "int64")).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
