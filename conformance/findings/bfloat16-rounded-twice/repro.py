"""`BF16ComputeLegalize` converts float64 to bfloat16 by way of float32, which rounds twice."""

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
    def main(x: R.Tensor((1,), "float64")):
        z = R.astype(x, "bfloat16")
        y = R.astype(z, "float32")
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1.0078125]
given = vm["main"](tensor([1 + 2**-8 + 2**-40], "float64")).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
