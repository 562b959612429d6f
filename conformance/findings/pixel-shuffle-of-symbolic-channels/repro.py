"""Inference of `R.nn.pixel_shuffle` segfaults on a symbolic number of channels."""

import multiprocessing
import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, "n", 2, 2), "float32")):
        y = R.nn.pixel_shuffle(x, 2)
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
