"""Inference of `R.meshgrid` ignores `indexing="xy"`."""

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
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32")):
        z = R.meshgrid((x, y), indexing="xy")
        return z[0]
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [(3, 2), (3, 2)]
shape = relax.get_shape_of(module["main"].body.body)
given = [tuple(int(size) for size in shape), vm["main"](tensor([1, 2]), tensor([1, 2, 3])).numpy().shape]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
