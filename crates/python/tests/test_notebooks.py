"""The tutorials. Each notebook is run again, and gives the outputs that are in its file.

`RELAX_SPEC_NOTEBOOKS=write` writes the outputs of this run into the files.
"""

import difflib
import os
import pathlib
import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="no notebook is run: jupyter is not installed")
nbclient = pytest.importorskip("nbclient", reason="no notebook is run: jupyter is not installed")

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
#: The outputs are those of this release.
RELEASE = "0.27"
#: What depends on the machine.
VARYING = [
    (re.compile(r"(/[\w.~+-]+)+/python[\d.]*"), "python"),
    (re.compile(r"/tmp/[\w/.~+-]+"), "DIRECTORY"),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|us)\b"), "TIME"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "ADDRESS"),
]


def normalized(output):
    """An output without what depends on the machine, and without its number in the run."""
    output = nbformat.from_dict(output)
    for of in (output, output.get("data", {})):
        for key, value in of.items():
            if isinstance(value, list) and all(isinstance(line, str) for line in value):
                value = "".join(value)
            if isinstance(value, str):
                for pattern, name in VARYING:
                    value = pattern.sub(name, value)
                of[key] = value
    output.pop("execution_count", None)
    return output


def texts(notebook):
    """The outputs, line by line."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for key, value in sorted({**output, **output.get("data", {})}.items(), key=lambda item: item[0]):
                if isinstance(value, str):
                    yield from (f"{cell.id} {key}: {line}" for line in value.splitlines())


def left_out(needs_tvm):
    """Why a notebook is not run with this interpreter. One without TVM is run once, without it."""
    try:
        import tvm
    except ImportError:
        return "it needs TVM" if needs_tvm else None
    if not needs_tvm:
        return "it is run where there is no TVM"
    return None if tvm.__version__.startswith(RELEASE) else f"its outputs are those of TVM {RELEASE}"


def test_there_are_five_short_ones():
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, 4)
        assert len(notebook.cells) < 15, path.name
        assert all(cell.outputs or cell.source for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_its_outputs(path, tmp_path, monkeypatch):
    notebook = nbformat.read(path, 4)
    needs_tvm = any("import tvm" in cell.source for cell in notebook.cells)
    if (reason := left_out(needs_tvm)) is not None:
        pytest.skip(reason)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    before = list(texts(notebook))
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [
                nbformat.from_dict({"execution_count": None, **output}) if output["output_type"] == "execute_result" else output
                for output in map(normalized, cell.outputs)
            ]
    if os.environ.get("RELAX_SPEC_NOTEBOOKS") == "write":
        notebook.metadata.pop("widgets", None)
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, path)
        return
    difference = difflib.unified_diff(before, list(texts(notebook)), "the file", "this run", lineterm="", n=1)
    assert not (lines := list(difference)), "\n".join(lines)
