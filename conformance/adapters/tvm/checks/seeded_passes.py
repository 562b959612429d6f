"""Wrong passes and right ones, for `blame_seeded.py`.

`WRONG` and `RIGHT` say of each pass which program it is for, in front of which passes of the default pipeline it may
stand, and what it does: a pattern in the text of the module and what takes its place, or, where the parser does not read
the text or mends it, a function of a Relax function. `relax-spec blame --pass seeded_passes.py:NAME` runs one.
"""

import contextlib
import re

#: The passes of the default pipeline, in their order.
PIPELINE = (
    "DispatchSampling",
    "DispatchSortScan",
    "LegalizeOps",
    "RewriteDataflowReshape",
    "ToNonDataflow",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "LowerAllocTensor",
    "KillAfterLastUse",
    "LowerRuntimeBuiltin",
    "ComputePrimValue",
    "VMShapeLower",
    "AttachGlobalSymbol",
)
#: Before operators are lowered, behind that with and without DataflowBlocks, and where memory is planned.
EARLY = PIPELINE[:3]
LOWERED = PIPELINE[3:7]
PLANNED = PIPELINE[8:9]


def with_calls(change):
    """A function with other arguments in its calls: `change` gives those of a call, by the operator's name."""

    def edit(func):
        from tvm import relax

        @relax.expr_functor.mutator
        class Calls(relax.PyExprMutator):
            def visit_call_(self, call):
                args = change(getattr(call.op, "name", ""), list(call.args))
                return relax.Call(call.op, args, call.attrs, getattr(call, "sinfo_args", None) or getattr(call, "ty_args", None))

        return Calls().visit_expr(func)

    return edit


def storage_of(size):
    """Storages of so many bytes."""

    def change(name, args):
        from tvm import relax

        return [relax.ShapeExpr([size]), *args[1:]] if name == "relax.memory.alloc_storage" else args

    return with_calls(change)


def one_storage(func):
    """All tensors in the first storage."""
    first = []

    def change(name, args):
        if name == "relax.memory.alloc_tensor":
            first.append(args[0])
            return [first[0], *args[1:]]
        return args

    return with_calls(change)(func)


#: Programs, each with something for several passes to break.
PROGRAMS = {
    "effects": """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.add(x, y)
        R.print(a, format="first {}")
        R.print(x, format="second {}")
        b = R.subtract(a, x)
        return b
""",
    "casts": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor("float32", ndim=1)) -> R.Tensor("float32", ndim=1):
        n = T.int64()
        z = R.match_cast(y, R.Tensor((n,), "float32"))
        a = R.subtract(x, z)
        b = R.astype(a, dtype="int32")
        c = R.astype(b, dtype="int8")
        d = R.astype(c, dtype="float32")
        return d
""",
    "values": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.subtract(x, y)
            b = R.multiply(a, R.const(3, "float32"))
            c = R.maximum(b, x)
            d = R.matmul(c, y)
            e = R.permute_dims(d, axes=[1, 0])
            f = R.add(e, R.const(0.5, "float32"))
            g = R.sum(f, axis=[0])
            R.output(g)
        return g
""",
    "branches": """
@I.ir_module
class Module:
    @R.function(private=True)
    def minus(a: R.Tensor((5,), "float32"), b: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        d = R.subtract(a, b)
        return d

    @R.function
    def other(a: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        d = R.exp(a)
        return d

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        cls = Module
        if c:
            t = R.add(x, y)
            r = t
        else:
            u = cls.minus(x, y)
            r = u
        s = R.multiply(r, x)
        return s
""",
    "sizes": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 4",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([n * 4]))
            c = R.subtract(b, R.const(1, "float32"))
            R.output(c)
        return c
""",
    "memory": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "float32"), y: R.Tensor((6,), "float32")) -> R.Tensor((6,), "float32"):
        a = R.add(x, y)
        b = R.multiply(a, y)
        c = R.subtract(b, a)
        d = R.add(c, b)
        return d
""",
}

#: Name -> program, places, pattern or function, replacement.
WRONG = {
    "drops_an_effect": ("effects", EARLY, r"\n +(?:\w+(?:: R.Tuple)? = )?R\.print\(x,.*", ""),
    "doubles_an_effect": ("effects", EARLY, r"(\n +)(?:\w+(?:: R.Tuple)? = )?(R\.print\(x,.*)", r"\1\2\1\2"),
    "reorders_effects": ("effects", EARLY, r"(\n +(?:\w+(?:: R.Tuple)? = )?R\.print\(a,.*)(\n.*R\.print\(x,.*)", r"\2\1"),
    "prints_something_else": ("effects", EARLY, r"R\.print\(a,", "R.print(y,"),
    "loses_a_match_cast": ("casts", EARLY, r"R\.match_cast\(y, R\.Tensor\(\(n,\).*\)", "y"),
    "loses_a_cast": ("casts", EARLY, r"R\.astype\(b, dtype=\"int8\"\)", 'R.minimum(R.maximum(b, b), b)'),
    "moves_a_cast": ("casts", EARLY, r"R\.astype\(a, dtype=\"int32\"\)", 'R.astype(R.floor(a), dtype="int32")'),
    "rounds_in_between": (
        "values",
        EARLY,
        r"R\.maximum\(b, x\)",
        'R.maximum(R.astype(R.astype(b, dtype="float16"), dtype="float32"), x)',
    ),
    "exchanges_operands": ("values", EARLY, r"R\.subtract\(x, y\)", "R.subtract(y, x)"),
    "folds_a_constant_wrongly": ("values", EARLY, r"R\.const\(3\.0, \"float32\"\)", 'R.const(2.0, "float32")'),
    "takes_the_minimum": ("values", EARLY, r"R\.maximum\(b, x\)", "R.minimum(b, x)"),
    "exchanges_a_product": ("values", EARLY, r"R\.matmul\(c, y", "R.matmul(y, c"),
    "loses_a_transposition": ("values", EARLY, r"axes=\[1, 0\]", "axes=[0, 1]"),
    "sums_along_another_axis": ("values", EARLY, r"axis=\[0\]", "axis=[1]"),
    "distributes_wrongly": ("values", EARLY, r"R\.multiply\(a, R\.const", "R.subtract(a, R.const"),
    "takes_one_branch": ("branches", EARLY, r"if c:", 'if R.const(True, "bool"):'),
    "exchanges_arguments": ("branches", EARLY + LOWERED, r"cls\.minus\(x, y\)", "cls.minus(y, x)"),
    "loses_an_exported_function": ("branches", EARLY, r"@R\.function\n    def other", "@R.function(private=True)\n    def other"),
    "forgets_a_purity": ("branches", EARLY, r"@R\.function\n    def other", "@R.function(pure=False)\n    def other"),
    "weakens_information": (
        "sizes",
        EARLY,
        r"(c: |-> )R\.Tensor\(\(n \* 4,\), dtype=\"float32\"\)",
        r'\1R.Tensor(dtype="float32", ndim=1)',
    ),
    "reverses_a_size": (
        "sizes",
        EARLY,
        r"R\.reshape\(a, R\.shape\(\[n \* 4\]\)\)",
        "R.reshape(R.permute_dims(a, axes=[1, 0]), R.shape([n * 4]))",
    ),
    "off_by_one_in_a_tail": (
        "memory",
        LOWERED,
        r"T_subtract\[v_ax0\] = (\w+)\[v_ax0\]",
        r"T_subtract[v_ax0] = \1[T.min(v_ax0, T.int64(4))]",
    ),
    "leaves_out_the_last": ("memory", LOWERED, r"range\(T\.int64\(6\)\)", "range(T.int64(5))"),
    "subtracts_in_a_loop": ("memory", LOWERED, r"T_add\[v_ax0\] = (.*) \+ ", r"T_add[v_ax0] = \1 - "),
    "starts_a_sum_at_one": ("values", LOWERED, r"\] = T\.float32\(0\.0\)", "] = T.float32(1.0)"),
    "plans_storage_too_short": ("memory", PLANNED, storage_of(16), None),
    "plans_one_storage_for_two": ("memory", PLANNED, one_storage, None),
}

#: Name -> the same.
RIGHT = {
    "changes_nothing": ("values", EARLY + LOWERED, r"\Z", ""),
    "renames_a_variable": ("memory", EARLY + LOWERED, r"\bb\b", "renamed"),
    "commutes_a_sum": ("memory", EARLY, r"R\.add\(x, y\)", "R.add(y, x)"),
    "adds_a_dead_binding": ("values", EARLY, r"(\n +)(a: .* = )", r"\1unused = R.exp(x)\1\2"),
    "names_a_copy": ("memory", EARLY + LOWERED, r"(\n +)return d", r"\1copy = d\1return copy"),
    "computes_twice": ("memory", EARLY, r"R\.multiply\(a, y\)", "R.multiply(R.add(x, y), y)"),
    "doubles_by_a_product": ("sizes", EARLY, r"R\.add\(x, x\)", 'R.multiply(x, R.const(2.0, "float32"))'),
    "moves_a_constant": ("values", EARLY, r"R\.multiply\(a, (R\.const\(.*?\))\)", r"R.multiply(\1, a)"),
    "commutes_a_maximum": ("values", EARLY, r"R\.maximum\(b, x\)", "R.maximum(x, b)"),
    "adds_a_private_function": (
        "values",
        EARLY,
        r"(    @R\.function\n    def main)",
        '    @R.function(private=True)\n    def unused(a: R.Tensor((), "float32")) -> R.Tensor((), "float32"):\n'
        r"        return a\n\n\1",
    ),
    "commutes_in_a_loop": ("memory", LOWERED, r"(T_add\[v_ax0\] = )(.*) \+ (.*)", r"\1\3 + \2"),
    "plans_storage_longer": ("memory", PLANNED, storage_of(64), None),
}


def edited(name, what, replacement):
    """The pass that edits a module, in place, as careless passes do."""
    import tvm
    from trial import without_metadata
    from tvm import relax

    from text import parse_text

    @tvm.transform.module_pass(opt_level=0, name=name)
    def run(mod, _context):
        if callable(what):
            for gv, func in list(mod.functions.items()):
                if isinstance(func, relax.Function):
                    mod[gv] = what(func)
            return mod
        made = parse_text(*without_metadata(re.sub(what, replacement, mod.script(show_meta=True))))
        for gv in list(mod.get_global_vars()):
            del mod[gv]
        for gv, func in made.functions.items():
            mod[gv] = func
        return mod

    return run


# Outside of TVM only the tables are of interest.
with contextlib.suppress(ImportError):
    globals().update({name: edited(name, *edit[2:]) for name, edit in {**WRONG, **RIGHT}.items()})
