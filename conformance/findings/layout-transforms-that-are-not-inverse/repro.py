"""`OptimizeLayoutTransform` removes two layout transforms that together permute the elements."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            a = R.layout_transform(x, index_map=lambda i, j: (j, i))
            y = R.layout_transform(a, index_map=lambda i, j: (i, j))
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.OptimizeLayoutTransform()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[1.0, 3.0], [2.0, 4.0]]
given = vm["main"](tensor([[1, 2], [3, 4]])).numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
