"""`exec_mode="compiled"` does not build a tuple that holds `R.null_value()`."""

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
    def main(x: R.Tensor((2,), "float32")):
        n = R.null_value()
        t = (x, n)
        return t
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 2.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm", exec_mode="compiled"), tvm.cpu())
    given = vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32")))[0].numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
