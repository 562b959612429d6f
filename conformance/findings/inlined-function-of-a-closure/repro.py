"""`InlinePrivateFunctions` removes a lifted function that `make_closure` still names."""

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
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.subtract(a, x)
        y = R.add(x, x)
        z = inner(y)
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 2.0]
module = relax.transform.LambdaLift()(module)
module = relax.transform.InlinePrivateFunctions()(module)
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
