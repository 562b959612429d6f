"""Is what TVM's passes make of a program an allowed optimization of it?

    PYTHON passes.py RELAX_SPEC DIRECTORY [--more] [--only GLOB] [--edition EDITION]

The programs are those of the directory (`*.py`), on generated inputs, and those of the suite that are run, on the
inputs of their cases, single operators aside. Each goes through the passes of the default pipeline up to `LegalizeOps`;
with `--more` also through passes that a compiler may add. What a pass leaves is judged against what it was given, and
what the last one leaves against the program itself, by `relax-spec refine`, in the edition that the adapter claims unless another
one is asked for. A line for each change that is not allowed or
that could not be judged; the exit status is 1 if one is not allowed and `KNOWN` does not explain it.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from stages import printed

from adapter import in_large_stack

#: Inputs made for each program of the directory.
RUNS = 20
#: Seconds for a judgement.
PATIENCE = 120

#: Changes that are not allowed, and are TVM's or those of normal form: glob over programs -> the reason.
KNOWN = {
    "rfc/poison-*": "LegalizeOps lowers the operator that reads what cannot be read to a PrimFunc, which stops elsewhere; "
    "not looked into further",
    "evaluation/extern-missing-before-arguments": "normal form, which passes demand, leaves the ExternFunc in the call and "
    "puts the argument with its effect in front, so that the look-up fails after the effect",
    "evaluation/recursion-under-*": "the pass renames a local function where it calls itself, and leaves the new name unbound",
    "evaluation/recursion-local-*": "the pass renames a local function where it calls itself, and leaves the new name unbound",
    "scoping/local-recursion": "the pass renames a local function where it calls itself, and leaves the new name unbound",
    "evaluation/capture-shape-variable": "in 0.25 a pass loses the shape variable that a local function captures",
    "evaluation/shape-captured-*": "in 0.25 a pass loses the shape variable that a local function captures",
    "evaluation/tuple-projection-of-effects": "a field of a tuple in the text is taken by TVM's reader, as of a tuple of "
    "Python's, so that the other field's call is never built",
    "match_cast/closure-inferred-result-size": "before any pass, where a local function is built, TVM erases from its result the "
    "sizes of the function around it, and the cast to what was derived of it fails",
    "match_cast/ret-fails-in-tuple": "a pass that rebuilds a function replaces its return annotation by what is known of the "
    "body, which may say less, and the check on return is lost",
    "operators/attribute-meshgrid-xy": "TVM infers the shapes with the axes not exchanged and annotates the program with them, "
    "which is an error when it runs, until LegalizeOps infers them anew",
    "corpus/tir_and_packed": "CanonicalizeBindings, which ConvertToDataflow and KillAfterLastUse run, removes a cast that "
    "compares (findings/cast-to-a-size-of-another-cast)",
    "program/primfunc-value": "TVM gives a PrimFunc a function's signature, which it then demands of the result",
}

#: What explains a change of any program: what the verdict says -> the reason.
KNOWN_BY_VERDICT = {
    "a tensor is read that was not written in every element": "LegalizeOps lowers a sum of nothing to a PrimFunc that "
    "writes nothing (findings/sum-of-nothing-unwritten)",
}

#: What `main` gives in its thread.
STATUS = []

ALLOWED, BROKEN, OPEN, REFUSED, UNREADABLE, ILL_FORMED = (
    "allowed",
    "not allowed",
    "undecided",
    "refused by TVM",
    "unreadable",
    "ill-formed",
)


def default_passes():
    """Up to and with LegalizeOps, as `relax.pipeline` has them for a CPU."""
    from tvm import relax

    return [
        ("DispatchSampling", relax.backend.DispatchSampling()),
        ("DispatchSortScan", relax.backend.DispatchSortScan()),
        ("LegalizeOps", relax.transform.LegalizeOps()),
    ]


def more_passes():
    """Optimizations that compilers put before LegalizeOps."""
    from tvm import relax

    transform = relax.transform
    return [
        ("Normalize", transform.Normalize()),
        ("ConvertToDataflow", transform.ConvertToDataflow()),
        ("CanonicalizeBindings", transform.CanonicalizeBindings()),
        ("EliminateCommonSubexpr", transform.EliminateCommonSubexpr()),
        ("FoldConstant", transform.FoldConstant()),
        ("DeadCodeElimination", transform.DeadCodeElimination()),
        ("LambdaLift", transform.LambdaLift()),
    ]


class Oracle:
    """`relax-spec adapter`, asked whether one program refines another on given inputs."""

    def __init__(self, tool, edition):
        self.edition = edition
        self.process = subprocess.Popen([tool, "adapter"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask({"id": 0, "op": "hello", "protocol": [1, 1]})

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def refine(self, before, after, entry, inputs):
        programs = [{"Script": before}, {"Script": after}]
        reply = self.ask({"id": 1, "op": "refine", "edition": self.edition, "args": [*programs, entry, [inputs]]})
        if reply["outcome"] != "answer":
            return OPEN, reply.get("message") or reply.get("what") or str(reply)
        answer = reply["answer"]
        return (ALLOWED, "") if answer == "Accepted" else (BROKEN, ", ".join(answer["Rejected"]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def refine_files(tool, edition, before, after, entry):
    """On generated inputs, by the command."""
    with tempfile.TemporaryDirectory() as directory:
        paths = [pathlib.Path(directory) / name for name in ("before.py", "after.py")]
        for path, text in zip(paths, (before, after)):
            path.write_text(text)
        command = [tool, "refine", *map(str, paths), "--entry", entry, "--runs", str(RUNS), "--unchecked"]
        command += ["--edition", edition]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    said = (run.stdout + run.stderr).strip()
    return {0: ALLOWED, 1: BROKEN, 2: UNREADABLE}.get(run.returncode, OPEN), said


class Programs:
    """What is put through the passes: name, text for this TVM, and how two texts of it are compared."""

    def __init__(self, tool, directory, oracle):
        self.tool, self.directory, self.oracle = tool, directory, oracle

    def __iter__(self):
        for path in sorted(self.directory.glob("*.py")):
            text = self.checked(path.read_text())
            if text:
                yield f"corpus/{path.stem}", text, self.compare_files
        for case in self.cases():
            program, entry, inputs = case["args"]
            text = self.checked(program.get("Script") or json.dumps(program["Module"]))
            if text:
                yield case["id"], text, self.compare_on(entry, inputs)

    def checked(self, program):
        """In the dialect of this TVM. What the checker refuses has no behaviour to preserve."""
        if self.run("check", program, "--edition", self.oracle.edition).returncode != 0:
            return None
        converted = self.run("convert", program, "--to", "tvmscript", "--dialect", dialect())
        return converted.stdout if converted.returncode == 0 else None

    def run(self, command, program, *options):
        return subprocess.run([self.tool, command, "-", *options], input=program, capture_output=True, text=True)

    def cases(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([self.tool, "export", "--json", directory], check=True, stdout=subprocess.DEVNULL)
            for path in sorted(pathlib.Path(directory).glob("*.json")):
                found = json.loads(path.read_text())
                for case in found if isinstance(found, list) else []:
                    # Single operators are compared with TVM value by value, each within its class of accuracy, which
                    # `refine` knows nothing of; and LegalizeOps turns some into functions of TVM's run time.
                    if case["op"] == "evaluate" and case["args"][1] and not case["id"].startswith("ops/"):
                        yield case

    def compare_files(self, before, after):
        return refine_files(self.tool, self.oracle.edition, before, after, "main")

    def compare_on(self, entry, inputs):
        return lambda before, after: self.oracle.refine(before, after, entry, inputs)


def judge(text, compare, passes):
    """The verdict on each pass, and on all of them together; nothing after TVM refuses."""
    from faults import Rejected
    from programs import Program

    try:
        mod = Program({"Script": text}).derive()
    except Rejected as fault:
        yield "build", REFUSED, fault.message
        return
    fault = complaint(mod)
    if fault:
        yield "well_formed", REFUSED, fault
        return
    before = printed(mod)
    for name, transform in passes:
        try:
            mod = transform(mod)
        except Exception as error:  # whatever TVM raises
            yield name, REFUSED, last_line(error)
            return
        fault = complaint(mod)
        if fault:
            yield name, ILL_FORMED, fault
            return
        after = printed(mod)
        if after != before:
            yield name, *compare(before, after)
        before = after
    yield "all passes", *compare(text, before)


def complaint(mod):
    """What TVM's own check has to say against a module."""
    import names

    try:
        names.well_formed(mod, False)
    except Exception as error:  # whatever TVM raises
        return last_line(error)
    return None


def judge_apart(text, compare, passes):
    """As `judge`, in a process of its own, which TVM may bring down."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as lines:
                for verdict in judge(text, compare, passes):
                    lines.write(json.dumps(verdict) + "\n")
                    lines.flush()
            os._exit(0)
        finally:
            # Nothing of the parent's may be cleaned up here.
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as lines:
        for line in lines:
            yield json.loads(line)
    status = os.waitpid(child, 0)[1]
    if status:
        yield "after that", REFUSED, f"the process ended with status {status}"


def last_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def dialect():
    import names

    return "tvm" + ".".join(names.VERSION.split(".")[:2])


def known(program, message):
    by_program = any(fnmatch.fnmatch(program, glob) for glob in KNOWN)
    return by_program or any(said in message for said in KNOWN_BY_VERDICT)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--edition")
    args = parser.parse_args()
    import tvm

    import names

    oracle = Oracle(args.tool, args.edition or names.EDITION)
    passes = (more_passes() if args.more else []) + default_passes()
    totals, failed, programs = collections.Counter(), False, 0
    with tvm.target.Target("llvm"):
        for name, program, compare in Programs(args.tool, args.directory, oracle):
            if not fnmatch.fnmatch(name, args.only):
                continue
            programs += 1
            for of, verdict, message in judge_apart(program, compare, passes):
                explained = verdict in (BROKEN, ILL_FORMED) and known(name, message)
                verdict = f"{verdict}, known" if explained else verdict
                totals[verdict] += 1
                failed |= verdict in (BROKEN, UNREADABLE, ILL_FORMED)
                if verdict != ALLOWED:
                    print(f"{verdict.upper()} {name}, {of}: {message}", flush=True)
    oracle.close()
    print(f"{programs} programs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(totals.items())))
    return 1 if failed or not totals[ALLOWED] else 0


if __name__ == "__main__":
    in_large_stack(lambda: STATUS.append(main()))
    sys.exit(STATUS[0] if STATUS else 1)
