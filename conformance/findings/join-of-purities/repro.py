"""`TypeLCA` takes the purity of its first operand, so an impure call is removed as dead code."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def quiet(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x

    @R.function(private=True, pure=False)
    def loud(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        u = R.call_packed("finding.log", x, sinfo_args=R.Tensor((2,), "float32"))
        return x

    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        if c:
            f = cls.quiet
        else:
            f = cls.loud
        y = f(x)
        return x
"""

if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")
tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
log = []
tvm.register_global_func("finding.log", lambda x: log.append("logged") or x)
module = relax.transform.DeadCodeElimination(["main"])(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
vm["main"](tensor(False, "bool"), tensor([1, 2]))
expected = ["logged"]
given = log
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
