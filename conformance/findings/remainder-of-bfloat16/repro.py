"""`BF16ComputeLegalize` does not handle `Mod`, so `R.mod` of bfloat16 computes on bit patterns or fails to build."""

import sys

import ml_dtypes
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "bfloat16"), y: R.Tensor((2,), "bfloat16")):
        z = R.mod(x, y)
        return z
"""

tensor = lambda values: tvm.runtime.tensor(np.array(values, ml_dtypes.bfloat16))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 3.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([5, 7]), tensor([4, 4])).numpy().astype("float32").tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
