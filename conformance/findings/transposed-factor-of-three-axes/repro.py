"""`FuseTransposeMatmul` fails on a factor with three axes that `permute_dims` reverses without `axes`."""

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
    def main(x: R.Tensor((1, 1, 2), "float32"), w: R.Tensor((1, 2, 1), "float32")):
        with R.dataflow():
            t = R.permute_dims(w)
            y = R.matmul(x, t)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[31.0]]]
try:
    module = relax.transform.FuseTransposeMatmul()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[2, 3]]]), tensor([[[5], [7]]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
