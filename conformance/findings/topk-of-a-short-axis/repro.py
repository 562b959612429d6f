"""`DispatchSortScan` makes `R.topk` give `k` elements where a constant axis has fewer."""

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
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.topk(x, k=4, axis=0, ret_type="values")
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = (3,)
given = tuple(vm["main"](tvm.runtime.tensor(np.array([1, 2, 3], "float32"))).numpy().shape)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
