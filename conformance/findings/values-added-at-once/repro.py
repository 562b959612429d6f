"""`R.index_put` with `accumulate=True` adds to one element in the rounds of a parallel loop."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), "float32"), i: R.Tensor((2,), "int64"), u: R.Tensor((2,), "float32")):
        y = R.index_put(x, (i,), u, accumulate=True)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
lines = relax.transform.LegalizeOps()(module)["index_put"].script().splitlines()
loop = next(before.strip() for before, line in zip(lines, lines[1:]) if "] = out_buf[" in line)
expected = "a loop whose rounds are run in order"
given = "a parallel loop: " + loop if "T.parallel" in loop else expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
