"""`R.vision.all_class_non_max_suppression` of float64 scores fails to build with `output_format="tensorflow"`."""

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
    def main(boxes: R.Tensor((1, 2, 4), "float64"), scores: R.Tensor((1, 1, 2), "float64"), least: R.Tensor((), "float32")):
        limit = R.const(2, "int64")
        y = R.vision.all_class_non_max_suppression(boxes, scores, limit, least, least, output_format="tensorflow")
        z = y[1]
        return z
"""

tensor = lambda values, dtype="float64": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "float64 [[0.75, 0.5]]"
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    boxes = tensor([[[0, 0, 1, 1], [5, 5, 6, 6]]])
    result = vm["main"](boxes, tensor([[[0.75, 0.5]]]), tensor(0.25, "float32"))
    given = f"{result.dtype} {result.numpy().tolist()}"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
