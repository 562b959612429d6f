"""`ComputePrimValue` replaces constant float arguments by variables, so `R.hamming_window` cannot be legalized."""

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
    def main():
        y = R.hamming_window(R.prim_value(2), R.prim_value(True), R.prim_value(T.float64(0.5)), R.prim_value(T.float64(0.5)), dtype="float32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = [0.0, 1.0]
try:
    module = relax.transform.ComputePrimValue()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"]().numpy().round(6).tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
