"""`LazySetOutput` calls its impure callback in a dataflow block."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
module = relax.transform.LazySetOutput()(module)
blocks = [block for block in module["main"].body.blocks if isinstance(block, relax.DataflowBlock)]
callbacks = set(module["main"].params)
calls = [binding.value for block in blocks for binding in block.bindings if isinstance(binding.value, relax.Call)]
expected = "no call of the callback in a dataflow block"
given = "a call of the callback in a dataflow block" if any(call.op in callbacks for call in calls) else expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
