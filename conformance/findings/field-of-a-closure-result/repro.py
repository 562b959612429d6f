"""`LowerRuntimeBuiltin` loses the tuple type of a closure's result, so projecting it fails to build."""

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
        def f(y: R.Tensor((2,), "float32")) -> R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32")):
            return (x, y)
        r = f(x)
        a = r[0]
        return a
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1.0, 2.0]
try:
    module = relax.transform.LambdaLift()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32"))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
