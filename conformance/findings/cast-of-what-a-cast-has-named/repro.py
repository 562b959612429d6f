"""`KillAfterLastUse` removes a `match_cast` whose shape variable a later `match_cast` needs."""

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
    def main(x: R.Tensor((2,), "float32")):
        n = T.int64()
        k = T.int64()
        a = R.match_cast(x, R.Tensor((n,), "float32"))
        b = R.concat((a, a))
        c = R.match_cast(b, R.Tensor((k,), "float32"))
        return c
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = [1.0, 2.0, 1.0, 2.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
