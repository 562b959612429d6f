"""TVM's own objects."""

import numpy as np
import pytest

tvm = pytest.importorskip("tvm")

import relax_spec  # noqa: E402
from relax_spec.tvm import PassOracle, blame, info_of, text_of  # noqa: E402
from relax_spec.tvm._adapter import load  # noqa: E402
from tvm import relax  # noqa: E402

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.subtract(x, y)
        b = R.multiply(a, R.const([1.0, 2.0, 3.0, 4.0], "float32"))
        return b
"""


@pytest.fixture
def mod():
    return relax.transform.Normalize()(load("text").parse_text(TEXT))


@tvm.transform.module_pass(opt_level=0, name="Swap")
def swap(mod, _context):
    text, given = load("trial").without_metadata(text_of(mod).replace("R.subtract(x, y)", "R.subtract(y, x)"))
    return load("text").parse_text(text, given)


@tvm.transform.module_pass(opt_level=0, name="Rename")
def rename(mod, _context):
    return tvm.IRModule({tvm.ir.GlobalVar("other"): mod["main"].with_attr("global_symbol", "other")})


def test_modules_functions_and_tensors(mod):
    relax_spec.assert_well_formed(mod)
    assert relax_spec.check(mod["main"]) and relax_spec.check(mod).edition == "2024-04"
    x = np.array([1, 2, 3, 4], "float32")
    result = relax_spec.run(mod, tvm.runtime.tensor(x), np.ones(4, "float32"))
    assert result.value.tolist() == [0, 2, 6, 12]
    assert relax_spec.refine(mod, relax.transform.LegalizeOps()(mod))
    assert not relax_spec.refine(mod, swap(mod))
    relax_spec.assert_agrees(mod, [x, np.ones(4, "float32")])


def test_structural_information():
    names = load("names")
    x, y = names.TensorInfo((2, 4), "float32"), names.TensorInfo((3, 4), "float32")
    assert repr(relax_spec.judge("unify", x, y)) == "Tensor(ndim=2, float32)"
    assert repr(info_of(x)) == "Tensor((2, 4), float32)" and info_of(x) is info_of(x)
    n = names.shape_var("n")
    fields = [names.TensorInfo([n, n + 1], "bool"), names.ShapeInfo(ndim=2), names.ObjectInfo()]
    made = names.FuncInfo([names.TupleInfo(fields)], x, purity=False)
    text = "Func((Tuple(Tensor((n, n + 1), bool), Shape(ndim=2), Object)) -> Tensor((2, 4), float32), impure)"
    assert relax_spec.judge("order", info_of(made), text).holds and relax_spec.judge("order", text, made).holds


def test_the_adapter_hides_nobodys_modules():
    import sys

    assert "names" not in sys.modules and "relax_spec.tvm.adapter.names" in sys.modules


def test_the_instrument_raises_and_records(mod, tmp_path):
    oracle = PassOracle(out=str(tmp_path), allowance=1e9, patience=300.0)
    raises = pytest.raises(AssertionError, match=r"Swap changes what `main` means \[OPS.subtract.value\]")
    with raises, tvm.transform.PassContext(instruments=[oracle]):
        swap(relax.transform.Normalize()(mod))
    (folder,) = tmp_path.iterdir()
    assert len((folder / "before.py").read_text()) < len((folder / "before-whole.py").read_text())
    oracle = PassOracle(action="record", out=None, allowance=1e9)
    with tvm.transform.PassContext(instruments=[oracle]):
        rename(mod)
        relax.transform.LegalizeOps()(mod)
    assert [(found.name, found.clause) for found in oracle.findings] == [("Rename", "OPT.GENERAL")]


def test_the_instrument_asks_about_what_is_not_finite():
    """A product with zero is zero for all else."""
    product = load("text").parse_text(TEXT.replace("R.subtract(x, y)", "R.multiply(R.zeros((4,), 'float32'), x)"))
    zeros = load("text").parse_text(TEXT.replace("R.subtract(x, y)", "R.zeros((4,), 'float32')"))
    oracle = PassOracle(action="record", out=None)
    with tvm.transform.PassContext(instruments=[oracle]):
        tvm.transform.module_pass(lambda *_: zeros, opt_level=0, name="Zero")(product)
    (finding,) = oracle.findings
    assert finding.clause == "OPS.multiply.value", finding


def test_what_a_pass_is_asked_to_change_is_no_fault(mod):
    weights = {"y": np.ones(4, "float32")}
    found = blame(mod, [relax.transform.BindParams("main", weights), relax.transform.ToMixedPrecision()])
    assert found.blamed is None, found


def test_blame(mod):
    assert blame(mod, "default").blamed is None
    found = blame(mod, [relax.transform.CanonicalizeBindings(), swap, relax.transform.LegalizeOps()])
    assert found.blamed == "Swap" and "Swap is to blame" in repr(found)


def test_the_budget_bounds_the_time(mod):
    oracle = PassOracle(action="record", allowance=0.0, share=0.0, out=None)
    with tvm.transform.PassContext(instruments=[oracle]):
        swap(mod)
        relax.transform.LegalizeOps()(mod)
    assert oracle.judge.counts["contracts"] <= 1 and oracle.judge.open.get("the budget is spent", 0) >= 1
