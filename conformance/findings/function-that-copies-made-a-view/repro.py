"""`RewriteDataflowReshape` makes a view of a copying `PrimFunc`, so an in-place write changes its input."""

import sys

import numpy as np
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
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        with R.dataflow():
            y = R.add(x, R.const(0, "float32"))
            z = R.call_tir_inplace(cls.increase, (y,), inplace_indices=[0], out_sinfo=R.Tensor((2,), "float32"))
            R.output(z)
        return (x, z)
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[1.0, 2.0], [2.0, 3.0]]
given = [field.numpy().tolist() for field in vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32")))]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
