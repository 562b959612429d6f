"""`R.vision.all_class_non_max_suppression` suppresses a box whose overlap equals the threshold."""

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
    def main(b: R.Tensor((1, 2, 4), "float32"), s: R.Tensor((1, 1, 2), "float32")):
        y = R.vision.all_class_non_max_suppression(b, s, R.const(5, "int64"), R.const(0.5, "float32"), R.const(0.1, "float32"))
        return y[1]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [2]
given = vm["main"](tensor([[[0, 0, 1, 2], [0, 0, 1, 1]]]), tensor([[[0.9, 0.8]]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
