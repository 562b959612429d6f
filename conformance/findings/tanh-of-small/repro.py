"""`R.tanh` of small inputs returns 0, because its lowering subtracts nearly equal exponentials."""

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
    def main(x: R.Tensor((1,), "float32")):
        y = R.tanh(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = np.tanh(np.array([1e-8], "float32")).tolist()
given = vm["main"](tensor([1e-8])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
