"""`DecomposeOpsForInference` lowers `R.tensor_to_shape` of a symbolic length to a shape of rank 0."""

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
    def main(x: R.Tensor(("n",), "int64")):
        y = R.tensor_to_shape(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.DecomposeOpsForInference()(module)
expected = [2]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = list(map(int, vm["main"](tensor([2], "int64"))))
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
