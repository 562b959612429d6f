"""The plugin: wrong passes fail their tests with clause and reproducer, right ones do not."""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip("tvm")

HERE = pathlib.Path(__file__).parent


def run_pytest(tmp_path, *args):
    """The outcome of a run of tests: its text, and for each test whether it failed and its properties."""
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *map(str, args)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1800)
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        properties = [(found.get("name"), found.get("value")) for found in case.iter("property")]
        cases[case.get("name")] = (case.find("failure") is not None, properties)
    return run.stdout + run.stderr, cases


def test_wrong_passes_are_caught(tmp_path):
    text, cases = run_pytest(tmp_path, HERE / "wrong_passes.py", "--relax-oracle")
    assert len(cases) >= 20
    for name, (failed, properties) in cases.items():
        seeded = re.search(r"\[(\w+)\]", name)[1]
        finding = [value for key, value in properties if key == "relax_oracle.finding"]
        assert failed and finding and finding[0].startswith(f"{seeded} ["), (name, properties, text[-3000:])
        assert re.fullmatch(r"\w+ \[[A-Z][\w.-]+\]", finding[0]), finding
        folder = tmp_path / next(value for key, value in properties if key == "relax_oracle.reproducer")
        assert {"before.py", "after.py", "report.txt", "replay.sh"} <= {path.name for path in folder.iterdir()}
        replay = ["sh", folder / "replay.sh"]
        environment = {**os.environ, "RELAX_SPEC": f"{sys.executable} -m relax_spec"}
        replayed = subprocess.run(replay, capture_output=True, text=True, timeout=600, env=environment)
        assert replayed.returncode == 1, (name, replayed.stdout, replayed.stderr)
    assert "relax oracle" in text and "22 failed" in text


def test_right_passes_are_not_accused(tmp_path):
    text, cases = run_pytest(tmp_path, HERE / "right_passes.py", "--relax-oracle")
    assert len(cases) >= 20
    for name, (failed, properties) in cases.items():
        assert not failed, (name, text[-3000:])
        assert int(dict(properties)["relax_oracle.changed"]) > 0, name
    assert "22 passed" in text


SMALL = '''
import pytest, tvm
from tvm import relax

def module():
    from relax_spec.tvm._adapter import load
    return relax.transform.Normalize()(load("text").parse_text("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.subtract(x, y)
        return a
"""))

@tvm.transform.module_pass(opt_level=0, name="Swap")
def swap(mod, _context):
    from relax_spec.tvm._adapter import load
    return load("text").parse_text(mod.script().replace("R.subtract(x, y)", "R.subtract(y, x)"))

def test_plain():
    swap(module())

def test_context():
    with tvm.transform.PassContext(opt_level=3):
        swap(module())

def test_caught():
    try:
        swap(module())
    except Exception:
        pass

@pytest.mark.no_relax_oracle
def test_off():
    swap(module())

@pytest.mark.relax_oracle(skip=["Swap"])
def test_skipped():
    swap(module())

def test_right():
    assert relax.transform.LegalizeOps()(module())
'''


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_marks_and_processes(tmp_path, workers):
    if workers:
        pytest.importorskip("xdist")
    file = tmp_path / "test_small.py"
    file.write_text(SMALL)
    text, cases = run_pytest(tmp_path, file, "--relax-oracle", *workers)
    failed = {name for name, (failed, _) in cases.items() if failed}
    assert failed == {"test_plain", "test_context", "test_caught"}, text
    assert "Swap [OPS.subtract.value]: 3 tests" in text
    assert re.search(r"passes run \d+, seen \d+", text)


def test_record_only_reports(tmp_path):
    file = tmp_path / "test_small.py"
    file.write_text(SMALL)
    text, cases = run_pytest(tmp_path, file, "--relax-oracle=record")
    assert not any(failed for failed, _ in cases.values()), text
    assert "Swap [OPS.subtract.value]: 3 tests" in text


def test_without_the_option_nothing_is_judged(tmp_path):
    file = tmp_path / "test_small.py"
    file.write_text(SMALL)
    text, cases = run_pytest(tmp_path, file)
    assert len(cases) == 6 and not any(failed for failed, _ in cases.values()), text
    assert "relax oracle" not in text
