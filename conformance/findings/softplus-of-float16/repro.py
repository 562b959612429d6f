"""`R.nn.softplus` of float16 is infinite between 11.1 and the threshold."""

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
    def main(x: R.Tensor((1,), "float16")):
        y = R.nn.softplus(x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [12.0]
given = vm["main"](tensor([12], "float16")).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
