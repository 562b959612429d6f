"""`FuseTransposeMatmul` fails on a transposed factor that the program also uses elsewhere."""

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
    def main(x: R.Tensor((1, 1), "float32"), w: R.Tensor((1, 1), "float32")):
        with R.dataflow():
            t = R.permute_dims(w)
            p = R.matmul(x, t)
            y = R.add(p, t)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[9.0]]
try:
    module = relax.transform.FuseTransposeMatmul()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[2]]), tensor([[3]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
