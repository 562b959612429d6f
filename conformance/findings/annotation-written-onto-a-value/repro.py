"""The parser overwrites an operator's inferred shape with its variable's weaker annotation; the call is not lowered."""

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
    def main(x: R.Tensor((2,), "float32")) -> R.Object:
        y: R.Tensor(ndim=1, dtype="float32") = R.exp(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 1.0]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([0, 0])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
