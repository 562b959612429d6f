"""`CanonicalizeBindings` removes a `match_cast` outside of dataflow blocks that compares with a size bound before."""

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
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor(dtype="float32", ndim=1)):
        m = T.int64()
        a = R.match_cast(y, R.Tensor((m,), "float32"))
        b = R.match_cast(x, R.Tensor((m,), "float32"))
        return b
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = "an error: m is 2, and x has 3 elements"
vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
try:
    given = vm["main"](tensor([1, 2, 3]), tensor([1, 2])).numpy().tolist()
    failed = False
except Exception as error:
    given = str(error).strip().splitlines()[-1]
    failed = True
print("expected:", expected)
print("given:   ", given)
sys.exit(failed)
