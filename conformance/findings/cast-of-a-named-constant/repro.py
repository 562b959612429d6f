"""`KillAfterLastUse` kills a `match_cast` of a bound constant, which has no register."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main():
        y = R.const([1, 2], "float32")
        w = R.match_cast(y, R.Object)
        z = (w, w)
        return z
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[1.0, 2.0], [1.0, 2.0]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = [field.numpy().tolist() for field in vm["main"]()]
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
