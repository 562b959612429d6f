"""The printer writes `R.builtin.alloc_tensor` with the type of its result, which the parser refuses."""

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
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, x)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
with tvm.target.Target("llvm"):
    module = relax.transform.CallTIRRewrite()(relax.transform.LegalizeOps()(module))
expected = [2.0, 4.0]
try:
    module = tvm.script.from_source(module.script())
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
