"""`CanonicalizeBindings` replaces a size in the result of `call_tir_inplace` but not in its argument."""

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
    @T.prim_func(private=True, s_tir=True)
    def increment(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] + T.float32(1)

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        z = R.match_cast(x, R.Tensor((n,), "float32"))
        u = R.subtract(y, y)
        w = R.call_tir_inplace(cls.increment, (u,), inplace_indices=[0], out_sinfo=R.Tensor((n,), "float32"))
        return w
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM if tvm.__version__ < "0.26" else PROGRAM.replace("out_sinfo", "out_ty"), {"I": I, "R": R, "T": T})
expected = [1.0, 1.0]
try:
    module = relax.transform.CanonicalizeBindings()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2]), tensor([3, 4])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
