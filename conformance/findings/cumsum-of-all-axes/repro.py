"""Inference of `R.cumsum` without an axis keeps the rank of an input of unknown shape instead of flattening it."""

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
    def main(x: R.Tensor("float32", ndim=2)):
        z = R.cumsum(x)
        y = R.match_cast(z, R.Tensor((4,), "float32"))
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
expected = [1.0, 3.0, 6.0, 10.0]
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 2], [3, 4]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
