"""Inference of `R.broadcast_to` rejects the size `n` for the target `n + 1`, though `n` may be 1."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.broadcast_to(x, R.shape([n + 1]))
        return y
"""

expected = [5.0, 5.0]
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tvm.runtime.tensor(np.array([5], "float32"))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:120]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
