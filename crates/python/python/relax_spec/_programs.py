"""What can be given as a program, and command lines about it in this process."""

import contextlib
import json
import os
import pathlib
import tempfile

from relax_spec import _native
from relax_spec._errors import UnreadableError

_KNOWN = (".py", ".json", ".ron", ".relay")
#: The edition that TVM claims to follow.
TVM_EDITION = "2024-04"


class Line:
    """A command line, with a directory for the programs and arrays in it."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.edition = None

    def program(self, given, name="module"):
        """The path of a program."""
        if isinstance(given, os.PathLike):
            return os.fspath(given)
        if isinstance(given, str):
            if "\n" not in given and given.endswith(_KNOWN):
                return given
            return self.file(f"{name}{'.json' if given.lstrip().startswith('{') else '.py'}", given)
        if isinstance(given, (dict, list)):
            return self.file(f"{name}.json", json.dumps(given))
        if text := getattr(given, "__relax_spec_text__", None):
            return self.file(f"{name}.py", text())
        if type(given).__module__.split(".")[0] != "tvm":
            raise TypeError(f"a program is text, a path, JSON or a module of TVM, not {type(given).__name__}")
        from relax_spec.tvm import text_of

        self.edition = TVM_EDITION
        return self.file(f"{name}.py", text_of(given))

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def run(self, *words, options=None, edition=None):
        """Exit status, results and messages. The files of programs given as text are called by their names alone."""
        line = [word for word in words if word is not None]
        for key, value in {**(options or {}), "edition": edition or self.edition}.items():
            if value is True:
                line.append(f"--{key.replace('_', '-')}")
            elif value is not None and value is not False:
                line += [f"--{key.replace('_', '-')}", str(value)]
        status, out, err = _native.captured(["relax-spec", *line])
        hide = f"{self.directory}{os.sep}"
        return status, out.replace(hide, ""), err.replace(hide, "")


@contextlib.contextmanager
def line():
    with tempfile.TemporaryDirectory(prefix="relax-spec-") as directory:
        yield Line(directory)


def unreadable(err, out=""):
    """The error for what cannot be read or is ill-formed."""
    rule = place = None
    with contextlib.suppress(ValueError, AttributeError):
        data = json.loads(out.splitlines()[0]) if out else {}
        first = (data.get("findings") or [data])[0]
        start = first.get("start") or {}
        rule, place = first.get("rule"), (first.get("file"), start.get("line"), start.get("column"))
        err = err.strip() or first.get("message", "")
    return UnreadableError(err.strip().removeprefix("error: ") or "unreadable", rule, place)
