"""`VMShapeLower` keeps the value that a shape variable had in a branch when a later `match_cast` binds it again."""

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
    def main(c: R.Tensor((), "bool"), x: R.Tensor(ndim=1, dtype="float32"), y: R.Tensor(ndim=1, dtype="float32")) -> R.Object:
        n = T.int64()
        if c:
            a = R.match_cast(x, R.Tensor((n,), "float32"))
            r = R.shape([n])
        else:
            r = R.shape([0])
        b = R.match_cast(y, R.Tensor((n,), "float32"))
        return (r, R.shape([n]))
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[2], [3]]
try:
    given = [list(shape) for shape in vm["main"](tensor(True, "bool"), tensor([1, 2]), tensor([1, 2, 3]))]
except Exception as error:
    given = str(error).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
