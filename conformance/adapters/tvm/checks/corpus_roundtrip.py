"""Do modules that TVM has saved survive their way through text, and through this tool?

    PYTHON corpus_roundtrip.py RELAX_SPEC DIRECTORY [--every N] [--list]

For each module (`*.tvm.json`, as `tvm.ir.save_json` writes it, such as `tools/make_onnx_corpus.py` gives) of the directory:

1. TVM prints it and reads its print;
2. `relax-spec convert` reads the saved module and writes it in the dialect of this TVM, and TVM reads that;
3. `relax-spec convert` reads TVM's print and writes it in the dialect, and TVM reads that.

Each time the module that is read must be structurally equal to the one that was saved. Where TVM does not read its own print, or
reads another module, that is between TVM and itself: 1 is counted by the reason, and 2 and 3 are asked all the same, for convert
may print what TVM reads. Where 2 or 3 is not equal though TVM's own print is, the exit status is 1. Each module has a process of
its own, for some end it. With --list the modules are named.
"""

import argparse
import ast
import collections
import json
import os
import pathlib
import re
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack
from faults import Rejected
from roundtrip_check import Failed, convert

#: How long one module may take.
SECONDS = 120
EQUAL = "equal"


def shortened(text):
    """What a fault says, without what differs from one module to the next."""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"error:|\w*Error:", line)]
    line = (told or lines or [""])[-1]
    line = re.sub(r"0x[0-9a-f]+", "..", line)
    line = re.sub(r"\bv?\d+(_\d+)*\b", "#", line)
    return line[:160]


def with_metadata(text):
    """The module of a text. Its metadata is there as it would be if Python ran the text."""
    import tvm

    from text import parse_text

    given, lines = {}, text.splitlines()
    for statement in ast.parse(text.replace("<lambda>", "_lambda_")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "metadata":
            given["metadata"] = tvm.ir.load_json(ast.literal_eval(statement.value.args[0]))
            # TVM's parser would take it for a part of the module.
            lines[statement.lineno - 1 : statement.end_lineno] = []
    return parse_text("\n".join(lines), given)


def read_again(mod, text):
    """`equal`, or why the text is not the module."""
    import tvm_ffi

    try:
        again = with_metadata(text)
    except Rejected as fault:
        return f"not read: {shortened(fault.message)}"
    if tvm_ffi.structural_equal(mod, again):
        return EQUAL
    return f"another module: {mismatch(mod, again)}"


def mismatch(mod, again):
    """Where two modules differ first: the kinds of what stands there."""
    import tvm_ffi

    found = tvm_ffi.get_first_structural_mismatch(mod, again)
    if found is None:
        return "nowhere"
    return " | ".join(re.sub(r"\[\d+\]|<index \d+>", "[#]", str(path))[-120:] for path in found)


def trip(tool, path, dialect):
    """What becomes of one module: of TVM's own print, of the saved file, and of the print through this tool."""
    import tvm

    mod = tvm.ir.load_json(path.read_text())
    printed = mod.script(show_meta=True)

    def through(source):
        try:
            return read_again(mod, convert(tool, source, "--to", "tvmscript", "--dialect", dialect))
        except Failed as fault:
            return f"not converted: {shortened(str(fault).splitlines()[0])}"

    return {"own": read_again(mod, printed), "saved": through(path), "printed": through(printed)}


def alone(work):
    """Runs it in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            found = work()
        except BaseException as error:
            found = {"error": f"{type(error).__name__}: {shortened(error)}"}
        os.write(write, json.dumps(found).encode()[:60000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    _, code = os.waitpid(child, 0)
    return json.loads(told) if told else {"error": f"the process ended with signal {os.WTERMSIG(code)}"}


def main():
    import names
    import prelude

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    prelude.register()
    dialect = "tvm" + ".".join(names.VERSION.split(".")[:2])
    paths = sorted(options.directory.glob("*.tvm.json"))[:: options.every]
    ways = {"own": collections.Counter(), "saved": collections.Counter(), "printed": collections.Counter()}
    failed = []
    for path in paths:
        found = alone(lambda path=path: trip(options.tool, path, dialect))
        if "error" in found:
            found = dict.fromkeys(ways, found["error"])
        for way, outcome in found.items():
            ways[way][outcome] += 1
        if any(found[way] != EQUAL and (found["own"] == EQUAL or found[way].startswith("not converted")) for way in found):
            failed.append(path.name)
        if options.list and set(found.values()) != {EQUAL}:
            print(path.name, json.dumps(found))
    for way, what in (
        ("own", "TVM reads its own print"),
        ("saved", "TVM reads what this tool makes of the saved module"),
        ("printed", "TVM reads what this tool makes of TVM's print"),
    ):
        print(f"{dialect}: {what}: {ways[way][EQUAL]} of {len(paths)} equal")
        for outcome, count in ways[way].most_common():
            if outcome != EQUAL:
                print(f"  {count:5} {outcome}")
    print(f"{dialect}: {len(paths)} modules, {len(failed)} failed: {' '.join(failed[:20])}")
    main.failed = bool(failed) or not paths


if __name__ == "__main__":
    in_large_stack(main)
    sys.exit(1 if getattr(main, "failed", True) else 0)
