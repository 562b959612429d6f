"""`RewriteDataflowReshape` fails on a `permute_dims` whose size is computed from a variable."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape(["n"]), x: R.Tensor(("n + 2", 2, 2), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.permute_dims(x, axes=[1, 2, 0])
            z = R.add(y, y)
            R.output(z)
        return z
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
expected = [[[2.0, 10.0], [4.0, 12.0]], [[6.0, 14.0], [8.0, 16.0]]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tvm.runtime.ShapeTuple([0]), tensor(np.arange(1, 9).reshape(2, 2, 2))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
