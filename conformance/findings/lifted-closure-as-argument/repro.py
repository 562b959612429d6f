"""`LambdaLift` fails on a closure passed as an argument, because `R.make_closure` is inferred as `R.Object`."""

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
        def f(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, y)
        @R.function
        def g(h: R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"), True), z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return h(z)
        w = g(f, x)
        return w
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [2.0, 4.0]
try:
    module = relax.transform.LambdaLift()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
