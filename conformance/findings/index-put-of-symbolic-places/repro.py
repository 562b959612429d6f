"""`R.index_put` with symbolic index shapes fails to build, even if the shapes are identical."""

import sys

import numpy
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 3), "float32"), place: R.Tensor(("n",), "int64"), value: R.Tensor(("n",), "float32")):
        y = R.index_put(x, (place, place), value)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
try:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x, place, value = numpy.zeros((3, 3), "float32"), numpy.array([0, 2], "int64"), numpy.array([1, 2], "float32")
    given = vm["main"](*[tvm.runtime.tensor(a) for a in (x, place, value)]).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1][:120]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
