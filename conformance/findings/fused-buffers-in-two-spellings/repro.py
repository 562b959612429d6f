"""`FuseTIR` cannot fuse a `PrimFunc` with a symbolic buffer shape and one with a constant shape."""

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
    def twice(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                B[v] = A[v] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        with R.dataflow():
            y = R.add(x, x)
            z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((2,), "float32"))
            R.output(z)
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM if tvm.__version__ < "0.26" else PROGRAM.replace("out_sinfo", "out_ty"), {"I": I, "R": R, "T": T})
expected = [4.0, 8.0]
try:
    vm = relax.VirtualMachine(relax.build(relax.get_pipeline("zero")(module), "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
