"""An in-place write to a constant changes the VM's constant pool, and so the next run."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

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
    def main():
        cls = Module
        a = R.const([1, 2], "float32")
        b = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_sinfo=R.Tensor((2,), "float32"))
        return b
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[2.0, 3.0], [2.0, 3.0]]
given = [vm["main"]().numpy().tolist() for _ in range(2)]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
