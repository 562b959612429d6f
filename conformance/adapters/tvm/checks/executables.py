"""Does the executable that TVM makes of a program do what the program does?

    PYTHON executables.py RELAX_SPEC DIRECTORY.. [--only GLOB] [--runs N]

The programs are those of the directories (`*.py`). What TVM compiles each to is run on the machine of relax-spec, without
TVM's, and judged against the program by `relax-spec refine` on generated inputs, for every function that can be started. A
line for each that is not allowed or could not be judged; the exit status is 1 if one is not allowed and `KNOWN` does not
explain it, or if fewer than 95 of 100 executables are read and run.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack
from passes import PATIENCE, dialect, last_line

#: Executables that do something else, and why: glob over programs -> the reason.
KNOWN = {
    "*/functions": "what an executable wants of a packed function that is not there is not in it, so that another result is made",
    "*/nn_embed": "OPS.take.value (A60): an index below 0 counts from the end; TVM documents that its default mode leaves "
    "indices out of bounds to the user, and takes -1 for one",
    "*/nn_moe": "OPS.topk.value: the PrimFunc calls a function of TVM's run time (T.call_packed of topk), "
    "which is not interpreted here",
    "*/scalars": "PR14148.EVAL.IMM: the PrimFunc that computes a number gives it back by T.ret, which is not interpreted here",
    "corpus/tir_and_packed": "a finding: the executable has no check for the second cast, of n elements to m, "
    "which is bound elsewhere to another number (SI.MATCHCAST.TENSOR.EVAL)",
    "corpus/two_languages": "a product over no elements is never written by its PrimFunc: call_tir gives it zeros "
    "(OP.CALLTIR.ALLOC), a storage what it held (MEM.UNWRITTEN)",
}
#: How many of a hundred executables have to be read and run.
ENOUGH = 95

ALLOWED, BROKEN, OPEN, REFUSED, UNREADABLE, VACUOUS = (
    "allowed",
    "not allowed",
    "undecided",
    "refused by TVM",
    "unreadable",
    "vacuous",
)

#: What `main` gives in its thread.
STATUS = []


def entries(text):
    """The functions that can be started: those that are not private."""
    found = re.findall(r"^ {0,4}(@R\.function[^\n]*)\n *def (\w+)", text, re.MULTILINE)
    return [name for decorator, name in found if "private=True" not in decorator]


def made_of(text):
    """What TVM compiles a program to, or why it does not, in a process of its own, which TVM may bring down."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as out:
                json.dump(compiled(text), out)
            os._exit(0)
        finally:
            # Nothing of the parent's may be cleaned up here.
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as found:
        said = found.read()
    status = os.waitpid(child, 0)[1]
    return (None, f"the process ended with status {status}") if status else json.loads(said)


def compiled(text):
    from executable import executable
    from programs import Program

    try:
        return executable(Program({"Script": text})), None
    except Exception as error:  # whatever TVM raises
        return None, last_line(error)


def checked(tool, path):
    """The text in the dialect of this TVM; what the checker refuses has no behaviour to preserve."""
    if subprocess.run([tool, "check", str(path)], capture_output=True).returncode != 0:
        return None
    convert = [tool, "convert", str(path), "--to", "tvmscript", "--dialect", dialect()]
    converted = subprocess.run(convert, capture_output=True, text=True)
    return converted.stdout if converted.returncode == 0 else None


def judge(tool, path, text, runs):
    """A verdict for each entry point."""
    made, refusal = made_of(text)
    if made is None:
        yield "compile", REFUSED, refusal
        return
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "executable.json"
        file.write_text(json.dumps(made))
        for entry in entries(text):
            command = [tool, "refine", str(path), str(file), "--entry", entry, "--runs", str(runs), "--unchecked"]
            run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            said = (run.stdout + run.stderr).strip()
            yield entry, {0: ALLOWED, 1: BROKEN, 2: UNREADABLE, 4: VACUOUS}.get(run.returncode, OPEN), said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("directories", type=pathlib.Path, nargs="+")
    parser.add_argument("--only", default="*")
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    totals, failed = collections.Counter(), False
    for path in sorted(path for directory in args.directories for path in directory.glob("*.py")):
        name = f"{path.parent.name}/{path.stem}"
        text = checked(args.tool, path) if fnmatch.fnmatch(name, args.only) else None
        if not text:
            continue
        for entry, verdict, message in judge(args.tool, path, text, args.runs):
            if verdict == BROKEN and any(fnmatch.fnmatch(name, glob) for glob in KNOWN):
                verdict = f"{verdict}, known"
            totals[verdict] += 1
            failed |= verdict == BROKEN
            if verdict != ALLOWED:
                print(f"{verdict.upper()} {name}, {entry}: {message}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(totals.items())))
    made = sum(totals.values()) - totals[REFUSED]
    few = (made - totals[UNREADABLE]) * 100 < made * ENOUGH
    return 1 if failed or few or not totals[ALLOWED] else 0


if __name__ == "__main__":
    in_large_stack(lambda: STATUS.append(main()))
    sys.exit(STATUS[0] if STATUS else 1)
