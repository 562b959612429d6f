"""`R.slice_scatter` along a symbolic axis fails to build, because `topi.slice_scatter` needs a constant size."""

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
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((1,), "float32")):
        z = R.slice_scatter(x, y, R.prim_value(1), R.prim_value(2), R.prim_value(1), axis=0)
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 9.0, 3.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2, 3]), tensor([9])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
