"""`CodeGenCHost` emits invalid C for `tvm_stack_alloca`, as in `R.vision.all_class_non_max_suppression`."""

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
    def main(b: R.Tensor((1, 2, 4), "float32"), s: R.Tensor((1, 1, 2), "float32"), m: R.Tensor((), "int64"), i: R.Tensor((), "float32"), h: R.Tensor((), "float32")):
        y = R.vision.all_class_non_max_suppression(b, s, m, i, h)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [1]
try:
    vm = relax.VirtualMachine(relax.build(module, "c"), tvm.cpu())
    given = vm["main"](tensor([[[0, 0, 1, 1], [0, 0, 1, 1]]]), tensor([[[0.5, 0.4]]]), tensor(1, "int64"), tensor(0.5), tensor(0))[1].numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
