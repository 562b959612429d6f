"""`StaticPlanBlockMemory` reuses the storage of an argument that a packed function returned."""

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
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        a = R.multiply(x, x)
        b = R.call_pure_packed("relax_spec.alias", a, sinfo_args=R.Tensor((2,), "float32"))
        c = R.exp(y)
        d = R.sum(c)
        return (b, d)
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
tvm.register_global_func("relax_spec.alias", lambda value: value)
tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [9.0, 16.0]
try:
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([3, 4]), tensor([0, 0]))[0].numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
