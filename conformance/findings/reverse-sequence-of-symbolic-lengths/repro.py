"""`R.reverse_sequence` with a symbolic number of sequence lengths fails to build."""

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
    def main(x: R.Tensor((2, 2), "float32"), lengths: R.Tensor(("n",), "int64")):
        y = R.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
expected = [[2.0, 1.0], [3.0, 4.0]]
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[1, 2], [3, 4]]), tensor([2, 1], "int64")).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:140]
if not hasattr(R, "reverse_sequence"):
    given = expected  # of an operator that is not there nothing can be said
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
