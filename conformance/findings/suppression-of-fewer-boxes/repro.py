"""Inference of `R.vision.all_class_non_max_suppression` counts every box as selected."""

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
    def main(boxes: R.Tensor((1, 2, 4), "float32"), scores: R.Tensor((1, 1, 2), "float32")):
        limit = R.const(1, "int64")
        y = R.vision.all_class_non_max_suppression(boxes, scores, limit, R.const(0.5, "float32"), R.const(0.0, "float32"))
        z = y[0]
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
z = module["main"].body.body
shape = (z.struct_info if hasattr(z, "struct_info") else z.ty).shape
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = vm["main"](tensor([[[0, 0, 1, 1], [0, 0, 1, 1]]]), tensor([[[0.5, 0.5]]]))
expected = "no size known, and [1, 3]"
given = f"{'no size known' if shape is None else [int(size) for size in shape]}, and {list(result.shape)}"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
