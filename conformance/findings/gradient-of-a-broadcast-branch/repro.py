"""`Gradient` of `R.where` gives a broadcast operand a gradient of the shape of the result."""

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
    def main(x: R.Tensor((2,), "float32"), z: R.Tensor((), "float32")):
        with R.dataflow():
            c = R.greater(x, z)
            w = R.where(c, x, z)
            y = R.sum(w)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.Gradient("main")(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = 1.0
given = vm["main_adjoint"](tensor([1, 2]), tensor(1.5))[1][1].numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
