"""`EliminateCommonSubexpr` merges two equal tensors of which one is written in place."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def increase(x: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.sblock("increase"):
                v = T.axis.spatial(2, i)
                x[v] = x[v] + T.float32(1)

    @R.function
    def main() -> R.Object:
        cls = Module
        a = R.zeros((2,), "float32")
        b = R.zeros((2,), "float32")
        c = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_sinfo=R.Tensor((2,), "float32"))
        return (b, c)
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
module = relax.transform.EliminateCommonSubexpr()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [0.0, 0.0]
given = vm["main"]()[0].numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
