#!/usr/bin/env python3
"""Writes conformance/suite/ops: cases about calls, printing, inspection, memory and workers.

    make_call_cases.py OUTPUT_DIRECTORY

What comes of these operators is stated beside the case, or computed with NumPy; the forms of values are those of
`make_ops_cases.py`. Programs are written out, as their calls have functions and type arguments that tensors alone do not show.
"""

import pathlib
import sys

import make_nn_cases as nn
import numpy as np
from make_ops_cases import BOOL, F16, F32, F64, I8, I32, I64, U8, annotation, exact, value

FAMILIES = {}

#: Functions that programs call.
PRIM_FUNCS = {
    "plus": """
    @T.prim_func(s_tir=True)
    def plus(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n, m), "float32")
        C = T.match_buffer(c, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.sblock("C"):
                v, w = T.axis.remap("SS", [i, j])
                C[v, w] = A[v, w] + B[v, w]
""",
    "add_to": """
    @T.prim_func(s_tir=True)
    def add_to(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("A"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] + B[v]
""",
    "add_and_double": """
    @T.prim_func(s_tir=True)
    def add_and_double(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("A"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] + B[v]
        for i in range(n):
            with T.sblock("C"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] * T.float32(2)
""",
    "plus_number": """
    @T.prim_func(s_tir=True)
    def plus_number(a: T.handle, b: T.handle, k: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int64")
        B = T.match_buffer(b, (n,), "int64")
        for i in range(n):
            with T.sblock("B"):
                v = T.axis.spatial(n, i)
                B[v] = A[v] + k
""",
    "add_product": """
    @T.prim_func(s_tir=True)
    def add_product(a: T.handle, k: T.int64, m: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int64")
        for i in range(n):
            with T.sblock("A"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] * k + m
""",
    "itself": """
    @R.function
    def itself(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return a
""",
    "minus": """
    @R.function
    def minus(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        d: R.Tensor((n,), "float32") = R.subtract(a, b)
        return d
""",
}


class Family:
    """The cases of a chapter."""

    def __init__(self):
        self.out = []
        self.counts = {}

    def program(self, params, call, functions, pure):
        texts = "".join(PRIM_FUNCS[name] for name in functions)
        decorator = "@R.function" if pure else "@R.function(pure=False)"
        names = [f"x{i}: {p if isinstance(p, str) else annotation(p)}" for i, p in enumerate(params)]
        alias = "        cls = Module\n" if functions else ""
        return f"""
@I.ir_module
class Module:{texts}
    {decorator}
    def main({", ".join(names)}) -> R.Object:
{alias}        y = {call}
        return y
"""

    def case(self, name, call, given, allow, why, attrs=False, functions=(), known=None, pure=True, itself=None, kind="exact", clause="value"):
        """`given` are arrays, or pairs of an annotation and a value as text. `known` is what is inferred, as text. With `itself` the result
        is the first argument, of these elements, which a case of its own says too."""
        params = [g[0] if isinstance(g, tuple) else g for g in given]
        values = [g[1] if isinstance(g, tuple) else value(g) for g in given]
        text = self.program(params, call, functions, pure)
        self.counts[name] = self.counts.get(name, 0) + 1
        rules = lambda clause: "[" + ", ".join(f'"OPS.{name}.{c}"' for c in [clause] + (["attrs"] if attrs else [])) + "]"
        asked = [("Evaluate", kind, f"Returns({value(allow)})" if not isinstance(allow, str) else allow)]
        if itself is not None:
            asked = [("Evaluate", kind, f"Returns({value(itself)})"), ("EvaluateIdentity", "identity", "Returns(Arg(0))")]
        for question, label, answer in asked:
            self.out.append(f"""    Case(
        id: "ops/{name}-{self.counts[name]}-{label}",
        rules: {rules(clause)},
        ask: {question}(Script(r#"{text}"#), "main", [{", ".join(values)}]),
        allow: [{answer}],
        why: "{why}",
    ),""")
        if known:
            written = call.replace('"', "'")
            self.out.append(f"""    Case(
        id: "ops/{name}-{self.counts[name]}-infer",
        rules: {rules("infer")},
        ask: DeriveVar(Script(r#"{text}"#), "main", "y"),
        allow: [{known}],
        why: "what the clause says of {written}",
    ),""")


def family(function):
    FAMILIES[function.__name__] = function
    return function


def tensor(shape, dtype):
    dims = ", ".join(map(str, shape))
    return f'Tensor(shape: [{dims}], dtype: "{dtype}")'


@family
def inspect(o):
    codes = {F32: (2, 32), I8: (0, 8), U8: (1, 8), BOOL: (6, 8), F16: (2, 16), I64: (0, 64)}
    for i, (dtype, (code, bits)) in enumerate(codes.items()):
        x = exact(dtype, (2, 3))
        first = i == 0
        for field, boxed, result in [("code", "uint8", code), ("bits", "uint8", bits), ("lanes", "uint16", 1)]:
            name = f"inspect.tensor_dtype_{field}"
            known = f'Prim(dtype: "{boxed}", value: {result})' if first else None
            o.case(name, f"R.{name}(x0)", [x], f"Returns(Int({result}))", f"DLPack describes {dtype} so", known=known)
    shapes = [(2, 3, 4), (5,), (), (3, 1)]
    for i, shape in enumerate(shapes):
        x, rank = exact(F32, shape), len(shape)
        first = i == 0
        known = f'Prim(dtype: "int32", value: {rank})' if first else None
        o.case("inspect.tensor_ndim", "R.inspect.tensor_ndim(x0)", [x], f"Returns(Int({rank}))", "the number of dimensions", known=known)
        for field in ("byte", "elem"):
            name = f"inspect.tensor_{field}_offset"
            known = 'Prim(dtype: "uint64", value: 0)' if first else None
            o.case(name, f"R.{name}(x0)", [x], "Returns(Int(0))", "a tensor begins where its memory does", known=known)
        for axis in range(rank):
            known = f'Prim(dtype: "int64", value: {shape[axis]})' if first and axis == 0 else None
            o.case("inspect.tensor_shape_i", f"R.inspect.tensor_shape_i(x0, {axis})", [x], f"Returns(Int({shape[axis]}))", "the size along the axis", known=known)
            stride = int(np.prod(shape[axis + 1 :]))
            known = f'Prim(dtype: "int64", value: {stride})' if first and axis == 0 else None
            o.case("inspect.tensor_stride_i", f"R.inspect.tensor_stride_i(x0, {axis})", [x], f"Returns(Int({stride}))", "the product of the sizes inside of the axis", known=known)
    for field in ("shape", "stride"):
        o.case(f"inspect.tensor_{field}_i", f"R.inspect.tensor_{field}_i(x0, x1)", [exact(F32, (2, 3)), ('R.Prim("int64")', "Int(-1)")], 'Fails("PURE.ERR.OP")', "axes are not counted from the end", kind="negative")


STORAGE = ("R.Object", "Object")


@family
def memory(o):
    unwritten = "a new tensor has not been written, and whoever started the program reads it"
    no_storage = "what came from outside is no storage"
    for i, shape in enumerate(["[2, 3, 4]", "[6]", "[2, 1]"]):
        dims = shape.strip("[]")
        known = f'Tensor(shape: [{dims}], dtype: "float32")' if i == 0 else None
        call = f'R.builtin.alloc_tensor(R.shape({shape}), R.dtype("float32"), R.prim_value(0), R.str("global"))'
        o.case("builtin.alloc_tensor", call, [], 'Fails("MEM.UNWRITTEN")', unwritten, known=known, kind="unwritten")
        for name in ("memory.alloc_tensor", "vm.alloc_tensor"):
            call = f'R.{name}(x0, R.prim_value({8 * i}), R.shape({shape}), R.dtype("float32"), R.prim_value(0))'
            o.case(name, call, [STORAGE], 'Fails("PURE.ERR.OP")', no_storage, known=known, kind="no-storage")
        known = "Object" if i == 0 else None
        call = f'R.memory.alloc_storage(R.shape({shape}), R.prim_value(0), R.str("global"), R.dtype("float32"))'
        o.case("memory.alloc_storage", call, [], "Returns(Object)", "a storage is an opaque object", known=known, kind="object")
        call = f'R.vm.alloc_storage(R.shape({shape}), R.prim_value(0), R.dtype("uint8"), R.str("global"))'
        o.case("vm.alloc_storage", call, [], "Returns(Object)", "a storage is an opaque object", known=known, kind="object")
    for name in ("memory.kill_storage", "memory.kill_tensor", "vm.kill_object"):
        unit = "Returns(Tuple([]))"
        o.case(name, f"R.{name}(x0)", [exact(F32, (2, 3))], unit, "nothing comes of it", known="Tuple([])", pure=False, kind="unit")
        o.case(name, f"R.{name}(x0)", [STORAGE], unit, "nothing comes of it", pure=False, kind="unit")
    o.case("vm.call_tir_dyn", "R.vm.call_tir_dyn(cls.add_to, (x0, x1, R.shape([4])))", [exact(F32, (4,)), exact(F32, (4,), 1)], 'Fails("PURE.ERR.OP")', "the one size of the shape is a third argument, and there are two parameters", known="Tuple([])", pure=False, functions=["add_to"], kind="sizes")
    o.case("vm.call_tir_dyn", "R.vm.call_tir_dyn(cls.add_to, (x0, x1, R.shape([])))", [exact(F32, (4,)), exact(F32, (4,), 1)], "Returns(Tuple([]))", "there are no sizes, so that the two tensors are the arguments; nothing comes of it", pure=False, functions=["add_to"], kind="run")
    x = exact(F32, (4, 6))
    views = [
        ("R.shape([2, 3, 4]), R.tuple(), R.tuple()", x.reshape(2, 3, 4)),
        ('R.tuple(), R.dtype("int32"), R.tuple()', x.view("int32")),
        ('R.shape([2, 2]), R.dtype("float16"), R.prim_value(8)', np.frombuffer(x.tobytes()[8:16], "float16").reshape(2, 2)),
        ("R.tuple(), R.tuple(), R.tuple()", x),
    ]
    for call, seen in views:
        known = tensor(seen.shape, seen.dtype.name)
        o.case("memory.view", f"R.memory.view(x0, {call})", [x], seen, "the same bytes", known=known)
    for dtype, shape in [(F32, (2, 3)), (I32, (4,)), (BOOL, (2, 1, 3))]:
        x = exact(dtype, shape)
        known = tensor(shape, dtype) if dtype == F32 else None
        o.case("memory.ensure_zero_offset", "R.memory.ensure_zero_offset(x0)", [x], "", "the argument itself, which begins where its memory does", known=known, itself=x)


@family
def workers(o):
    alone = "one worker has everything"
    for dtype, shape in [(F32, (2, 3)), (I32, (4,)), (F64, (2, 1, 2))]:
        x = exact(dtype, shape)
        for kind in ("sum", "prod", "min", "max", "avg"):
            known = tensor(shape, dtype) if (dtype, kind) == (F32, "sum") else None
            o.case("ccl.allreduce", f'R.ccl.allreduce(x0, op_type="{kind}", in_group=True)', [x], x, alone, attrs=True, known=known)
    for i, (dtype, shape) in enumerate([(F32, (2, 3)), (I32, (4,)), (F16, (2, 1, 2)), (BOOL, (3, 2))]):
        x = exact(dtype, shape)
        known = tensor(shape, dtype) if i == 0 else None
        o.case("ccl.allgather", "R.ccl.allgather(x0, num_workers=1, in_group=True)", [x], x, alone, attrs=True, known=known)
        o.case("ccl.broadcast_from_worker0", "R.ccl.broadcast_from_worker0(x0)", [x], x, alone, known=known)
        o.case("ccl.scatter_from_worker0", f"R.ccl.scatter_from_worker0(x0, num_workers=1, axis={len(shape) - 1})", [x], x, alone, attrs=True, known=known)
        o.case("dist.redistribute_replica_to_shard", f"R.dist.redistribute_replica_to_shard(x0, num_workers=1, axis={len(shape) - 1})", [x], x, alone, attrs=True, known=known)
        why = "where parts lie is no part of the value"
        for name in ("dist.annotate_sharding", "dist.redistribute"):
            o.case(name, f'R.{name}(x0, device_mesh="mesh[0]", placement="S[0]")', [x], "", why, attrs=True, known=known, itself=x)
    o.case("ccl.allreduce", 'R.ccl.allreduce(x0, op_type="median")', [exact(F32, (2, 3))], 'Fails("PURE.ERR.OP")', "there is no such reduction", kind="unknown", clause="attrs")
    x = exact(F32, (4, 6))
    others = "two workers are meant, and there is one"
    o.case("ccl.allgather", "R.ccl.allgather(x0, num_workers=2)", [x], "Unspecified", others, attrs=True, known=tensor((8, 6), F32), kind="two")
    for name in ("ccl.scatter_from_worker0", "dist.redistribute_replica_to_shard"):
        o.case(name, f"R.{name}(x0, num_workers=2, axis=1)", [x], "Unspecified", others, attrs=True, known=tensor((4, 3), F32), kind="two")
    a, b = exact(F32, (2, 3)), exact(F32, (2, 3), 1)
    o.case("dist.call_tir_local_view", 'R.dist.call_tir_local_view(cls.plus, (x0, x1), out_sinfo=R.Tensor((2, 3), "float32"))', [a, b], a + b, "as call_tir does", functions=["plus"], known=tensor((2, 3), F32))


@family
def calls(o):
    a, b = exact(F32, (2, 3)), exact(F32, (2, 3), 1)
    v, w = exact(F32, (4,)), exact(F32, (4,), 1)
    f32 = lambda *shape: f'R.Tensor(({", ".join(map(str, shape))}{"," if len(shape) == 1 else ""}), "float32")'
    # Packed functions.
    name = "call_pure_packed"
    o.case(name, f'R.call_pure_packed("relax_spec.add", x0, x1, sinfo_args=({f32(2, 3)},))', [a, b], a + b, "the function adds its arguments", known=tensor((2, 3), F32))
    o.case(name, 'R.call_pure_packed("relax_spec.identity", x0, sinfo_args=(R.Object,))', [v], v, "the function gives a copy of its argument", known="Object")
    o.case(name, 'R.call_pure_packed("relax_spec.shape_double", R.shape([2, 3]), sinfo_args=(R.Shape([4, 6]),))', [], "Returns(Shape([4, 6]))", "the function doubles sizes", known="Shape(values: [4, 6])")
    sizes = np.array([3, 2, 1], I64)
    o.case(name, 'R.call_pure_packed("vm.builtin.tensor_to_shape", x0, sinfo_args=(R.Shape(ndim=3),))', [sizes], "Returns(Shape([3, 2, 1]))", "importers call this function of the virtual machine: the elements are sizes", known="Shape(ndim: 3)", kind="vm")
    o.case(name, f'R.call_pure_packed("vm.builtin.reshape", x0, R.shape([3, 2]), sinfo_args=({f32(3, 2)},))', [a], a.reshape(3, 2), "importers call this function of the virtual machine: the same elements in order", known=tensor((3, 2), F32), kind="vm")
    o.case(name, f'R.call_pure_packed("vm.builtin.reshape", x0, R.shape([4, 2]), sinfo_args=({f32(4, 2)},))', [a], 'Fails("PURE.ERR.OP")', "6 elements do not fill 8 places", kind="vm")
    # In place.
    name = "call_inplace_packed"
    total = v + w
    event = f'[Call("relax_spec.add_inplace", [{value(v)}, {value(w)}])]'
    o.case(name, f'R.call_inplace_packed("relax_spec.add_inplace", x0, x1, inplace_indices=[0], sinfo_args=({f32(4)},))', [v, w], f"Returns({value(total)}, {event})", "the first argument, to which the second is added", attrs=True, known=tensor((4,), F32))
    o.case(name, f'R.call_inplace_packed("relax_spec.alias", x0, inplace_indices=[0], sinfo_args=({f32(2, 3)},))', [a], "", "the argument itself", attrs=True, itself=a)
    o.case(name, 'R.call_inplace_packed("relax_spec.alias", x0, inplace_indices=[0], sinfo_args=(R.Object,))', [a], "", "the argument itself", attrs=True, itself=a)
    event = f'[Call("relax_spec.log", [{value(a)}, {value(v)}])]'
    o.case(name, f'R.call_inplace_packed("relax_spec.log", x0, x1, inplace_indices=[0], sinfo_args=({f32(2, 3)},))', [a, v], f"Returns({value(a)}, {event})", "the first of the arguments, as the shapes say too", attrs=True, known=tensor((2, 3), F32))
    event = f'[Call("relax_spec.call_closure", [Closure, {value(v)}])]'
    o.case(name, f'R.call_inplace_packed("relax_spec.call_closure", cls.itself, x0, inplace_indices=[1], sinfo_args=({f32(4)},))', [v], f"Returns({value(v)}, {event})", "the second of the arguments, which the closure gives back", attrs=True, functions=["itself"], known=tensor((4,), F32))
    # Builtins and Python.
    name = "call_builtin_with_ctx"
    o.case(name, f'R.call_builtin_with_ctx("relax_spec.add", (x0, x1), sinfo_args=({f32(2, 3)},))', [a, b], a + b, "the function adds the fields of the tuple", known=tensor((2, 3), F32), pure=False)
    o.case(name, 'R.call_builtin_with_ctx("relax_spec.identity", (x0,), sinfo_args=(R.Object,))', [v], v, "the function gives a copy", known="Object", pure=False)
    name = "call_py_func"
    o.case(name, f'R.call_py_func("relax_spec.add", (x0, x1), sinfo_args=({f32(2, 3)},))', [a, b], a + b, "the host has a function of the name, which adds", known=tensor((2, 3), F32))
    o.case(name, f'R.call_py_func("relax_spec.identity", (x0,), sinfo_args=({f32(4)},))', [v], v, "the function gives a copy")
    o.case(name, 'R.call_py_func("relax_spec.nothing", (x0,), sinfo_args=(R.Object,))', [v], 'Fails("PURE.ERR.OP")', "the host has no function of the name", kind="missing")
    # PrimFuncs.
    name = "call_tir_with_grad"
    o.case(name, f'R.call_tir_with_grad(cls.plus, (x0, x1), out_sinfo={f32(2, 3)}, te_grad_name="plus_grad", te_grad_kwargs={{}})', [a, b], a + b, "as call_tir does", attrs=True, functions=["plus"], known=tensor((2, 3), F32))
    name = "call_tir_inplace"
    o.case(name, f"R.call_tir_inplace(cls.add_to, (x0, x1), out_sinfo={f32(4)}, inplace_indices=[0])", [v, w], "", "the first input itself, which is written in place", attrs=True, functions=["add_to"], known=tensor((4,), F32), itself=total)
    both = f"Returns(Tuple([{value(total)}, {value(2 * total)}]))"
    known = f"Tuple([{tensor((4,), F32)}, {tensor((4,), F32)}])"
    o.case(name, f"R.call_tir_inplace(cls.add_and_double, (x0, x1), out_sinfo=[{f32(4)}, {f32(4)}], inplace_indices=[0, -1])", [v, w], both, "the first input, and a new tensor, which alone is passed behind the inputs", attrs=True, functions=["add_and_double"], known=known)
    whole = exact(I64, (4,))
    i64 = 'R.Tensor((4,), "int64")'
    for k, m in ((2, 3), (-1, 5)):
        o.case(name, f"R.call_tir_inplace(cls.add_product, (x0,), out_sinfo={i64}, inplace_indices=[0], tir_vars=R.shape([{k}, {m}]))", [whole], whole * k + m, "the integers follow the tensors", attrs=True, functions=["add_product"])
        o.case("call_tir_with_grad", f'R.call_tir_with_grad(cls.plus_number, (x0,), out_sinfo={i64}, te_grad_name="plus_grad", te_grad_kwargs={{}}, tir_vars=R.shape([{k}]))', [whole], whole + k, "the integer follows the tensors", attrs=True, functions=["plus_number"])
    # Closures.
    o.case("make_closure", "R.make_closure(cls.minus, (x0,))", [v], "Returns(Closure)", "a closure", functions=["minus"], known="Object")
    o.case("make_closure", 'R.make_closure(R.ExternFunc("relax_spec.add"), (x0,))', [a], "Returns(Closure)", "a closure of a packed function")
    for name, pure in [("invoke_closure", False), ("invoke_pure_closure", True)]:
        o.case(name, f"R.{name}(cls.minus, (x0, x1), sinfo_args=({f32(4)},))", [v, w], v - w, "the function is called with the fields", functions=["minus"], known=tensor((4,), F32), pure=pure)
        o.case(name, f"R.{name}(R.make_closure(cls.minus, (x0,)), (x1,), sinfo_args=({f32(4)},))", [v, w], w - v, "what is captured follows the argument of the call", functions=["minus"], pure=pure, kind="captured")
        o.case(name, f'R.{name}(R.ExternFunc("relax_spec.add"), (x0, x1), sinfo_args=({f32(2, 3)},))', [a, b], a + b, "the packed function is called with the fields", pure=pure)


@family
def debug(o):
    x = exact(F32, (2, 3))
    printed = lambda *xs: f"Returns(Tuple([]), [Print([{', '.join(xs)}])])"
    o.case("print", 'R.print(x0, format="{}")', [x], printed('Str("{}")', value(x)), "the format and the tensor are printed", known="Tuple([])", pure=False)
    o.case("print", "R.print(x0, x1)", [x, exact(I32, (2,))], printed(value(x), value(exact(I32, (2,)))), "both tensors are printed", pure=False)
    holds = np.array(True)
    o.case("assert_op", "R.assert_op(x0)", [holds], "Returns(Tuple([]))", "the condition holds", known="Tuple([])", pure=False)
    o.case("assert_op", 'R.assert_op(x0, x1, format="{}")', [holds, x], "Returns(Tuple([]))", "the condition holds", pure=False)
    o.case("assert_op", "R.assert_op(x0)", [np.array(False)], 'Fails("PURE.EFFECT.ABORT")', "the condition does not hold", pure=False, kind="fails")
    o.case("assert_op", "R.assert_op(x0)", [('R.Prim("bool")', "Bool(true)")], "Returns(Tuple([]))", "a boxed Boolean is a condition too", pure=False, kind="boxed")


def blocks(x, axis, size):
    """An axis in blocks, whose places lie innermost."""
    shape = (*x.shape[:axis], x.shape[axis] // size, size, *x.shape[axis + 1 :])
    return np.ascontiguousarray(np.moveaxis(x.reshape(shape), axis + 1, -1))


@family
def packed(o):
    x, w = nn.small(F32, (1, 4, 4, 5)), nn.small(F32, (6, 4, 3, 2), 1)
    y = nn.conv(2)(x, w)
    why = "the layout divides axes, and nothing else is changed"
    case = lambda name, call, given, result: o.case(name, call, given, result, why, known=tensor(result.shape, F32), kind="blocks")
    call = 'R.nn.conv2d(x0, x1, data_layout="NCHW2c", kernel_layout="OIHW3o", out_layout="NCHW")'
    case("nn.conv2d", call, [blocks(x, 1, 2), blocks(w, 0, 3)], y)
    call = 'R.nn.conv2d(x0, x1, data_layout="NCHW2c", kernel_layout="OIHW2i3o")'
    case("nn.conv2d", call, [blocks(x, 1, 2), blocks(blocks(w, 1, 2), 0, 3)], blocks(y, 1, 2))
    call = 'R.nn.conv2d(x0, x1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW3c")'
    case("nn.conv2d", call, [x, w], blocks(y, 1, 3))
    p = nn.small(F32, (2, 4, 4, 4))
    call = 'R.nn.max_pool2d(x0, pool_size=[2, 2], strides=[2, 2], layout="NCHW4c")'
    case("nn.max_pool2d", call, [blocks(p, 1, 4)], blocks(p.reshape(2, 4, 2, 2, 2, 2).max(axis=(3, 5)), 1, 4))
    call = 'R.nn.avg_pool2d(x0, pool_size=[2, 2], strides=[2, 2], layout="NCHW2c", out_layout="NCHW")'
    case("nn.avg_pool2d", call, [blocks(p, 1, 2)], p.reshape(2, 4, 2, 2, 2, 2).mean(axis=(3, 5), dtype=F32))
    call = 'R.nn.adaptive_avg_pool2d(x0, output_size=[1, 1], layout="NCHW2c")'
    case("nn.adaptive_avg_pool2d", call, [blocks(p, 1, 2)], blocks(p.mean(axis=(2, 3), dtype=F32, keepdims=True), 1, 2))


HEAD = "// Written by tools/make_call_cases.py with NumPy.\n"


def main(directory):
    for name, function in FAMILIES.items():
        out = Family()
        function(out)
        path = pathlib.Path(directory) / f"{name}.ron"
        path.write_text(HEAD + "[\n" + "\n".join(out.out) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
