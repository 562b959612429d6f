"""`FuseTIR` refuses a function that `FuseOps` makes of a projection alone."""

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
    def main(t: R.Tuple(R.Tensor((2,), "float32"), R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2,), "float32")))):
        with R.dataflow():
            u = t[1]
            m = u[0]
            k = R.sum(m, axis=[1])
            R.output(k)
        return k
"""

tensor = lambda values: tvm.runtime.tensor(np.array(values, "float32"))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [6.0, 15.0]
try:
    module = relax.get_pipeline("zero")(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"]((tensor([0, 0]), (tensor([[1, 2, 3], [4, 5, 6]]), tensor([0, 0])))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
