"""The module without TVM: programs as text, paths and JSON, values as arrays."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import relax_spec

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        z = R.subtract(x, y)
        return z
"""
#: The declared result has another size.
WRONG = PROGRAM.replace('("n",)', "(2,)").replace("-> R.Tensor((2,)", "-> R.Tensor((3,)")
SWAPPED = PROGRAM.replace("(x, y)\n", "(y, x)\n")
ROUNDED = PROGRAM.replace("R.subtract(x, y)", "R.negative(R.subtract(y, x))")


def test_check():
    assert relax_spec.check(PROGRAM)
    report = relax_spec.check(WRONG)
    assert not report and report.errors[0].rule == "SI.DERIVE.FUNC.RET.ERR" and report.errors[0].line == 4
    assert "1 file: 1 error" in repr(report) and "SI.DERIVE.FUNC.RET.ERR" in report._repr_html_()
    with pytest.raises(relax_spec.RelaxSpecError) as raised:
        report.raise_for_errors()
    assert raised.value.rule == "SI.DERIVE.FUNC.RET.ERR" and raised.value.place[1] == 4


def test_a_path_and_what_cannot_be_read(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert relax_spec.check(path) and relax_spec.check(str(path))
    with pytest.raises(relax_spec.UnreadableError) as raised:
        relax_spec.check("@R.function\ndef f(x: R.Tensor(\n")
    assert raised.value.place[1] in (2, 3)
    with pytest.raises(TypeError):
        relax_spec.check(7)


def test_run():
    x, y = np.arange(3, dtype="float32"), np.ones(3, dtype="float32")
    result = relax_spec.run(PROGRAM, x, y)
    assert result.value.tolist() == [-1, 0, 1] and repr(result) == "[-1.0, 0.0, 1.0]:float32"
    assert "z = Tensor" in repr(relax_spec.run(PROGRAM, x, y, trace=True))
    failed = relax_spec.run(PROGRAM, x, "[1, 2]:float32")
    with pytest.raises(relax_spec.RunError) as raised:
        failed.value  # noqa: B018
    assert raised.value.rule


def test_why():
    unknown = PROGRAM.replace('y: R.Tensor(("n",), "float32")', 'y: R.Tensor("float32", ndim=1)')
    assert "z: Tensor(ndim=1, float32)" in repr(relax_spec.why(unknown, 6)) and "OPS." in repr(relax_spec.why(unknown, 6))


def test_types_and_normal_form():
    typed = relax_spec.types(PROGRAM)
    assert typed.functions["main"].startswith("Func(") and "# pure" in repr(typed)
    assert relax_spec.derive(PROGRAM, "main", "z") == "Tensor((n), float32)"
    nested = PROGRAM.replace("R.subtract(x, y)", "R.subtract(R.subtract(x, y), y)")
    assert repr(relax_spec.normalize(nested)).count("R.subtract") == 2


def test_refine():
    verdict = relax_spec.refine(PROGRAM, SWAPPED)
    assert not verdict and verdict.verdict == "not_allowed" and len(verdict.counterexample) == 2
    assert "first at `z`" in repr(verdict) and "<table>" in verdict._repr_html_()
    assert relax_spec.refine(PROGRAM, ROUNDED)
    relax_spec.assert_refines(PROGRAM, ROUNDED)
    with pytest.raises(AssertionError, match="first at `z`"):
        relax_spec.assert_refines(PROGRAM, SWAPPED)
    with pytest.raises(AssertionError, match="SI.DERIVE.FUNC.RET.ERR"):
        relax_spec.assert_well_formed(WRONG)


def test_judge():
    joined = relax_spec.judge("unify", "Tensor((n, 4), float32)", "Tensor((m, 4), float32)")
    assert repr(joined) == "Tensor(ndim=2, float32)" and "SI.UNIFY.TENSOR.NEQ" in joined.derivation
    assert "<details" in joined._repr_html_()
    assert relax_spec.judge("subtype", "Tensor(2, float32)", "Object").holds is True
    with pytest.raises(relax_spec.UnreadableError):
        relax_spec.judge("subtype", "Tensor(", "Object")
    with pytest.raises(relax_spec.UnreadableError):
        relax_spec.judge("nothing")
    with pytest.raises(relax_spec.UnreadableError, match="`3` is neither text nor structural information"):
        relax_spec.judge("unify", 3, "Object")


def test_rules_are_explained():
    assert "SUB.TENSOR.RANK" in repr(relax_spec.explain("SUB.TENSOR.RANK"))
    assert "SUB.TENSOR.RANK" in repr(relax_spec.rules("SUB."))


def test_values():
    from relax_spec import _values

    array = np.array([[1, 2]], dtype="int8")
    assert relax_spec.Shape((2, 3)) == (2, 3)
    read = _values.read({"Tuple": [{"Shape": [2]}, {"Tensor": {"dtype": "int8", "shape": [1, 2], "bits": "0102"}}]})
    assert read[0] == (2,) and (read[1] == array).all() and read[1].dtype == array.dtype


def test_the_command():
    command = [sys.executable, "-m", "relax_spec"]
    run = subprocess.run([*command, "judge", "lub", "Object", "Shape(2)"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "Object\n"), run.stderr
    run = subprocess.run([*command, "check", "-"], input=WRONG, capture_output=True, text=True)
    assert run.returncode == 1 and "SI.DERIVE.FUNC.RET.ERR" in run.stdout
    script = pathlib.Path(sys.executable).parent / "relax-spec"
    if script.exists():
        run = subprocess.run([script, "--version"], capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout.startswith("relax-spec ")


def test_the_command_starts_adapters():
    """It starts itself, too, to end what it has started, wherever it is installed."""
    adapter = f"{sys.executable} -S -E {pathlib.Path(__file__).parent / 'simulated.py'}"
    asked = ["fuzz", "--adapter", adapter, "--runs", "2", "--paths", "well_formed", "--bindings", "4"]
    run = subprocess.run([sys.executable, "-m", "relax_spec", *asked], capture_output=True, text=True)
    assert run.returncode == 0 and "2 questions" in run.stdout, run


def test_the_interpreter_is_free_while_a_question_is_answered():
    import threading

    done, steps = threading.Event(), 0

    def ask():
        relax_spec.refine(PROGRAM, ROUNDED, runs=300)
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    while not done.is_set() and steps < 10_000_000:
        steps += 1
    thread.join()
    assert steps > 0


def test_strategies():
    hypothesis = pytest.importorskip("hypothesis", reason="no strategy is tested: hypothesis is not installed")
    from relax_spec.strategies import modules

    @hypothesis.settings(max_examples=20, deadline=None, derandomize=True, database=None)
    @hypothesis.given(modules(bindings=5))
    def check(text):
        assert relax_spec.check(text, edition="2024-04")

    check()


def test_what_a_strategy_draws_shrinks():
    hypothesis = pytest.importorskip("hypothesis", reason="no strategy is tested: hypothesis is not installed")
    from relax_spec.strategies import modules

    shown = []

    def shows(text):
        shown.extend([text] * ("R.match_cast(" in text))
        return "R.match_cast(" in text

    settings = hypothesis.settings(max_examples=500, deadline=None, derandomize=True, database=None)
    # Hypothesis asks 500 questions to shrink a program, which are few for a large one.
    found = hypothesis.find(modules(bindings=10), shows, settings=settings)
    lines = lambda text: len(text.splitlines())
    assert lines(found) <= 24 and 2 * lines(found) < max(map(lines, shown)), (found, shown[0])


def test_rules_link_to_the_pages_that_state_them():
    from relax_spec import _native

    spec = pathlib.Path(__file__).parents[3] / "spec" / "src"
    report = relax_spec.check(WRONG)._repr_html_()
    page, place = _native.rule_page("SI.DERIVE.FUNC.RET.ERR").split("#")
    assert f'href="book/{page}#{place}"' in report and place == "r-SI.DERIVE.FUNC.RET.ERR"
    assert "SI.DERIVE.FUNC.RET.ERR" in (spec / page).with_suffix(".md").read_text()
    assert _native.rule_page("SI.NO.SUCH.RULE") is None


def test_the_adapter_is_whole():
    """The package has a link to each file of the adapter, which a wheel holds as a file."""
    adapter = pathlib.Path(__file__).parents[3] / "conformance" / "adapters" / "tvm"
    held = pathlib.Path(relax_spec.__file__).parent / "tvm" / "adapter"
    names = lambda folder: {path.name for path in folder.glob("*.py")}
    assert names(held) == names(adapter)
