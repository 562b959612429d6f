"""`ConvertLayout` fails on a dataflow output whose annotation is weaker than what is inferred."""

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
            y: R.Object = R.add(x, x)
            R.output(y)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [2.0, 4.0]
try:
    module = relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32"))).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
