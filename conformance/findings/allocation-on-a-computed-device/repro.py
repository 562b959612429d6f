"""`R.builtin.alloc_tensor` dereferences a null pointer in inference when the device index is not a constant."""

import multiprocessing
import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(d: R.Shape(["n"])):
        n = T.int64()
        y = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), R.prim_value(n), "global")
        return y
"""

def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
    module.script()


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
