"""`relax::ExprMutator` weakens the return annotation of a function that it rebuilds, which drops a run-time check."""

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
    def main(x: R.Tensor("float32", ndim=1)) -> R.Tuple(R.Object, R.Tensor((2,), "float32")):
        t = (x, x)
        return t
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "an error of the run"
module = relax.transform.LambdaLift()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
try:
    given = [field.numpy().tolist() for field in vm["main"](tensor([1, 2, 3]))]
except Exception:
    given = expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
