"""`R.einsum` broadcasts symbolic sizes to their maximum, which is wrong for the sizes 1 and 0."""

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
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        y = R.einsum((x, y), subscripts="i,i->i")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = []
given = vm["main"](tensor([1]), tensor([])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
