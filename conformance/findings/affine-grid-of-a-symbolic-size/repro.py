"""`R.image.affine_grid` with a symbolic target size cannot be legalized."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        z = R.image.affine_grid(x, R.shape([n, 2]))
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = 8
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[1, 0, 0], [0, 1, 0]]]), tensor([0, 0])).numpy().size
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
