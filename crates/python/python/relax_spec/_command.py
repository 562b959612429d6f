"""The command `relax-spec`, which runs in this process."""

import os
import pathlib
import shutil
import signal
import sys


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


def surroundings():
    """What the command starts: itself, and the adapter of TVM."""
    script = pathlib.Path(sys.argv[0])
    found = script if script.name.startswith("relax-spec") and os.access(script, os.X_OK) else shutil.which("relax-spec")
    if found:
        os.environ.setdefault("RELAX_SPEC_COMMAND", os.path.abspath(found))
    adapter = pathlib.Path(__file__).parent / "tvm" / "adapter" / "adapter.py"
    os.environ.setdefault("RELAX_SPEC_TVM_ADAPTER", str(adapter))
