"""Code generation makes an integer of a boxed truth value."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main() -> R.Prim("bool"):
        return R.prim_value(True)
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = True
given = vm["main"]()
print("expected:", expected)
print("given:   ", given)
sys.exit(given is expected)
