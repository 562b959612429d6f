"""The VM's constant pool merges the constants 1 and -1, because its equality skips tensor contents."""

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
        return (R.const(1, "int32"), R.const(-1, "int32"))
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1, -1]
given = [int(field.numpy()) for field in vm["main"]()]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
