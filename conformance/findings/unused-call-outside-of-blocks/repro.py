"""`DeadCodeElimination` removes an unused call outside of DataflowBlocks, and with it the error of the call."""

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
    @T.prim_func(private=True)
    def copy(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((2,), "float32"))
        return x
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
module = relax.transform.DeadCodeElimination()(tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T}))
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
expected = "an error"
try:
    given = str(vm["main"](tvm.runtime.tensor(np.array([1, 2, 3], "float32"))).numpy().tolist())
except Exception:
    given = "an error"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
