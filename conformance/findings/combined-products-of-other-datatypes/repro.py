"""`CombineParallelMatmul` combines `matmul` calls with different `out_dtype`, and fails."""

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
    def main(x: R.Tensor((1, 2), "float32"), w: R.Tensor((2, 1), "float32"), v: R.Tensor((2, 1), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.matmul(x, v, out_dtype="float64")
            y = R.add(R.astype(a, "float64"), b)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[14.0]]
try:
    module = relax.transform.CombineParallelMatmul()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 2]]), tensor([[1], [2]]), tensor([[3], [3]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
