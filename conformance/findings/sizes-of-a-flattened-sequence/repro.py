"""`BlockBuilder.normalize` flattens a nested `SeqExpr` without renaming the shape variables that it binds."""

import sys

import numpy as np
import tvm
from tvm import relax

try:
    from tvm import tirx as tir
except ImportError:
    from tvm import tir

tensor = getattr(relax, "TensorStructInfo", None) or relax.TensorType
PROGRAM = """
n, k, m = (tir.Var(name, "int64") for name in "nkm")
v, w = (relax.Var(name, tensor([size], "float32")) for name, size in (("v", n), ("w", m)))
first = relax.MatchCast(relax.Var("_", tensor([k], "float32")), v, tensor([k], "float32"))
inner = relax.SeqExpr([relax.BindingBlock([first])], v)
root = relax.VarBinding(relax.Var("a", tensor([n], "float32")), relax.Call(tvm.ir.Op.get("relax.sqrt"), [inner]))
last = relax.Var("b", tensor([k], "float32"))
second = relax.MatchCast(last, w, tensor([k], "float32"))
body = relax.SeqExpr([relax.BindingBlock([root, second])], last)
main = relax.Function([v, w], body, tensor(ndim=1, dtype="float32"))
"""
built = {"tir": tir, "relax": relax, "tvm": tvm, "tensor": tensor}
exec(PROGRAM, built)

array = lambda values: tvm.runtime.tensor(np.array(values, "float32"))
module = tvm.IRModule({"main": built["main"].with_attr("global_symbol", "main")})
expected = [1.0, 2.0, 3.0]
try:
    module = relax.transform.Normalize()(module)
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = vm["main"](array([4, 9]), array([1, 2, 3])).numpy().tolist()
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
