"""Wrong passes and right ones, for `blame_seeded.py`.

`WRONG` and `RIGHT` say of each pass which program it is for, in front of which passes of the pipeline it may stand, and
what it does: patterns in the text of the module, each with what takes its place, or a function of a Relax function.
`relax-spec blame --pass seeded_passes.py:NAME` runs one.
"""

import contextlib
import re

from seeded_edits import (
    another_size,
    free_a_variable,
    kill_later,
    kill_the_result,
    kill_too_early,
    nest_a_call,
    one_storage,
    storage_of,
    with_calls,
)

#: The passes of the default pipeline, in their order, behind the one that local functions need.
PIPELINE = (
    "LambdaLift",
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
#: Programs of which only the first passes accept what becomes of them.
SHORTER = {"closures": 4}
#: Where local functions are, before operators are lowered, behind that with and without DataflowBlocks, where memory is
#: planned, where it is freed, and at the end.
LOCAL = PIPELINE[:1]
EARLY = PIPELINE[:4]
LOWERED = PIPELINE[4:8]
PLANNED = PIPELINE[9:10]
FREED = PIPELINE[11:12]
AT_THE_END = PIPELINE[14:]

#: A binding in front of the call of an operator without a result.
UNBOUND = r"(?:\w+(?:: R\.Tuple)? = )?"

#: Name -> program, places, what it does.
WRONG = {
    # Effects.
    "drops_an_effect": ("effects", EARLY, (rf"\n +{UNBOUND}R\.print\(x,.*", "")),
    "doubles_an_effect": ("effects", EARLY, (rf"(\n +){UNBOUND}(R\.print\(x,.*)", r"\1\2\1\2")),
    "reorders_effects": ("effects", EARLY, (rf"(\n +{UNBOUND}R\.print\(a,.*)(\n.*R\.print\(x,.*)", r"\2\1")),
    "prints_something_else": ("effects", EARLY, (r"R\.print\(a,", "R.print(y,")),
    "promises_purity": ("effects", EARLY, (r"@R\.function\(pure=False\)", "@R.function(pure=True)")),
    "drops_an_assertion": ("checks", EARLY, (rf"\n +{UNBOUND}R\.assert_op\(.*", "")),
    "moves_an_effect_out_of_a_branch": (
        "checks",
        EARLY,
        (rf"(\n +)if c:\n +{UNBOUND}(R\.print\(.*)", r"\1\2\1if c:"),
    ),
    # Casts and datatypes.
    "loses_a_match_cast": ("casts", EARLY, (r"R\.match_cast\(y, R\.Tensor\(\(n,\).*\)", "y")),
    "loses_a_cast": ("casts", EARLY, (r"R\.astype\(b, dtype=\"int8\"\)", "R.minimum(R.maximum(b, b), b)")),
    "moves_a_cast": ("casts", EARLY, (r"R\.astype\(a, dtype=\"int32\"\)", 'R.astype(R.floor(a), dtype="int32")')),
    "fuses_over_a_cast": (
        "casts",
        LOWERED,
        (r"c: T\.Buffer\(\(n,\), \"int8\"\)", 'c: T.Buffer((n,), "int32")'),
        (r"\(cls\.cast2, \(c,\)", "(cls.cast2, (b,)"),
    ),
    "rounds_in_between": (
        "values",
        EARLY,
        (r"R\.maximum\(b, x\)", 'R.maximum(R.astype(R.astype(b, dtype="float16"), dtype="float32"), x)'),
    ),
    "moves_a_sum_over_a_cast": (
        "integers",
        EARLY,
        (r"R\.astype\(c, dtype=\"int32\"\)", 'R.add(R.astype(b, dtype="int32"), R.astype(y, dtype="int32"))'),
    ),
    "takes_it_as_unsigned": (
        "integers",
        EARLY,
        (r"R\.astype\(x, dtype=\"int32\"\)", 'R.astype(R.astype(x, dtype="uint8"), dtype="int32")'),
    ),
    # Values.
    "exchanges_operands": ("values", EARLY, (r"R\.subtract\(x, y\)", "R.subtract(y, x)")),
    "folds_a_constant_wrongly": ("values", EARLY, (r"R\.const\(3\.0, \"float32\"\)", 'R.const(2.0, "float32")')),
    "folds_a_call_wrongly": ("tuples", EARLY, (r"(k: .* = ).*", r'\1R.const(3.5, "float32")')),
    "takes_the_minimum": ("values", EARLY, (r"R\.maximum\(b, x\)", "R.minimum(b, x)")),
    "exchanges_a_product": ("values", EARLY, (r"R\.matmul\(c, y", "R.matmul(y, c")),
    "loses_a_transposition": ("values", EARLY, (r"axes=\[1, 0\]", "axes=[0, 1]")),
    "sums_along_another_axis": ("values", EARLY, (r"axis=\[0\]", "axis=[1]")),
    "distributes_wrongly": ("values", EARLY, (r"R\.multiply\(a, R\.const", "R.subtract(a, R.const")),
    "rounds_a_quotient_up": (
        "integers",
        EARLY,
        (r"R\.floor_divide\(a, (R\.const\(.*?\))\)", r"R.negative(R.floor_divide(R.negative(a), \1))"),
    ),
    "folds_a_shift_wrongly": ("integers", EARLY, (r"R\.multiply\(x, R\.const\(8,", "R.left_shift(x, R.const(2,")),
    "compares_or_equal": ("integers", EARLY, (r"R\.less\(", "R.less_equal(")),
    "exchanges_a_choice": ("integers", EARLY, (r"R\.where\(e, d, f\)", "R.where(e, f, d)")),
    "merges_different_values": ("tuples", EARLY, (r"R\.subtract\(p, s\)", "R.subtract(s, p)")),
    "takes_another_field": ("tuples", EARLY, (r"= t\[0\]", "= t[1]")),
    "exchanges_results": ("tuples", EARLY, (r"return \(o, z\)", "return (z, o)")),
    "starts_a_slice_later": ("slices", EARLY, (r"\((R\.prim_value\()?0(\)?),\), \(.*?3\)?,\)", r"(\g<1>1\2,), (\g<1>4\2,)")),
    "pads_with_one": ("slices", EARLY, (r"pad_value=0\.0", "pad_value=1.0")),
    "narrows_a_clip": ("slices", EARLY, (r"(R\.clip\(d, .*, (?:R\.prim_value\()?)6", r"\g<1>5")),
    # Control flow, functions and variables.
    "takes_one_branch": ("branches", EARLY, (r"if c:", 'if R.const(True, "bool"):')),
    "exchanges_arguments": ("branches", EARLY + LOWERED, (r"cls\.minus\(x, y\)", "cls.minus(y, x)")),
    "passes_an_argument_twice": ("tuples", EARLY, (r"cls\.both\(x, y\)", "cls.both(x, x)")),
    "exchanges_parameters": ("tuples", EARLY, (r"def main\(x: (.*?\)), y: ", r"def main(y: \1, x: ")),
    "captures_another_variable": ("closures", LOCAL, (r"R\.subtract\(p, a\)", "R.subtract(p, b)")),
    "calls_a_closure_with_what_it_captures": ("closures", LOCAL, (r"inner\(b\)", "inner(a)")),
    "stops_a_loop_early": ("loop", EARLY, (r"R\.less\(i, R\.const\(3,", "R.less(i, R.const(2,")),
    "counts_by_two": ("loop", EARLY, (r"R\.add\(i, R\.const\(1,", "R.add(i, R.const(2,")),
    "loses_what_a_loop_carries": ("loop", EARLY, (r"cls\.power\(j, b\)", "cls.power(j, a)")),
    "frees_a_variable": ("values", EARLY, free_a_variable),
    "nests_a_call": ("values", EARLY, nest_a_call),
    "loses_an_exported_function": (
        "branches",
        EARLY,
        (r"@R\.function\n    def other", "@R.function(private=True)\n    def other"),
    ),
    "forgets_a_purity": ("branches", EARLY, (r"@R\.function\n    def other", "@R.function(pure=False)\n    def other")),
    # Information and sizes.
    "weakens_information": (
        "sizes",
        EARLY,
        (r"(c: |-> )R\.Tensor\(\(\"?n \* 4\"?,\), dtype=\"float32\"\)", r'\1R.Tensor(dtype="float32", ndim=1)'),
    ),
    "weakens_a_binding": (
        "sizes",
        EARLY,
        (r"c: R\.Tensor\(\(n \* 4,\), dtype=\"float32\"\)", 'c: R.Tensor(dtype="float32", ndim=1)'),
    ),
    "falsifies_a_result": ("symbols", EARLY, (r'-> R\.Tensor\(\(("?)n"?, "?m"?\)', r"-> R.Tensor((\1m\1, \1n\1)")),
    "reverses_a_size": (
        "sizes",
        EARLY,
        (
            r"R\.reshape\(a, R\.shape\(\[n \* 4\]\)\)",
            "R.reshape(R.permute_dims(a, axes=[1, 0]), R.shape([n * 4]))",
        ),
    ),
    "takes_another_size": ("sizes", AT_THE_END, with_calls(another_size)),
    # Loops.
    "off_by_one_in_a_tail": (
        "memory",
        LOWERED,
        (r"T_subtract\[v_ax0\] = (\w+)\[v_ax0\]", r"T_subtract[v_ax0] = \1[T.min(v_ax0, T.int64(4))]"),
    ),
    "leaves_out_the_last": ("memory", LOWERED, (r"range\(T\.int64\(6\)\)", "range(T.int64(5))")),
    "subtracts_in_a_loop": ("memory", LOWERED, (r"T_add\[v_ax0\] = (.*) \+ ", r"T_add[v_ax0] = \1 - ")),
    "reads_behind_the_end": ("memory", LOWERED, (r"- a\[v_ax0\]", "- a[v_ax0 + T.int64(1)]")),
    "splits_a_loop_wrongly": (
        "memory",
        LOWERED,
        (r"for ax0 in range\(T\.int64\(6\)\):", "for i, j in T.grid(T.int64(2), T.int64(3)):"),
        (r"T\.axis\.spatial\(T\.int64\(6\), ax0\)", "T.axis.spatial(T.int64(6), i * T.int64(2) + j)"),
    ),
    "starts_a_sum_at_one": ("values", LOWERED, (r"\] = T\.float32\(0\.0\)", "] = T.float32(1.0)")),
    "starts_a_sum_nowhere": ("values", LOWERED, (r"\n +with T\.init\(\):\n.*", "")),
    "leaves_out_the_last_of_a_sum": (
        "values",
        LOWERED,
        (r"for ax0, k0 in T\.grid\(T\.int64\(4\), T\.int64\(4\)\)", "for ax0, k0 in T.grid(T.int64(4), T.int64(3))"),
    ),
    "sums_in_half": (
        "values",
        LOWERED,
        (r"f_red\[v_ax0\] = (f_red\[v_ax0\] \+ .*)", r'f_red[v_ax0] = T.Cast("float32", T.Cast("float16", \1))'),
    ),
    "reads_along_the_wrong_axis": ("values", LOWERED, (r"= d\[v_ax1, v_ax0\]", "= d[v_ax0, v_ax1]")),
    "scales_otherwise": ("lengths", LOWERED, (r"\* T\.float32\(0\.5\)", "* T.float32(0.25)")),
    "takes_another_extent": ("symbols", LOWERED, (r"in T\.grid\(n, m\)", "in T.grid(n, n)")),
    # Memory.
    "overwrites_what_is_needed": (
        "memory",
        LOWERED,
        (r", T_multiply: T\.Buffer\(.*?\"float32\"\)", ""),
        (r"T_multiply\[", "a["),
        (r"R\.call_tir\((cls\.multiply, \(a, y\)), ", r"R.call_tir_inplace(\1, inplace_indices=[0], "),
    ),
    "plans_storage_too_short": ("memory", PLANNED, storage_of(16)),
    "plans_one_storage_for_two": ("memory", PLANNED, one_storage),
    "kills_too_early": ("memory", FREED, kill_too_early),
    "kills_the_result": ("memory", FREED, kill_the_result),
}

#: Name -> the same.
RIGHT = {
    "changes_nothing": ("values", EARLY + LOWERED, (r"\Z", "")),
    # Names and functions.
    "renames_a_variable": ("memory", EARLY + LOWERED, (r"\bb\b", "renamed")),
    "renames_a_private_function": ("tuples", EARLY, (r"\bboth\b", "each")),
    "names_a_copy": ("memory", EARLY + LOWERED, (r"(\n +)return d", r"\1copy = d\1return copy")),
    "binds_behind_a_closure": ("closures", LOCAL, (r"(\n +b: .*)((?:\n.*)*?return q)", r"\2\1")),
    "inlines_a_closure": ("closures", LOCAL, (r"inner\(b\)", "R.subtract(b, a)")),
    "inlines_a_call": ("tuples", EARLY, (r"cls\.both\(x, y\)", "(R.subtract(x, y), R.multiply(x, y))")),
    "adds_a_private_function": (
        "values",
        EARLY,
        (
            r"(    @R\.function\n    def main)",
            '    @R.function(private=True)\n    def unused(a: R.Tensor((), "float32")) -> R.Tensor((), "float32"):\n'
            r"        return a\n\n\1",
        ),
    ),
    "unrolls_a_step": (
        "loop",
        EARLY,
        (
            r"cls\.power\(R\.const\(0, \"int32\"\), x\)",
            'cls.power(R.const(1, "int32"), R.multiply(x, R.const(2.0, "float32")))',
        ),
    ),
    # Bindings.
    "adds_a_dead_binding": ("values", EARLY, (r"(\n +)(a: .* = )", r"\1unused = R.exp(x)\1\2")),
    "removes_a_dead_binding": ("tuples", EARLY, (r"\n +dead: .*", "")),
    "merges_equal_bindings": ("tuples", EARLY, (r"(w: .* = ).*", r"\1u")),
    "reorders_pure_bindings": ("tuples", EARLY, (r"(\n +u: .*)(\n +v: .*)", r"\2\1")),
    "computes_twice": ("memory", EARLY, (r"R\.multiply\(a, y\)", "R.multiply(R.add(x, y), y)")),
    "computes_before_a_branch": (
        "checks",
        EARLY,
        (r"(\n +)if c:", r"\1before = R.exp(x)\1if c:"),
        (r"(a: .* = )R\.exp\(x\)", r"\1before"),
    ),
    "computes_before_an_effect": (
        "effects",
        EARLY,
        (rf"((?:\n +{UNBOUND}R\.print\(.*){{2}})(\n +b: .*)", r"\2\1"),
    ),
    # Values.
    "commutes_a_sum": ("memory", EARLY, (r"R\.add\(x, y\)", "R.add(y, x)")),
    "commutes_a_maximum": ("values", EARLY, (r"R\.maximum\(b, x\)", "R.maximum(x, b)")),
    "moves_a_constant": ("values", EARLY, (r"R\.multiply\(a, (R\.const\(.*?\))\)", r"R.multiply(\1, a)")),
    "doubles_by_a_product": ("sizes", EARLY, (r"R\.add\(x, x\)", 'R.multiply(x, R.const(2.0, "float32"))')),
    "folds_a_call": ("tuples", EARLY, (r"(k: .* = ).*", r'\1R.const(3.0, "float32")')),
    "adds_zero": ("integers", EARLY, (r"R\.add\(b, y\)", 'R.add(R.add(b, y), R.const(0, "int8"))')),
    "multiplies_by_a_shift": ("integers", EARLY, (r"R\.multiply\(x, R\.const\(8,", "R.left_shift(x, R.const(3,")),
    "subtracts_the_negative": ("integers", EARLY, (r"R\.add\(b, y\)", "R.subtract(b, R.negative(y))")),
    "negates_a_choice": ("integers", EARLY, (r"R\.where\(e, d, f\)", "R.where(R.logical_not(e), f, d)")),
    "compares_the_other_way": ("integers", EARLY, (r"R\.less\(x, y\)", "R.greater(y, x)")),
    "casts_in_two_steps": (
        "integers",
        EARLY,
        (r"R\.astype\(c, dtype=\"int32\"\)", 'R.astype(R.astype(c, dtype="int16"), dtype="int32")'),
    ),
    "moves_a_negation": ("slices", EARLY, (r"R\.negative\(f\)", "R.min(R.negative(e), axis=[1])")),
    "concatenates_the_other_way": ("slices", EARLY, (r"R\.concat\(\(x, c\)", "R.concat((c, x)")),
    "transposes_twice": (
        "values",
        EARLY,
        (r"R\.maximum\(b, x\)", "R.maximum(R.permute_dims(R.permute_dims(b, axes=[1, 0]), axes=[1, 0]), x)"),
    ),
    # Sizes.
    "spells_a_size_differently": ("sizes", EARLY, (r"R\.shape\(\[n \* 4\]\)", "R.shape([4 * n])")),
    "reshapes_and_back": (
        "symbols",
        EARLY,
        (r"R\.multiply\(a, y\)", "R.multiply(a, R.reshape(R.reshape(y, R.shape([m, 1])), R.shape([m])))"),
    ),
    "broadcasts_a_constant": ("symbols", EARLY, (r"R\.subtract\(c, b\)", 'R.subtract(c, R.const(2.0, "float32"))')),
    # Loops.
    "commutes_in_a_loop": ("memory", LOWERED, (r"(T_add\[v_ax0\] = )(.*) \+ (.*)", r"\1\3 + \2")),
    "splits_a_loop": (
        "memory",
        LOWERED,
        (r"for ax0 in range\(T\.int64\(6\)\):", "for i, j in T.grid(T.int64(2), T.int64(3)):"),
        (r"T\.axis\.spatial\(T\.int64\(6\), ax0\)", "T.axis.spatial(T.int64(6), i * T.int64(3) + j)"),
    ),
    "reverses_a_loop": (
        "memory",
        LOWERED,
        (r"T\.axis\.spatial\(T\.int64\(6\), ax0\)", "T.axis.spatial(T.int64(6), T.int64(5) - ax0)"),
    ),
    "fuses_two_loops": (
        "memory",
        LOWERED,
        (r"= a\[v_ax0\] \* y\[v_ax0\]", "= (a[v_ax0] + y[v_ax0]) * y[v_ax0]"),
        (r"(cls\.multiply, )\(a, y\)", r"\1(x, y)"),
    ),
    "sums_backwards": (
        "values",
        LOWERED,
        (r"\bf\[v_k0, v_ax0\]", "f[T.int64(3) - v_k0, v_ax0]"),
    ),
    # Memory.
    "overwrites_what_is_not_needed": (
        "memory",
        LOWERED,
        (r", T_subtract: T\.Buffer\(.*?\"float32\"\)", ""),
        (r"T_subtract\[", "a["),
        (r"R\.call_tir\((cls\.subtract, \(b, a\)), ", r"R.call_tir_inplace(\1, inplace_indices=[1], "),
    ),
    "plans_storage_longer": ("memory", PLANNED, storage_of(64)),
    "kills_later": ("memory", FREED, kill_later),
}
#: The passes whose result is the module that they are given, but for names.
SAME = ("changes_nothing", "renames_a_variable", "renames_a_private_function")


def edited(name, edits):
    """The pass that edits a module, in place, as careless passes do."""
    import tvm
    from trial import without_metadata
    from tvm import relax

    from text import parse_text

    @tvm.transform.module_pass(opt_level=0, name=name)
    def run(mod, _context):
        if callable(edits[0]):
            for gv, func in list(mod.functions.items()):
                if isinstance(func, relax.Function):
                    mod[gv] = edits[0](func)
            return mod
        text = mod.script(show_meta=True)
        for pattern, replacement in edits:
            text = re.sub(pattern, replacement, text)
        made = parse_text(*without_metadata(text))
        for gv in list(mod.get_global_vars()):
            del mod[gv]
        for gv, func in made.functions.items():
            mod[gv] = func
        return mod

    return run


# Outside of TVM only the tables are of interest.
with contextlib.suppress(ImportError):
    globals().update({name: edited(name, edits) for name, (_, _, *edits) in {**WRONG, **RIGHT}.items()})
