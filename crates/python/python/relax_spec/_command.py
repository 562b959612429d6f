"""The command `relax-spec`, which runs in this process."""

import os
import pathlib
import shutil
import signal
import sys
import sysconfig


def main():
    from relax_spec import _native

    # Whoever interrupts it means the command, and the interpreter has nothing to tidy up.
    for number in (signal.SIGINT, getattr(signal, "SIGPIPE", None)):
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    surroundings()
    code = _native.command(["relax-spec", *sys.argv[1:]])
    sys.stdout.flush()
    os._exit(code)


def _scripts():
    """Where the script of this package may be: what was started, beside the interpreter, or beside the package, where
    `pip install --target` puts it. Another one in the path may be of another version.
    """
    started = pathlib.Path(sys.argv[0])
    if started.name.startswith("relax-spec"):
        yield started
    package = pathlib.Path(__file__).parent
    yield package.parent / "bin" / "relax-spec"
    if package.is_relative_to(sys.prefix):
        yield pathlib.Path(sysconfig.get_path("scripts")) / "relax-spec"


def surroundings():
    """What the command starts: itself, and the adapter of TVM."""
    found = next((script for script in _scripts() if os.access(script, os.X_OK)), None) or shutil.which("relax-spec")
    if found:
        os.environ.setdefault("RELAX_SPEC_COMMAND", os.path.abspath(found))
    adapter = pathlib.Path(__file__).parent / "tvm" / "adapter" / "adapter.py"
    os.environ.setdefault("RELAX_SPEC_TVM_ADAPTER", str(adapter))
