"""What is the verdict on each pass of TVM's default pipeline, for the programs of the corpus and the models?

    python3 pass_verdicts.py RELAX_SPEC [--releases 0.25,0.26,0.27] [--only GLOB] [--runs N] [--pipeline default]
    python3 pass_verdicts.py RELAX_SPEC --generated 300 [--first 0] ..

With `--generated`, the programs are those that `relax-spec fuzz --show` gives, with at least `LEAST` bindings each, as
far as they reach their end on some input and the text decides what they return: nothing else shows what a pass does.

`relax-spec blame` records the module after each pass and judges it against the one before. A table for each release: how
often each pass leaves the program as it is, is allowed, is not allowed, is undecided. Then a line for each of the last two
and for each refusal, with the reason, and the folder of the finding if `KNOWN` or `known_causes.py` has one. The exit status
is 1 if a pass is not allowed or refuses a program without such a folder, or if more than 3 % of the verdicts on passes of
Relax are undecided.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from differences import RELEASES, ROOT, entry
from known_causes import Judge, by_message, by_refusal

#: The passes in front of which a program with local functions has to be lifted.
LIFTED = "LambdaLift,default"
#: What the message of a verdict or a refusal contains -> the folder of the finding, or the reason why it is none.
KNOWN = {
    "a tensor is read that was not written in every element": "sum-of-nothing-unwritten",
    "of the storage was never written [MEM.UNWRITTEN]": "sum-of-nothing-unwritten",
    "CanProveDivisible(info.padding_factor, divisor)": "reshape-pattern-of-a-computed-size",
    "the body is Object, where the function returns": "field-of-a-closure-result",
    "hint_on_device": "no pass of the default pipeline lowers it; RealizeVDevice does",
    "The vdevice is not in the ir_module": "a device that is written out is another one for TVM than its equal in the list",
    "is to lie on llvm:0:global": "a copy to a device becomes a packed call, whose arguments lie where its result lies",
    "NF.UNIT.INLINE": "unit-in-a-dataflow-block",
    "does not bind the new shape variable": "lifted-size-of-the-outside",
    "WF23-12.14.DIMS-SCOPE": "lifted-size-of-the-outside",
    "@cumsum: division of 0 by zero": "scan-along-nothing",
    "@take_backward: `out_buf[": "no program that the release can write gives `take_backward` the mode of this index",
    "ran out of fuel": "the program does not end on this input",
    "an integer is divided by zero [PURE.ERR.OP]; of the target nothing is said": "division-by-zero",
}
#: The bindings that a generated program has at least and at most.
LEAST, MOST = 6, 60
#: What a program has -> what shows it.
MARKS = {"control flow": r"\n +if ", "symbolic shapes": r"= T\.int64\(\)", "PrimFuncs": r"@T\.prim_func"}
#: How often the pipeline runs on smaller programs in the search of what a release refuses.
REDUCE = 60
#: The edition that all releases claim.
EDITION = "2024-04"
#: The part of the verdicts on passes of Relax that has to be decided.
LEAST_DECIDED = 0.97
#: How the names of passes over PrimFuncs begin.
OVER_PRIM_FUNCS = ("tir.", "tirx.", "s_tir.")
WORDS = ("unchanged", "allowed", "not allowed", "undecided")


def programs(release):
    corpus, models = ROOT / "conformance" / "corpus", ROOT / "conformance" / "models"
    of_release = corpus / f"tvm-{release}"
    is_source = lambda path: not path.stem.endswith(".legalized") and "@R.function" in path.read_text()
    return [path for folder in (corpus, of_release, models) for path in sorted(folder.glob("*.py")) if is_source(path)]


def generated(tool, count, first, folder):
    """Files with generated programs, by their numbers."""
    texts, without_end = {}, 0
    number = first
    while len(texts) < count:
        command = [tool, "fuzz", "--show", str(number), "--bindings", str(MOST), "--edition", EDITION]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if text.count(" = ") >= LEAST:
            path = pathlib.Path(folder) / f"generated_{number}.py"
            path.write_text(text)
            if reaches_its_end(tool, path):
                texts[path] = text
            else:
                without_end += 1
        number += 1
    median = statistics.median(text.count(" = ") for text in texts.values())
    share = lambda mark: 100 * sum(1 for text in texts.values() if re.search(mark, text)) // count
    parts = ", ".join(f"{share(mark)} % with {what}" for what, mark in MARKS.items())
    print(f"{count} generated programs up to number {number - 1}, the median of their bindings {median}; {parts}")
    print(f"{without_end} others do not reach their end on any input, or the text leaves open what they return", flush=True)
    return list(texts)


def reaches_its_end(tool, path):
    """Whether the program refines itself, as a program does of which no run is without an end or undecided."""
    command = [tool, "refine", path, path, "--entry", "main", "--runs", "5", "--edition", EDITION]
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def blamed(tool, path, start, release, args, passes=()):
    """What `blame` says, line by line."""
    command = [tool, "blame", path, "--entry", start, "--adapter", f"tvm@{release}", "--format", "json"]
    command += ["--runs", str(args.runs), "--timeout", "1800", *(passes or ("--pipeline", args.pipeline))]
    said = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    if any("LambdaLift" in (line.get("message") or "") for line in lines if "refuses" in line) and not passes:
        return blamed(tool, path, start, release, args, ("--pass", LIFTED.replace("default", args.pipeline)))
    return lines or [{"refuses": None, "message": said.stderr.strip()}]


def smallest(tool, path, start, release, args):
    """The smallest program for which the same pass is to blame for the same reason."""
    command = [tool, "blame", path, "--entry", start, "--adapter", f"tvm@{release}", "--format", "json", "--runs", "3"]
    command += ["--reduce", str(REDUCE), "--timeout", "1800", "--pipeline", args.pipeline]
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line)["smallest"] for line in said if line.startswith("{") and "smallest" in json.loads(line)]
    return found[-1] if found else path.read_text()


def known(message):
    return next((folder for said, folder in KNOWN.items() if said in message), None)


class Table:
    """The verdicts of a release."""

    def __init__(self, judge, reduce):
        self.judge, self.reduce = judge, reduce
        self.of_pass = collections.defaultdict(collections.Counter)
        self.said, self.is_wrong = [], False

    def take(self, name, path, lines):
        for line in lines:
            if "verdict" not in line or not line["pass"].startswith("the "):
                self.take_verdict(name, path, line)

    def take_verdict(self, name, path, line):
        verdict = line.get("verdict")
        if verdict:
            self.of_pass[line["pass"]][verdict] += 1
        if verdict == "undecided":
            self.explain(f"{name}, {line['pass']}: undecided", line["message"], None)
        if verdict == "not allowed":
            self.explain(f"{name}, {line['pass']}: not allowed", line["message"], line["pass"], path)
        for broken in line.get("contracts", []):
            self.explain(f"{name}, {line['pass']}: a contract is broken", json.dumps(broken), line["pass"], path)
        if "refuses" in line:
            self.explain(f"{name}: refused by {line['refuses'] or 'TVM'}", line["message"], line["refuses"], path, True)

    def explain(self, what, message, must_be_known, path=None, refuses=False):
        """A verdict for which the pass that it names is to blame must be known."""
        folder = by_message(message, must_be_known or "", path and path.read_text()) or known(message)
        if refuses:
            folder = folder or by_refusal(message, path.read_text())
        if must_be_known and not folder:
            folder = " and ".join(self.judge.causes(path.read_text(), must_be_known) or []) or None
        if refuses and not folder:
            folder = by_refusal(message, self.reduce(path), True)
        self.is_wrong |= bool(must_be_known) and folder is None
        self.said.append(f"{what}: {folder or ' '.join(message.split())[:300]}")

    def tell(self, release):
        print(f"{release:28} " + " ".join(f"{word:>12}" for word in WORDS))
        total, relax = collections.Counter(), collections.Counter()
        for name, counts in self.of_pass.items():
            total.update(counts)
            relax.update({} if name.startswith(OVER_PRIM_FUNCS) else counts)
            print(f"{name:28} " + " ".join(f"{counts[word]:12}" for word in WORDS))
        for name, counts in (("all of Relax", relax), ("all", total)):
            print(f"{name:28} " + " ".join(f"{counts[word]:12}" for word in WORDS))
        print(*self.said, sep="\n", flush=True)
        return self.is_wrong or relax["undecided"] > (1 - LEAST_DECIDED) * relax.total() or not relax["allowed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--releases", default=RELEASES)
    parser.add_argument("--only", default="*")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--generated", type=int)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        made = generated(args.tool, args.generated, args.first, folder) if args.generated else None
        for release in args.releases.split(","):
            ask = lambda path, release=release: blamed(args.tool, path, "main", release, args)
            reduce = lambda path, release=release: smallest(args.tool, path, "main", release, args)
            table = Table(Judge(args.tool, folder, args.runs, EDITION, ask), reduce)
            for path in made or programs(release):
                start = entry(args.tool, path) if fnmatch.fnmatch(path.name, args.only) else None
                if start is not None:
                    table.take(f"{release} {path.stem}", path, blamed(args.tool, path, start, release, args))
            failed |= table.tell(release)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
