"""`StaticPlanBlockMemory` fails on a tensor of a size it cannot plan that only a branch uses."""

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
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3, "n"), "float32")):
        a = R.nn.pad(x, pad_width=[1, 1, 0, 2])
        if c:
            r = x
        else:
            b = R.subtract(a, a)
            r = x
        return r
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[1.0, 1.0]] * 3
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor(True, "bool"), tensor(np.ones((3, 2)))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
