"""`StaticPlanBlockMemory` reuses, after an `If`, storage that only one of its branches allocates."""

import multiprocessing
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
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            a = R.add(x, x)
            r = R.multiply(a, a)
        else:
            r = x
        y = R.add(r, r)
        return R.multiply(y, y)
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))


def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    vm["main"](tensor(False, "bool"), tensor([1, 2]))


child = multiprocessing.get_context("fork").Process(target=ask)
child.start()
child.join(60)
hung = child.exitcode is None
if hung:
    child.kill()
given = "no answer" if hung else f"signal {-child.exitcode}" if child.exitcode < 0 else "an end of the process"
print("expected: an end of the process")
print("given:   ", given)
sys.exit(given == "an end of the process")
