"""`T.q_multiply_shift` shifts to the left by its last operand, which is documented as a shift to the right."""

import sys

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func
    def main(X: T.Buffer((2,), "int32"), O: T.Buffer((2,), "int32")):
        for i in range(2):
            O[i] = T.q_multiply_shift(X[i], 1073741824, 31, 2)
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "T": T})
result = tvm.runtime.tensor(np.zeros(2, "int32"))
tvm.compile(module, "llvm")["main"](tvm.runtime.tensor(np.array([8, 24], "int32")), result)
expected, given = [1, 3], result.numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
