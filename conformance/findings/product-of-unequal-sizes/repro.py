"""`LegalizeOps` adds no run-time check for sizes that inference cannot compare, so `R.matmul` computes a value."""

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
    def main(x: R.Tensor((1, "n"), "float32"), y: R.Tensor(("m", 1), "float32")):
        z = R.matmul(x, y)
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "an error"
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 2]]), tensor([[1], [2], [3]])).numpy().tolist()
except Exception as error:
    print(error)
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
