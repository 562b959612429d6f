"""Tests of `known_causes.py`, which need neither TVM nor a build: `python3 test_known_causes.py`."""

import tempfile
import unittest

from known_causes import Judge, by_message, by_refusal

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


if __name__ == "__main__":
    unittest.main()
