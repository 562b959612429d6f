"""`vm.builtin.match_shape` writes out of bounds when a slot lies beyond its shape heap."""

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
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Object:
        h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), sinfo_args=(R.Object,))
        u = R.call_packed("vm.builtin.match_shape", x, h, R.prim_value(1), R.prim_value(1), R.prim_value(100000000), R.str("main"), sinfo_args=(R.Object,))
        return x
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
if not tvm.__version__.startswith("0.25"):  # structural information has been called type since
    PROGRAM = PROGRAM.replace("sinfo", "ty")


def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    try:
        vm["main"](tensor([1, 2]))
    except Exception as error:
        print(error)


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
