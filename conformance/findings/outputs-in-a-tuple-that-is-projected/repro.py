"""`RemoveUnusedOutputs` replaces used results by NaN if they are elements of a tuple that is projected at once."""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def pair(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32")):
        return (y, x)

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        v = cls.pair(x, y)
        w = ((x, v),)[0]
        return w
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
# The parser has made `(x, v)` of the projection, which is put back.
main = module["main"]
call, taken = main.body.blocks[0].bindings
back = relax.VarBinding(taken.var, relax.TupleGetItem(relax.Tuple([taken.value]), 0))
body = relax.SeqExpr([relax.BindingBlock([call, back])], main.body.body)
result = main.ret_struct_info if tvm.__version__ < "0.26" else main.ret_ty
module["main"] = relax.Function(main.params, body, result, attrs=main.attrs)
expected = [[1.0, 2.0], [[3.0, 4.0], [1.0, 2.0]]]
try:
    module = relax.transform.RemoveUnusedOutputs()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x, (first, second) = vm["main"](tensor([1, 2]), tensor([3, 4]))
    given = [x.numpy().tolist(), [part.numpy().tolist() if hasattr(part, "numpy") else part for part in (first, second)]]
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
