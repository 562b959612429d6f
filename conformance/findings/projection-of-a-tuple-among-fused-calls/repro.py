"""`FuseOps` leaves a variable unbound whose only other use is a tuple that is projected at once."""

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
            a = R.add(x, x)
            b = (a,)[0]
            c = R.multiply(b, x)
            R.output(c)
        return c
"""

tensor = lambda values, dtype="float32": tvm.runtime.tensor(np.array(values, dtype))
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
# The parser has made `a` of the projection, which is put back.
main = module["main"]
block = main.body.blocks[0]
call, alias, last = block.bindings
back = relax.VarBinding(alias.var, relax.TupleGetItem(relax.Tuple([alias.value]), 0))
body = relax.SeqExpr([relax.DataflowBlock([call, back, last])], main.body.body)
result = main.ret_struct_info if tvm.__version__ < "0.26" else main.ret_ty
module["main"] = relax.Function(main.params, body, result, attrs=main.attrs)
expected = [2.0, 8.0]
try:
    module = relax.get_pipeline("zero")(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](tensor([1, 2])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
