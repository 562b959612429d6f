"""`Gradient` of `R.cumsum` ignores `exclusive`."""

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
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            s = R.cumsum(x, axis=0, exclusive=True)
            y = R.sum(s)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.Gradient("main")(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1.0, 0.0]
given = vm["main_adjoint"](tensor([1, 2]))[1][0].numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
