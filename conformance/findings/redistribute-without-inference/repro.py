"""`R.dist.redistribute` is registered without an inference function and cannot be used."""

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
        return x
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
distributed = relax.distributed
mesh = distributed.DeviceMesh((2,), tvm.ir.Range(0, 2))
call = relax.op.distributed.redistribute(module["main"].params[0], mesh, distributed.Placement.from_text("S[0]"))
expected = "accepted"
try:
    relax.BlockBuilder().normalize(call)
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
