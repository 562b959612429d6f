"""Tests of `known_causes.py`, which need neither TVM nor a build: `python3 test_known_causes.py`."""

import tempfile
import unittest

from known_causes import BROKEN, CAUSES, REFUSED, Accused, Judge, by_refusal, rewritten
from known_messages import by_message

POOL = 'z = R.nn.max_pool2d(x, out_layout="NHWC")\n'
PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        a = R.not_equal(x, y)
        b = R.log_add_exp(x, y)
        return (a, b)
"""


def allowed(name):
    return {"pass": name, "verdict": "allowed", "contracts": []}


def wrong(name, message, module=None):
    return {"pass": name, "verdict": "not allowed", "contracts": [], "message": message, "module": module}


class Causes(unittest.TestCase):
    def causes(self, name, ask, is_as=lambda before, after: False):
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", lambda path, given, name: ask(path.read_text()))
            judge.is_as = is_as
            return judge.causes(Accused(PROGRAM, name))

    def test_a_pass_that_is_allowed_without_the_condition(self):
        ask = lambda text: [allowed("P") if "R.where(R.equal(x, x), x" in text else wrong("P", "other bits")]
        self.assertEqual(self.causes("P", ask), ["not-equal-of-nan"])

    def test_another_defect_of_the_same_operator_stays(self):
        self.assertIsNone(self.causes("P", lambda text: [wrong("P", "other bits")]))

    def test_what_the_condition_does_to_a_contract_is_no_part_of_another_accusation(self):
        broken = {"contract": "information", "message": "less is known"}
        ask = lambda text: [{**allowed("P"), "contracts": [broken]} if "R.where(" in text else wrong("P", "other bits")]
        self.assertEqual(self.causes("P", ask), ["not-equal-of-nan"])
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", lambda path, given, name: ask(path.read_text()))
            self.assertIsNone(judge.causes(Accused("a = R.not_equal(x, y)\n", "P", BROKEN)))

    def test_a_wrong_element_of_topk_is_not_one_that_was_not_written(self):
        ask = lambda path, given, name: [allowed("P") if "k=0" in path.read_text() else wrong("P", "said")]
        for message, cause in (("at `y` " + UNWRITTEN, ["topk-of-a-short-axis"]), ("the source returns 1, the target 2", None)):
            with tempfile.TemporaryDirectory() as folder:
                judge = Judge("relax-spec", folder, 5, "2024-04", ask)
                self.assertEqual(judge.causes(Accused("y = R.topk(x, k=4)\n", "P", message=message)), cause)

    def test_a_pass_that_did_not_run_says_nothing(self):
        self.assertIsNone(self.causes("P", lambda text: [allowed("Q")]))

    def test_what_the_finding_says_that_is_computed(self):
        is_as = lambda before, after: after == "made" and "R.log(R.add(R.exp(x), R.exp(y)))" in before
        ask = lambda text: [wrong("P", "other bits", "made")]
        self.assertEqual(self.causes("P", ask, is_as), ["log-add-exp-near-one"])

    def test_several_causes_in_one_program(self):
        is_as = lambda before, after: "R.where(R.equal(x, x), x" in before and "R.log(" in before
        ask = lambda text: [wrong("P", "other bits", "made")]
        self.assertEqual(self.causes("P", ask, is_as), ["log-add-exp-near-one", "not-equal-of-nan"])

    def test_the_release_is_asked_a_few_times_however_many_causes_there_may_be(self):
        operators = ("not_equal", "tanh", "atanh", "nn.gelu", "max", "mean", "image.grid_sample")
        program = "".join(f"y = R.{operator}(x, z)\n" for operator in operators)
        asked = []

        def ask(path, given, name):
            asked.append(path.read_text())
            return [wrong("P", "other bits")]

        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", ask)
            self.assertIsNone(judge.causes(Accused(program, "P")))
        self.assertLess(len(asked), 2 * len(operators))

    def test_a_wrong_sum_is_not_one_of_unknown_sizes(self):
        ask = lambda path, given, name: [allowed("P") if "R.add(x, x)" in path.read_text() else wrong("P", "other bits")]
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", ask)
            self.assertIsNone(judge.causes(Accused("z = R.add(x, y)\n", "P")))
            self.assertEqual(judge.causes(Accused("z = R.add(x, y)\n", "P", REFUSED)), ["sum-of-unknown-sizes"])

    def test_a_program_that_is_refused_no_more_may_show_another_defect(self):
        refused = {"refuses": "P", "message": "CodeGenVM cannot handle this"}
        ask = lambda path, given, name: [
            wrong("P", "other bits") if "R.layout_transform(R.nn.max_pool2d(x)" in path.read_text() else refused
        ]
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", ask)
            self.assertIn("out", judge.causes(Accused(POOL, "P", REFUSED))[0])
            self.assertIsNone(judge.causes(Accused(POOL, "P")))

    def test_what_is_undecided_elsewhere_is_asked_on_the_arguments_that_accuse(self):
        undecided = {"pass": "P", "verdict": "undecided", "contracts": [], "message": "an index is outside"}
        with tempfile.TemporaryDirectory() as folder:
            ask = lambda path, given, name: [allowed("P") if given == ("1:int8",) else undecided]
            judge = Judge("relax-spec", folder, 5, "2024-04", ask)
            self.assertEqual(judge.causes(Accused("z = R.atanh(x)\n", "P", given=("1:int8",))), ["atanh-of-small"])
            self.assertIsNone(judge.causes(Accused("z = R.atanh(x)\n", "P")))

    def test_one_run_shows_most_causes_to_be_none(self):
        asked = []
        ask = lambda path, given, name: asked.append(given) or [wrong("P", "other bits")]
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge("relax-spec", folder, 5, "2024-04", ask)
            self.assertIsNone(judge.causes(Accused("z = R.atanh(x)\n", "P", given=("2:int8",))))
        self.assertEqual(asked, [("2:int8",)] * 2)

    def test_only_a_causal_attention_has_small_scores(self):
        row = [cause for cause in CAUSES if cause[0] == "causal-attention-of-negative-scores"]
        self.assertIn("R.minimum(R.maximum(q,", rewritten("z = R.nn.attention(q, k, v, causal_mask='TopLeft')\n", row))
        self.assertIn("R.nn.attention(q, k, v)", rewritten("z = R.nn.attention(q, k, v)\n", row))

    def test_places_and_boundaries_of_the_type_of_the_result(self):
        row = [cause for cause in CAUSES if cause[0] == "bucketize-of-floats"]
        self.assertIn(
            "R.bucketize(R.astype(x, 'int32'), R.astype(b, 'int32'), out_int32=True)",
            rewritten("z = R.bucketize(x, b, out_int32=True)\n", row),
        )


class Messages(unittest.TestCase):
    def test_only_the_condition_of_the_finding(self):
        read = lambda name, index, shape, of="LegalizeOps": by_message(
            f"{UNDEFINED}: @{name}: `x[{index}]` is outside of the shape [{shape}]", of
        )
        self.assertEqual(read("broadcast_to", "0, 1", "4, 1"), "broadcast-of-a-symbolic-size")
        # The second axis has the size 2: an index is wrong.
        self.assertIsNone(read("broadcast_to", "0, 2", "4, 2"))
        self.assertEqual(read("index_tensor", "-1, 0", "4, 3"), "negative-index-of-a-tensor")
        self.assertIsNone(read("index_tensor", "4, 0", "4, 3"))
        self.assertIsNone(read("index_tensor", "-5, 0", "4, 3"))
        self.assertIsNone(read("take", "-1, 0", "4, 3"))
        self.assertIsNone(read("index_tensor", "-1, 0", "4, 3", "FuseTIR"))
        # The second function of the name.
        self.assertEqual(read("index_tensor1", "-1, 0", "4, 3"), "negative-index-of-a-tensor")

    def test_sizes_that_are_not_compared(self):
        fails = "the source fails outside of DataflowBlocks, the target gives a value"
        by_sizes = lambda why: by_message(f"{fails}: {why}", "LegalizeOps")
        self.assertEqual(by_sizes("the data has 1 channels, the weight takes 2 [PURE.ERR.OP]"), "product-of-unequal-sizes")
        divided = "an integer is divided by zero [PURE.ERR.OP]"
        self.assertIsNone(by_sizes(divided))
        error = f"the source fails outside of DataflowBlocks, the target gives a value: {divided}"
        self.assertEqual(by_message(error, "FoldConstant"), "unused-call-outside-of-blocks")
        self.assertIsNone(by_message(error, "LegalizeOps"))

    def test_the_shape_of_a_sampled_image(self):
        said = "`{}` is annotated as Tensor((1, 2, 2, 2)), but its value is Tensor((1, 2, 2, 4))"
        broken = f'{{"contract": "well-formed", "message": "{said}", "rule": "SI.DERIVE.VB.ANNOT.ERR"}}'
        program = "y = R.image.grid_sample(x, g)\nz: R.Object = R.add(x, x)\n"
        by_name = lambda name, of="Normalize": by_message(broken.replace("{}", name), of, program)
        self.assertEqual(by_name("y"), "grid-of-places-in-inference")
        self.assertIsNone(by_name("z"))
        self.assertIsNone(by_name("y", "FuseOps"))

    def test_refusals_by_the_ledger(self):
        said = "InternalError: repeat only accepts `repeats >= 1`, but got repeats = 0"
        self.assertEqual(by_refusal(said, "y = R.repeat(x, 0)"), "repeat-no-times")
        self.assertIsNone(by_refusal(said, "y = R.tile(x, 0)"))
        vague = "InternalError: Check failed: pb->value != 0 (0 vs. 0) : Divide by zero"
        self.assertIsNone(by_refusal(vague, "y = R.mean(x)"))
        self.assertEqual(by_refusal(vague, "y = R.mean(x)", True), "mean-of-nothing")
        left = "an operator that TVM leaves to the passes of others"
        said = "CodeGenVM cannot emit this Relax operator directly. Offending call: R.{}"
        self.assertEqual(by_refusal(said.format("ewise_fma(x, x, x)"), "y = R.ewise_fma(x, x, x)"), left)
        add = lambda text, is_smallest: by_refusal(said.format("add(x, y)"), text, is_smallest)
        symbolic = 'def main(x: R.Tensor(("n",))): n = T.int64()'
        self.assertEqual(add(symbolic, True), "sum-of-unknown-sizes")
        self.assertIsNone(add(symbolic, False))
        self.assertIsNone(add("def main(x: R.Tensor((2,)))", True))

    def test_only_what_the_program_asks_for(self):
        said = "the target fails: topk raised an error: Unsupported output dtype: uint32 [PURE.ERR.OP]"
        asked = lambda dtype: f'        y = R.topk(x, k=2, axis=-1, ret_type="both", largest=True, dtype="{dtype}")\n'
        self.assertEqual(by_message(said, "code generation", asked("uint32")), "topk-places-as-uint32")
        # A pass has changed the data type.
        self.assertIsNone(by_message(said, "code generation", asked("int32")))
        self.assertIsNone(by_message(said, "code generation", asked("uint64")))
        self.assertIsNone(by_message(said, "LegalizeOps", asked("uint32")))

    def test_the_gradient_of_a_pool_reads_behind(self):
        read = lambda index, shape: by_message(
            f"@max_pool2d_backward: `maxpool_grad_argmax_v0[{index}]` is outside of the shape [{shape}]", "LegalizeOps"
        )
        self.assertEqual(read("0, 0, 4, 1", "1, 1, 4, 4"), "max-pool-backward-behind-the-gradient")
        self.assertIsNone(read("0, 0, -1, 1", "1, 1, 4, 4"))


def contract(name, message, rule):
    return f'{{"contract": "{name}", "message": "{message}", "rule": "{rule}"}}'


UNDEFINED = "the source gives a value, the target does what is undefined"
SIZE = 'def main(x: R.Tensor(({}), dtype="float32")):\n    y = R.size(x)'
UNWRITTEN = "a tensor is read that was not written in every element"
OUTSIDE_SIZE = '    def main(x: R.Tensor((2, "n5", "n6"))):\n        def f(y: R.Tensor((n7,))):'
SEGFAULT = "TVM's process ended: signal 11 (SIGSEGV)"
LOST_CAST = (
    "the source fails outside of DataflowBlocks, the target gives a value: "
    "dimension 0: expected m = 1, found 0 [SI.MATCHCAST.TENSOR.EVAL]"
)
#: The cause, the pass, what is said of it, and the program.
KNOWN = [
    (
        "a size that only a boxed integer gives, which the releases from 0.26 on have no form for",
        "TVM",
        "Rejected: error: Prim() got an unexpected keyword argument 'value'",
        'def f(x: R.Prim("int64", value=n)):',
    ),
    ("boxed-boolean-as-a-number", "code generation", "the source returns (true, 2, false), the target (1, 2, 0)", ""),
    (
        "unused-parameter-with-a-check",
        "RemoveUnusedParameters",
        "the source fails outside of DataflowBlocks, the target gives a value: parameter x2: dimension 1: expected 0, "
        "found 1 [SI.MATCHCAST.TENSOR.EVAL]",
        "",
    ),
    ("projections-alone-in-a-function", "FuseTIRInner", 'Check failed: (func_info_.global_name != "fused") is false:', ""),
    ("size-of-a-scalar", "LegalizeOps", f"{UNDEFINED}: at `v3` {UNWRITTEN}", SIZE.format("")),
    ("sum-of-nothing-unwritten", "LegalizeOps", f"{UNDEFINED}: at `v3` {UNWRITTEN}", "y = R.sum(x, axis=0)"),
    ("scan-along-nothing", "LegalizeOps", f"{UNDEFINED}: @cumsum: division of 0 by zero", "y = R.cumsum(x, axis=0)"),
    (
        "reshape-pattern-of-a-computed-size",
        "RewriteDataflowReshape",
        "InternalError: Check failed: (CanProveDivisible(info.padding_factor, divisor)) is false: The padding factor",
        "y = R.permute_dims(x)",
    ),
    (
        "field-of-a-closure-result",
        "LowerRuntimeBuiltin",
        contract(
            "well-formed", "the body is Object, where the function returns Tensor((2), float32) (main)", "SI.DERIVE.FUNC.RET-ERR"
        ),
        "",
    ),
    (
        "lifted-size-of-the-outside",
        "LambdaLift",
        contract(
            "no free variable", "`n1 - 1` does not bind the new shape variable `n1`, which is not alone (f/params[0])", "WF.ALONE"
        ),
        "",
    ),
    (
        "lifted-size-of-the-outside",
        "LambdaLift",
        contract("well-formed", "the annotation uses `n1`, which is not in scope (f/params[0])", "WF23-12.14.DIMS-SCOPE"),
        "",
    ),
    (
        "lifted-size-of-the-outside",
        "LambdaLift",
        contract("no free variable", "the shape variable `n5` is not bound at this point (main_f/body)", "WF.5.BEFORE"),
        OUTSIDE_SIZE,
    ),
    (
        "lifted-size-of-the-outside",
        "LambdaLift",
        contract("well-formed", "no parameter has `n5`, `n6` as a dimension alone (main_f)", "WF23-12.6.COVER"),
        OUTSIDE_SIZE,
    ),
    (
        "transposed-convolution-of-nothing",
        "LegalizeOps",
        f"{UNDEFINED}: @conv2d_transpose: dimension 3 is -2, which is negative",
        "",
    ),
    (
        "nll-gradient-of-ignored-targets",
        "LegalizeOps",
        f"{UNDEFINED}: @te_nll_loss_backward_no_weight: `T_full[-100]` is outside of the shape [1]",
        'y = R.grad.nll_loss_backward(g, x, t, reduction="sum")',
    ),
    (
        "no operator of a pool has a lowering for another layout of the result (ops/nn.avg_pool2d-8-exact in the ledger)",
        "code generation",
        'InternalError: CodeGenVM cannot emit it. Offending call: R.nn.max_pool2d(x, layout="NCHW", out_layout="NHWC")',
        "",
    ),
    (
        "dynamic-slice-behind-its-end",
        "LegalizeOps",
        "the source gives a value, the target fails: no shape has the negative size -2 [PURE.ERR.OP]",
        "y = R.dynamic_strided_slice(x, b, e, s)",
    ),
    (
        "division-by-zero",
        "LegalizeOps",
        "the source fails outside of DataflowBlocks: an integer is divided by zero [PURE.ERR.OP]; of the target nothing is said: "
        "@divide1: division of 4 by zero",
        "",
    ),
    ("sort-of-booleans", "code generation", "the target fails: argsort raised an error: Unsupported input dtype: bool ", ""),
    (
        "no pass of the default pipeline lowers it; RealizeVDevice does",
        "code generation",
        'InternalError: R.hint_on_device(x1, R.device(device_type=1, index=0), "global")',
        "",
    ),
    (
        "a copy to a device becomes a packed call, whose arguments lie where its result lies",
        "LowerRuntimeBuiltin",
        contract(
            "well-formed",
            "Tensor((4), float32, vdevice=cuda:0:global) is to lie on llvm:0:global, which is another device (main)",
            "VDEV.UPDATE.CLASH",
        ),
        "",
    ),
    (
        "pixel-shuffle-of-symbolic-channels",
        "Normalize",
        SEGFAULT,
        'def main(v: R.Tensor(("n1", "n2", 2, 3), dtype="float32")):\n    y = R.nn.pixel_shuffle(v, upscale_factor=2)',
    ),
    (
        "since 0.26 `layout_transform` has no separators of axes",
        "TVM",
        "Rejected: error: layout_transform() got an unexpected keyword argument 'axis_separators'",
        "",
    ),
    ("cast-to-a-size-of-another-cast", "KillAfterLastUse", LOST_CAST, "y = R.match_cast(x, R.Tensor((m,)))"),
    ("planned-storage-of-a-branch", "StaticPlanBlockMemory", f"{UNDEFINED}: the variable storage#1 has no value here", ""),
    ("the program does not end on this input", "LegalizeOps", "the target ran out of fuel", ""),
]
#: Neighbours of these, of which nothing is known.
UNKNOWN = [
    ("TVM", "Rejected: error: Prim() got an unexpected keyword argument 'value'", 'def f(x: R.Prim("int64", value=3)):'),
    ("code generation", "the source returns (true, 2, false), the target (1, 3, 0)", ""),
    ("code generation", "the source returns (true, 2, false), the target (1, 2, 1)", ""),
    ("ComputePrimValue", "the source returns (true, 2, false), the target (1, 2, 0)", ""),
    # Nothing in the program reduces anything.
    ("LegalizeOps", f"{UNDEFINED}: at `v3` {UNWRITTEN}", "y = R.add(x, x)"),
    ("LegalizeOps", f"{UNDEFINED}: at `v3` {UNWRITTEN}", SIZE.format("2,")),
    # A pass that lowers no reduction.
    ("DispatchSampling", f"{UNDEFINED}: at `v3` {UNWRITTEN}", "y = R.sum(x, axis=0)"),
    ("FuseTIR", f"{UNDEFINED}: at `v3` {UNWRITTEN}", "y = R.sum(x, axis=0)"),
    ("FuseTIR", f"{UNDEFINED}: @cumsum: division of 0 by zero", "y = R.cumsum(x, axis=0)"),
    ("LegalizeOps", f"{UNDEFINED}: @cumsum: division of 5 by zero", "y = R.cumsum(x, axis=0)"),
    ("FoldConstant", "InternalError: (CanProveDivisible(info.padding_factor, divisor)) is false", "y = R.permute_dims(x)"),
    ("LowerRuntimeBuiltin", contract("well-formed", "the body is Object, where the function returns", "WF.5.BEFORE"), ""),
    ("ToNonDataflow", contract("well-formed", "the body is Object, where the function returns", "SI.DERIVE.FUNC.RET-ERR"), ""),
    ("FuseOps", contract("well-formed", "the annotation uses `n1`, which is not in scope (f)", "WF23-12.14.DIMS-SCOPE"), ""),
    ("LambdaLift", contract("no free variable", "the shape variable `n1` is not bound at this point (f)", "WF.5.BEFORE"), ""),
    # A size of the lifted function itself.
    (
        "LambdaLift",
        contract("no free variable", "the shape variable `n7` is not bound at this point (f)", "WF.5.BEFORE"),
        OUTSIDE_SIZE,
    ),
    (
        "LambdaLift",
        contract("well-formed", "no parameter has `n5`, `n7` as a dimension alone (f)", "WF23-12.6.COVER"),
        OUTSIDE_SIZE,
    ),
    ("LegalizeOps", f"{UNDEFINED}: @conv2d: dimension 3 is -2, which is negative", ""),
    # A target behind the classes is no ignored one.
    (
        "LegalizeOps",
        f"{UNDEFINED}: @te_nll_loss_backward_no_weight: `T_full[7]` is outside of the shape [1]",
        'y = R.grad.nll_loss_backward(g, x, t, reduction="sum")',
    ),
    (
        "code generation",
        'InternalError: CodeGenVM cannot emit it. Offending call: R.nn.max_pool2d(x, layout="NCHW", out_layout="NCHW")',
        "",
    ),
    ("LegalizeOps", "the target fails: no shape has the negative size -2 [PURE.ERR.OP]", "y = R.strided_slice(x)"),
    ("Normalize", SEGFAULT, "def main(v: R.Tensor((1, 4, 2, 3))):\n    y = R.nn.pixel_shuffle(v, upscale_factor=2)"),
    ("Normalize", SEGFAULT, 'def main(v: R.Tensor(("n1", "n2", 2, 3))):\n    y = R.add(v, v)'),
    ("FuseTIR", "the source fails, the target gives a value: parameter x: dimension 0: expected 2 [SI.MATCHCAST]", ""),
    ("LambdaLift", LOST_CAST, "y = R.match_cast(x, R.Tensor((m,)))"),
    # A pass that makes a divisor zero.
    ("LegalizeOps", "the source gives a value, the target fails: an integer is divided by zero [PURE.ERR.OP]", ""),
    ("FuseTIR", "the source fails: an integer is divided by zero [PURE.ERR.OP]; of the target nothing is said: x", ""),
    ("code generation", "the target fails: sort raised an error: Unsupported input dtype: float32 ", ""),
    ("LegalizeOps", "the target fails: sort raised an error: Unsupported input dtype: bool ", ""),
    ("LegalizeOps", "InternalError: R.hint_on_device(x1) is printed by a pass that should not see it", ""),
    ("code generation", "InternalError: R.add(x, R.hint_on_device(x1))", ""),
    ("RealizeVDevice", contract("well-formed", "x is to lie on llvm:0:global, which is another device", "VDEV.UPDATE.CLASH"), ""),
    ("StaticPlanBlockMemory", "the source gives a value, the target fails: it ran out of fuel and storage", ""),
    ("FuseTIR", "the variable storage1 has no value here", ""),
    ("LegalizeOps", f"{UNDEFINED}: the variable storage#1 has no value here", ""),
]


class Forms(unittest.TestCase):
    """A form explains what its cause says, and no mistake of a neighbour."""

    def test_what_is_known(self):
        for cause, name, message, program in KNOWN:
            self.assertEqual(by_message(message, name, program), cause, message)

    def test_what_is_like_it(self):
        for name, message, program in UNKNOWN:
            self.assertIsNone(by_message(message, name, program), (name, message))


class Killed(unittest.TestCase):
    """A tensor that is killed while a cast has another name for it."""

    HEAD = "@R.function\ndef main(x):\n    alloc = R.builtin.alloc_tensor()\n    y = R.match_cast(alloc, R.Tensor(ndim=1))\n"
    KILL = "    _ = R.memory.kill_tensor(alloc)\n"

    def causes(self, body, name="KillAfterLastUse"):
        message = "the source gives a value, the target fails: the tensor of `alloc` in the storage of `s` is used at `z`, and "
        accused = Accused(PROGRAM, name, message=message + "was released at `_` [MEM.RELEASED]", module=self.HEAD + body)
        with tempfile.TemporaryDirectory() as folder:
            return Judge("relax-spec", folder, 5, "2024-04", lambda path, given, name: []).causes(accused)

    def test_the_name_of_a_cast_is_read_behind_it(self):
        self.assertEqual(self.causes(self.KILL + "    z = R.add(y, x)\n    return z\n"), ["killed-under-another-name"])

    def test_another_tensor_is_made_in_its_storage(self):
        message = (
            "the source gives a value, the target fails: the tensor of `alloc` in the storage of `s` is read at the end, "
            "and byte 0 of the storage was written through the tensor of `alloc1` at `_` [MEM.OVERWRITTEN]"
        )
        for used, cause in (("y", ["cast-in-reused-storage"]), ("alloc", None)):
            module = self.HEAD + f"    alloc1 = R.memory.alloc_tensor(s)\n    _ = f(alloc1)\n    return {used}\n"
            accused = Accused(PROGRAM, "StaticPlanBlockMemory", message=message, module=module)
            with tempfile.TemporaryDirectory() as folder:
                judge = Judge("relax-spec", folder, 5, "2024-04", lambda path, given, name: [])
                self.assertEqual(judge.causes(accused), cause)

    def test_a_tuple_holds_the_tensor_itself(self):
        body = "    t = (alloc, x)\n" + self.KILL + "    z = R.add(t[0], y)\n    return z\n"
        self.assertIsNone(self.causes(body))

    def test_a_branch_hands_it_on(self):
        body = "    if c:\n        _ = R.memory.kill_tensor(alloc)\n        z = y\n    else:\n        z = x\n    return z\n"
        self.assertEqual(self.causes(body), ["killed-under-another-name"])

    def test_another_mistake_of_the_same_pass(self):
        for body in [
            self.KILL + "    z = R.add(alloc, x)\n    return z\n",
            "    v = alloc\n" + self.KILL + "    z = R.add(v, y)\n    return z\n",
            "    z = R.add(y, x)\n" + self.KILL + "    return z\n",
        ]:
            self.assertIsNone(self.causes(body), body)
        self.assertIsNone(self.causes(self.KILL + "    z = R.add(y, x)\n", "LowerAllocTensor"))


class Rewriting(unittest.TestCase):
    """Each cause rewrites a call of its operator, and only that, as its folder says."""

    CALLS = {
        "batch-norm-momentum": ("R.nn.batch_norm(x, g, b, m, v, axis=1, momentum=0.25)", "momentum=0.75"),
        "affine-grid-last-place": ("R.image.affine_grid(x, R.shape([2, 1]))", "R.shape([-1, 2, 2, 1])"),
        "transposed-convolution-of-infinities": ("R.nn.conv1d_transpose(x, w)", "R.nn.conv1d_transpose(x, R.minimum("),
        "sum-of-unknown-sizes": ("R.floor_divide(x, y)", "R.floor_divide(x, x)"),
        "topk-of-a-short-axis": ("R.topk(x, k=4, ret_type='values')", "R.topk(x, ret_type='values', k=0)"),
        "causal-attention-of-negative-scores": (
            "R.nn.attention_bias(q, k, v, b, causal_mask='TopLeft')",
            "v, R.minimum(R.maximum(b, ",
        ),
        "max-pool-backward-of-nan": ("R.grad.max_pool2d_backward(g, x)", "R.grad.max_pool2d_backward(g, R.where("),
        "atanh-of-small": ("R.atanh(x)", "R.atanh(R.where("),
        "tanh-of-small": ("R.tanh(x)", "R.tanh(R.where("),
        "softplus-tail": ("R.nn.softplus(x, beta=2.0)", "R.nn.softplus(R.maximum(x, R.full_like("),
        "gelu-tail": ("R.nn.gelu(x)", "R.nn.gelu(R.maximum(x, R.full_like("),
        "regions-pooled-to-nothing": ("R.vision.roi_pool(x, r, pooled_size=(0, 2))", "pooled_size=(1, 2)"),
        "adaptive-pool-to-nothing": ("R.nn.adaptive_avg_pool3d(x, output_size=[0, 2, 0])", "output_size=[1, 2, 1]"),
        "multibox-of-a-large-size": ("R.vision.multibox_transform_loc(c, x, a)", "loc(c, R.minimum(R.maximum(x, "),
        "suppression-of-float64": ("R.vision.all_class_non_max_suppression(b, s, 1)", "R.astype(s, 'float32'), 1)"),
        "suppression-of-fewer-boxes": ("R.vision.all_class_non_max_suppression(b, s, 1)", "R.tuple(R.zeros("),
    }

    def test_each_cause(self):
        for folder, (call, made) in self.CALLS.items():
            causes = [cause for cause in CAUSES if cause[0] == folder]
            found = [text for cause in causes if (text := rewritten(f"y = {call}\n", [cause]))]
            self.assertTrue(any(made in text for text in found), (folder, found))
            for cause in causes:
                self.assertIsNone(rewritten("y = R.permute_dims(x)\n", [cause]), folder)

    def test_bins_of_a_size_stay(self):
        cause = next(cause for cause in CAUSES if cause[0] == "regions-pooled-to-nothing")
        text = "y = R.vision.roi_pool(x, r, pooled_size=(1, 2))\n"
        self.assertEqual(rewritten(text, [cause]), text)


if __name__ == "__main__":
    unittest.main()
