"""`EliminateCommonSubexpr` replaces a variable by one with a weaker annotation, and fails."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a: R.Object = R.negative(x)
        b = R.negative(x)
        c = R.add(b, b)
        return c
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "b + b"
try:
    module = relax.transform.EliminateCommonSubexpr()(module)
    operands = module["main"].body.blocks[0].bindings[-1].value.args
    given = " + ".join(map(str, operands))
except Exception as refusal:
    given = "refused, " + str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
