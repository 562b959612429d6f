"""`LiftTransformParams` leaves a variable unbound that a DataflowBlock outputs and that only weights determine."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            d = R.add(w, w)
            e = R.multiply(x, w)
            R.output(d, e)
        return (e, d)
"""

module = relax.transform.LiftTransformParams()(tvm.script.from_source(PROGRAM, {"I": I, "R": R}))
expected = "well-formed"
try:
    given = expected if relax.analysis.well_formed(module) is not False else "not well-formed"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
