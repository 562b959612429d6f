"""`DataflowUseInplaceCalls` overwrites a tensor that a live tuple still holds."""

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
            a = R.nn.relu(x)
            b = (a,)
            c = R.add(x, a)
            R.output(b)
        return b
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.DataflowUseInplaceCalls()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
expected = [1.0, 2.0]
given = vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32")))[0].numpy().tolist()
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
