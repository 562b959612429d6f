"""`vm.builtin.alloc_tensor` dereferences a null pointer when its storage has been killed."""

import multiprocessing
import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main() -> R.Object:
        s = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), "global", "float32")
        u = R.memory.kill_storage(s)
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([2]), "float32", R.prim_value(0))
        return a
"""

def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    try:
        vm["main"]()
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
