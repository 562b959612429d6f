"""`AdjustMatmulOrder` takes every `permute_dims` of a product for a transposition of the matrix."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((1, 2), "int32"), b: R.Tensor((2, 2), "int32"), c: R.Tensor((2, 2), "int32")):
        with R.dataflow():
            bc = R.matmul(b, c)
            p = R.permute_dims(bc, axes=[0, 1])
            y = R.matmul(a, p)
            R.output(y)
        return y
"""

tensor = lambda values: tvm.runtime.tensor(np.array(values, "int32"))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[19, 22]]
try:
    module = relax.transform.AdjustMatmulOrder()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 0]]), tensor([[1, 2], [3, 4]]), tensor([[5, 6], [7, 8]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
