"""`LambdaLift` rebinds a shape variable of the enclosing function, which drops a run-time check."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(ndim=1, dtype="float32")) -> R.Object:
        n = T.int64()
        @R.function
        def g(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return y
        w = g(z)
        return w
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = "an error of the run"
module = relax.transform.LambdaLift()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
try:
    given = vm["main"](tensor([1, 2]), tensor([1, 2, 3])).numpy().tolist()
except Exception:
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
