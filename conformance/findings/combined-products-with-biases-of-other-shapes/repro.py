"""`CombineParallelMatmul` fails on products whose biases have other shapes."""

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
    def main(x: R.Tensor((2, 1), "float32"), v: R.Tensor((1, 2), "float32"), w: R.Tensor((1, 2), "float32"), a: R.Tensor((1, 2), "float32"), b: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            p = R.matmul(x, v)
            q = R.matmul(x, w)
            r = R.add(p, a)
            s = R.add(q, b)
            y = R.add(r, s)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[12.0, 13.0], [15.0, 16.0]]
try:
    module = relax.transform.CombineParallelMatmul()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](
        tensor([[1], [2]]), tensor([[1, 0]]), tensor([[0, 1]]), tensor([[10, 10]]), tensor([[1, 2], [3, 4]])
    ).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
