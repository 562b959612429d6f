"""Tests of `known_causes.py`, which need neither TVM nor a build: `python3 test_known_causes.py`."""

import tempfile
import unittest

from known_causes import CAUSES, Judge, by_message, by_refusal, rewritten

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
            judge = Judge("relax-spec", folder, 5, "2024-04", lambda path: ask(path.read_text()))
            judge.is_as = is_as
            return judge.causes(PROGRAM, name)

    def test_a_pass_that_is_allowed_without_the_condition(self):
        ask = lambda text: [allowed("P") if "R.where(R.equal(x, x), x" in text else wrong("P", "other bits")]
        self.assertEqual(self.causes("P", ask), ["not-equal-of-nan"])

    def test_another_defect_of_the_same_operator_stays(self):
        self.assertIsNone(self.causes("P", lambda text: [wrong("P", "other bits")]))

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


class Messages(unittest.TestCase):
    def test_only_the_condition_of_the_finding(self):
        read = lambda name, index, shape: by_message(f"@{name}: `x[{index}]` is outside of the shape [{shape}]")
        self.assertEqual(read("broadcast_to", "0, 1", "4, 1"), "broadcast-of-a-symbolic-size")
        # The second axis has the size 2: an index is wrong.
        self.assertIsNone(read("broadcast_to", "0, 2", "4, 2"))
        self.assertEqual(read("index_tensor", "-1, 0", "4, 3"), "negative-index-of-a-tensor")
        self.assertIsNone(read("index_tensor", "4, 0", "4, 3"))
        self.assertIsNone(read("index_tensor", "-5, 0", "4, 3"))
        self.assertIsNone(read("take", "-1, 0", "4, 3"))
        # The second function of the name.
        self.assertEqual(read("index_tensor1", "-1, 0", "4, 3"), "negative-index-of-a-tensor")

    def test_sizes_that_are_not_compared(self):
        by_sizes = lambda why: by_message(f"the source fails outside of DataflowBlocks, the target gives a value: {why}")
        self.assertEqual(by_sizes("the data has 1 channels, the weight takes 2 [PURE.ERR.OP]"), "product-of-unequal-sizes")
        divided = "an integer is divided by zero [PURE.ERR.OP]"
        self.assertIsNone(by_sizes(divided))
        error = f"the source fails outside of DataflowBlocks, the target gives a value: {divided}"
        self.assertEqual(by_message(error, "FoldConstant"), "unused-call-outside-of-blocks")
        self.assertIsNone(by_message(error, "LegalizeOps"))

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
        self.assertEqual(by_message(said, program=asked("uint32")), "topk-places-as-uint32")
        # A pass has changed the data type.
        self.assertIsNone(by_message(said, program=asked("int32")))
        self.assertIsNone(by_message(said, program=asked("uint64")))

    def test_the_gradient_of_a_pool_reads_behind(self):
        read = lambda index, shape: by_message(
            f"@max_pool2d_backward: `maxpool_grad_argmax_v0[{index}]` is outside of the shape [{shape}]"
        )
        self.assertEqual(read("0, 0, 4, 1", "1, 1, 4, 4"), "max-pool-backward-behind-the-gradient")
        self.assertIsNone(read("0, 0, -1, 1", "1, 1, 4, 4"))


class Rewriting(unittest.TestCase):
    """Each cause rewrites a call of its operator, and only that, as its folder says."""

    CALLS = {
        "batch-norm-momentum": ("R.nn.batch_norm(x, g, b, m, v, axis=1, momentum=0.25)", "momentum=0.75"),
        "affine-grid-last-place": ("R.image.affine_grid(x, R.shape([2, 1]))", "R.shape([-1, 2, 2, 1])"),
        "transposed-convolution-of-infinities": ("R.nn.conv1d_transpose(x, w)", "R.nn.conv1d_transpose(x, R.minimum("),
        "sum-of-unknown-sizes": ("R.floor_divide(x, y)", "R.floor_divide(x, x)"),
        "max-pool-backward-of-nan": ("R.grad.max_pool2d_backward(g, x)", "R.grad.max_pool2d_backward(g, R.where("),
        "atanh-of-small": ("R.atanh(x)", "R.atanh(R.where("),
        "tanh-of-small": ("R.tanh(x)", "R.tanh(R.where("),
        "gelu-tail": ("R.nn.gelu(x)", "R.nn.gelu(R.maximum(x, R.full_like("),
        "regions-pooled-to-nothing": ("R.vision.roi_pool(x, r, pooled_size=(0, 2))", "pooled_size=(1, 2)"),
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
