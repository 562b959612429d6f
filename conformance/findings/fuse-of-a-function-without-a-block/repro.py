"""`FuseOps` puts a `PrimFunc` without a block into a group, and `FuseTIR` refuses it."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

OUT = "out_sinfo" if hasattr(relax, "TensorStructInfo") else "out_ty"
PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def first(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(1),), "float32")):
        y[T.int64(0)] = x[T.int64(0)]
    @T.prim_func(private=True)
    def twice(y: T.Buffer((T.int64(1),), "float32"), z: T.Buffer((T.int64(1),), "float32")):
        z[T.int64(0)] = y[T.int64(0)] + y[T.int64(0)]
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.first, (x,), out_sinfo=R.Tensor((1,), "float32"))
            z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((1,), "float32"))
            R.output(z)
        return z
"""

module = tvm.script.from_source(PROGRAM.replace("out_sinfo", OUT), {"I": I, "R": R, "T": T})
expected = "accepted"
try:
    for name in ("AnnotateTIROpPattern", "FuseOps", "FuseTIR"):
        module = getattr(relax.transform, name)()(module)
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
