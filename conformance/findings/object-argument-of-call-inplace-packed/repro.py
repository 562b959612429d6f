"""The TVMScript parser rejects `R.call_inplace_packed` with a result of `R.Object`, which the printer writes."""

import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Object):
        y = R.call_inplace_packed("demo.f", x, inplace_indices=[0], sinfo_args=(R.Object,))
        return y
"""
if hasattr(R, "Any"):
    PROGRAM = PROGRAM.replace("R.Object", "R.Any").replace("sinfo_args", "ty_args")

expected = "accepted"
try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
