"""Inference of `R.vision.all_class_non_max_suppression` segfaults on tensors of known rank and unknown shape."""

import multiprocessing
import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(b: R.Tensor("float32", ndim=3), s: R.Tensor("float32", ndim=3)):
        y = R.vision.all_class_non_max_suppression(b, s, R.const(1, "int64"), R.const(0.5, "float32"), R.const(0.1, "float32"))
        return y
"""

def ask():
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
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
