"""`R.not_equal` of NaN and NaN is False, because LLVM code generation uses an ordered comparison."""

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
        y = R.not_equal(x, x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [True, False]
given = vm["main"](tensor([np.nan, 1])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
