"""`R.slice_scatter` reads behind the updates, because it limits the index into them by the size of the data."""

import ctypes
import mmap
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
    def main(x: R.Tensor((2, 64), "int8"), update: R.Tensor((1, 64), "int8")):
        y = R.slice_scatter(x, update, R.prim_value(0), R.prim_value(1), R.prim_value(1), axis=0)
        return y
"""

PAGE = mmap.PAGESIZE


def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    memory = np.frombuffer(mmap.mmap(-1, 2 * PAGE), "int8")
    update = memory[PAGE - 64 : PAGE].reshape(1, 64)
    update[...] = 1
    # Nothing can be read behind the updates.
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(memory.ctypes.data + PAGE), PAGE, 0) == 0
    given = vm["main"](tvm.runtime.tensor(np.zeros((2, 64), "int8")), tvm.runtime.from_dlpack(update)).numpy()
    sys.exit(given[:, 0].tolist() != [1, 0])


child = multiprocessing.get_context("fork").Process(target=ask)
child.start()
child.join(120)
hung = child.exitcode is None
if hung:
    child.kill()
given = "no answer" if hung else f"signal {-child.exitcode}" if child.exitcode < 0 else f"exit status {child.exitcode}"
print("expected: exit status 0")
print("given:   ", given)
sys.exit(given == "exit status 0")
