"""The printer omits the data type of an integer `PrimValue`, which the parser then reads as int64."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "int8")):
        y = R.minimum(R.prim_value(T.int8(2)), x)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = "int8 [1, 2]"
try:
    again = tvm.script.from_source(module.script(show_meta=True))
    vm = relax.VirtualMachine(tvm.compile(again, "llvm"), tvm.cpu())
    result = vm["main"](tvm.runtime.tensor(np.array([1, 5], "int8")))
    given = f"{result.dtype} {result.numpy().tolist()}"
except Exception as refusal:
    given = f"{type(refusal).__name__} when it is read again"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
