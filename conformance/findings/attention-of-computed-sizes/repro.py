"""`topi.nn.batch_matmul` rejects a size such as `n - 1`, so `R.nn.attention` fails to build."""

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
    def main(q: R.Tensor((1, "n", 1, "n - 1"), "float32"), k: R.Tensor((1, 2, 1, "m"), "float32"), v: R.Tensor((1, 2, 1, 1), "float32")):
        y = R.nn.attention(q, k, v)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[[[3.0]], [[3.0]]]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([[[[1]], [[1]]]]), tensor([[[[1]], [[1]]]]), tensor([[[[3]], [[3]]]])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
