"""`R.vision.multibox_transform_loc` gives infinite corners of a box that float32 holds."""

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
    def main(c: R.Tensor((1, 2, 1), "float32"), x: R.Tensor((1, 4), "float32"), a: R.Tensor((1, 1, 4), "float32")):
        y = R.vision.multibox_transform_loc(c, x, a)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
boxes = vm["main"](tensor([[[0], [0]]]), tensor([[0, 0, 0, 89]]), tensor([[[0, 0, 1, 2**-10]]]))[0].numpy()
expected = True
given = bool(np.isfinite(boxes).all())
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
