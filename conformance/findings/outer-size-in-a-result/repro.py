"""The constructor of `relax::Function` erases outer shape variables from a local function's return annotation."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()

        @R.function
        def g(y: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor((n,), "float32"):
            w = R.match_cast(y, R.Tensor((n,), "float32"))
            return w

        a = g(z)
        return a
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T}, check_well_formed=False)
result = module["main"].body.body
expected = 'R.Tensor((n,), dtype="float32")'
given = str(result.struct_info if hasattr(result, "struct_info") else result.ty)
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
