"""The TVMScript parser drops the call `b()` in `(a(), b())[0]`."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Object:
        y = (R.call_packed("finding.log", x, sinfo_args=R.Object), R.call_packed("finding.log", x, sinfo_args=R.Object))[0]
        return y
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
log = []
tvm.register_global_func("finding.log", lambda x: log.append("logged") or x)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
vm["main"](tensor([1, 2]))
expected = ["logged", "logged"]
given = log
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
