"""Conversions to float8 move mantissa bits only, which is wrong for subnormal and out-of-range values."""

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
        z = R.astype(x, "float8_e4m3fn")
        y = R.astype(z, "float32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [256.0, 0.00390625]
given = vm["main"](tensor([256, 2**-8])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
