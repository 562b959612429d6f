"""`R.topk` returns uninitialized elements when a symbolic axis has fewer than `k`."""

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
    def main(x: R.Tensor(("n",), "float32")):
        y = R.topk(x, k=5, axis=0, ret_type="values")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = (3,)
given = tuple(vm["main"](tensor([1, 2, 3])).numpy().shape)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
