"""`DataflowUseInplaceCalls` makes an operator overwrite a constant."""

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
            c = R.const([1, 2], "float32")
            y = R.add(c, x)
            R.output(y)
        return y
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
with tvm.target.Target("llvm"):
    module = relax.transform.DataflowUseInplaceCalls()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [[4.0, 6.0], [4.0, 6.0]]
given = [vm["main"](tensor([3, 4])).numpy().tolist() for _ in range(2)]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
