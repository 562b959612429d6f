"""`R.dynamic_strided_slice` fails at run time if `begin` lies behind `end`."""

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
    def main(x: R.Tensor((4,), "float32"), b: R.Tensor((1,), "int64"), e: R.Tensor((1,), "int64"), s: R.Tensor((1,), "int64")):
        y = R.dynamic_strided_slice(x, b, e, s)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = []
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2, 3, 4]), *(tensor([bound], "int64") for bound in (3, 1, 1))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
