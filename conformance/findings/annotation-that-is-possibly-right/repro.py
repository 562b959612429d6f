"""`well_formed` rejects a binding whose annotation says more than is derived of its value."""

import sys

import tvm
from tvm import relax

TensorInfo = getattr(relax, "TensorStructInfo", None) or relax.TensorType
PROGRAM = """
vector, of_four = TensorInfo(ndim=1, dtype="float32"), TensorInfo((4,), "float32")
x, y = relax.Var("x", vector), relax.Var("y", of_four)
block = relax.BindingBlock([relax.VarBinding(y, x)])
main = relax.Function([x], relax.SeqExpr([block], y), of_four)
"""
built = {"relax": relax, "TensorInfo": TensorInfo}
exec(PROGRAM, built)

expected = "accepted"
try:
    relax.analysis.well_formed(tvm.IRModule({"main": built["main"].with_attr("global_symbol", "main")}))
    given = "accepted"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0][:160]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
