"""`well_formed` accepts a vector as the condition of an `If`, and the VM tests its first element."""

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
    def main(c: R.Tensor((2,), "bool")):
        if c:
            y = R.const(1, "int32")
        else:
            y = R.const(2, "int32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
expected = "an error"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = int(vm["main"](tensor([True, False], "bool")).numpy())
except Exception:
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
