"""`R.nn.attention` with a causal mask takes the greatest score of the masked places too: very negative scores give NaN."""

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
    def main(q: R.Tensor((1, 2, 1, 1), "float32"), k: R.Tensor((1, 2, 1, 1), "float32"), v: R.Tensor((1, 2, 1, 1), "float32")):
        y = R.nn.attention(q, k, v, causal_mask="TopLeft")
        return y
"""

tensor = lambda *values: tvm.runtime.tensor(np.array(values, "float32").reshape(1, 2, 1, 1))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [3, 3]
given = vm["main"](tensor(200, 0), tensor(-1, -1), tensor(3, 3)).numpy().ravel().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
