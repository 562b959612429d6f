"""What is the verdict on each pass of TVM's pipelines, for the programs of the corpus and the models, or for generated ones?

    python3 pass_verdicts.py RELAX_SPEC RECORDS [--releases 0.25,0.26,0.27] [--pipelines default,zero,target] [--only GLOB]
    python3 pass_verdicts.py RELAX_SPEC RECORDS --generated 300 [--sample 100] ..

With `--generated`, the programs are those that `relax-spec fuzz --show` gives, with at least `LEAST` bindings each, as
far as they reach their end on some input and the text decides what they return: nothing else shows what a pass does.
`--sample` takes some of them at random, the same ones each time.

`relax-spec blame` records the module after each pass and judges it against the one before. The folder `RECORDS` keeps the
programs and what is said of them. The same command goes on where it was stopped, and judges again what no finding explains.
A table for each release and pipeline: how often each pass leaves the program as it is, is allowed, is not allowed, is
undecided. Then how often which reason was given, and at the end a row for each release and pipeline. The exit status is 1
if a pass is not allowed or refuses a program without a reason in `known_messages.py` or `known_causes.py`, or if more than
3 % of the verdicts on passes of Relax are undecided.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

from differences import RELEASES, ROOT, entry
from known_causes import BROKEN, NOT_ALLOWED, REFUSED, Accused, Judge, by_refusal
from known_messages import by_message

#: The passes in front of which a program with local functions has to be lifted.
LIFTED = "LambdaLift,default"
PIPELINES = "default,zero,target"
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
CODE_GENERATION = "code generation"
WORDS = ("unchanged", "allowed", "not allowed", "undecided")
#: What has to have a reason.
ACCUSATIONS = (NOT_ALLOWED, BROKEN, REFUSED)
#: The characters of a message that are kept.
LONGEST = 2000


def programs(release):
    corpus, models = ROOT / "conformance" / "corpus", ROOT / "conformance" / "models"
    of_release = corpus / f"tvm-{release}"
    is_source = lambda path: not path.stem.endswith(".legalized") and "@R.function" in path.read_text()
    return [path for folder in (corpus, of_release, models) for path in sorted(folder.glob("*.py")) if is_source(path)]


def generated(tool, count, folder):
    """The first generated programs. A program that is left out is an empty file."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, number = [], 0
    while len(kept) < count:
        path = folder / f"generated_{number}.py"
        if not path.exists():
            command = [tool, "fuzz", "--show", str(number), "--bindings", str(MOST), "--edition", EDITION]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            write(path, text if is_of_use(tool, text) else "")
        kept += [path] if path.read_text() else []
        number += 1
    print(f"{count} generated programs up to number {number - 1}; {number - count} others have too few bindings, do not reach")
    print("their end on any input, or the text leaves open what they return")
    return kept


def is_of_use(tool, text):
    """Whether the program has bindings enough and refines itself, as one does of which no run is endless or undecided."""
    if text.count(" = ") < LEAST:
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".py") as draft:
        draft.write(text)
        draft.flush()
        command = [tool, "refine", draft.name, draft.name, "--entry", "main", "--runs", "5", "--edition", EDITION]
        return subprocess.run(command, capture_output=True).returncode == 0


def write(path, text):
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(path)


def described(paths):
    texts = [path.read_text() for path in paths]
    share = lambda mark: 100 * sum(1 for text in texts if re.search(mark, text)) / len(texts)
    parts = ", ".join(f"{share(mark):.0f} % with {what}" for what, mark in MARKS.items())
    return (
        f"{len(paths)} programs, the median of their bindings {statistics.median(text.count(' = ') for text in texts)}; {parts}"
    )


class Release:
    """A release with one of its pipelines, to which programs are put."""

    def __init__(self, tool, release, pipeline, runs):
        self.tool, self.release, self.pipeline, self.runs = tool, release, pipeline, runs

    def ask(self, path, start, *more):
        command = [self.tool, "blame", path, "--entry", start, "--adapter", f"tvm@{self.release}", "--format", "json"]
        said = subprocess.run([*command, "--timeout", "1800", *more], capture_output=True, text=True)
        return [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")], said.stderr.strip()

    def blamed(self, path, given=(), name=None, start="main", passes=()):
        """What `blame` says, line by line, on the given arguments alone or on some; of the pass `name` if there is one."""
        more = [*(passes or ("--pipeline", self.pipeline)), *(f"--arg={argument}" for argument in given)]
        if name and name != CODE_GENERATION and not name.startswith(OVER_PRIM_FUNCS):
            more += ["--exec", "none"]
        lines, error = self.ask(path, start, "--runs", str(1 if given else self.runs), *more)
        if any("LambdaLift" in (line.get("message") or "") for line in lines if "refuses" in line) and not passes:
            return self.blamed(path, given, name, start, ("--pass", LIFTED.replace("default", self.pipeline)))
        return lines or [{"refuses": None, "message": error}]

    def smallest(self, path, start="main"):
        """The smallest program for which the same pass is to blame for the same reason."""
        lines, _ = self.ask(path, start, "--runs", "3", "--reduce", str(REDUCE), "--pipeline", self.pipeline)
        return next((line["smallest"] for line in reversed(lines) if "smallest" in line), path.read_text())


class Explained:
    """What is said of a program, with the reasons."""

    def __init__(self, judge, release, path, start):
        self.judge, self.release, self.path, self.start = judge, release, path, start
        self.text = path.read_text()

    def record(self):
        lines = self.release.blamed(self.path, start=self.start)
        counts = [[line["pass"], line["verdict"]] for line in lines if "verdict" in line and not line["pass"].startswith("the ")]
        said = [said for line in lines for said in self.of(line)]
        return {"program": self.path.stem, "text": self.text, "verdicts": counts, "said": said}

    def of(self, line):
        """What needs a reason in a line of `blame`: the sort, the pass, the reason or None, and the message."""
        if (line.get("pass") or "").startswith("the "):
            return
        if line.get("verdict") in ("undecided", "not allowed"):
            given = line["counterexample"] or ()
            yield self.explained(line["verdict"], line["pass"], line["message"], given, line.get("module") or "")
        for broken in line.get("contracts", []):
            yield self.explained(BROKEN, line["pass"], json.dumps(broken))
        if "refuses" in line:
            yield self.explained(REFUSED, line["refuses"], line["message"])

    def explained(self, sort, name, message, given=(), module=""):
        message = " ".join(message.split())[:LONGEST]
        cause = by_words(sort, name or "TVM", message, self.text)
        if sort in ACCUSATIONS and name and not cause:
            accused = Accused(self.text, name, sort, tuple(given), message, module)
            cause = " and ".join(self.judge.causes(accused) or []) or None
        if sort == REFUSED and not cause:
            cause = by_refusal(message, self.release.smallest(self.path, self.start), True)
        return [sort, name or "TVM", message, cause]


def by_words(sort, name, message, text):
    """The reason that a message and the program say."""
    if sort != REFUSED:
        return by_message(message, name, text)
    name = CODE_GENERATION if name.startswith(OVER_PRIM_FUNCS) else name
    return by_message(message, name, text) or by_refusal(message, text)


class Records:
    """What has been said of the programs that were put to a release and a pipeline: a file with a line for each program."""

    def __init__(self, path):
        self.path, self.of_program = path, {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self.take(json.loads(line))

    def take(self, record):
        self.of_program[record["program"]] = record

    def is_done(self, path):
        record = self.of_program.get(path.stem)
        return record is not None and record["text"] == path.read_text() and not any(map(is_open, reasons(record)))

    def keep(self, record):
        self.take(record)
        write(self.path, "".join(json.dumps(kept) + "\n" for kept in self.of_program.values()))


def reasons(record):
    """What is said of a program: the program, the sort, the pass, the message, and the reason or None."""
    for sort, name, message, cause in record["said"]:
        yield record["program"], sort, name, message, by_words(sort, name, message, record["text"]) or cause


def is_open(said):
    """Whether a pass is accused without a reason."""
    _, sort, _, _, cause = said
    return sort in ACCUSATIONS and cause is None


class Table:
    """The verdicts of a release and a pipeline on some programs."""

    def __init__(self, title, records):
        self.title, self.records = title, records
        self.of_pass = collections.defaultdict(collections.Counter)
        for record in records:
            for name, verdict in record["verdicts"]:
                self.of_pass[name][verdict] += 1
        of_relax = [counts for name, counts in self.of_pass.items() if not name.startswith(OVER_PRIM_FUNCS)]
        self.relax = sum(of_relax, collections.Counter())
        self.said = [said for record in records for said in reasons(record)]
        self.open = [said for said in self.said if is_open(said)]

    def fails(self):
        return bool(self.open) or not self.relax["allowed"] or self.relax["undecided"] > (1 - LEAST_DECIDED) * self.relax.total()

    def tell(self):
        head = " ".join(f"{word:>12}" for word in WORDS)
        total = sum(self.of_pass.values(), collections.Counter())
        print(f"\n{self.title:28} {head}")
        for name, counts in [*self.of_pass.items(), ("all of Relax", self.relax), ("all", total)]:
            print(f"{name:28} " + " ".join(f"{counts[word]:12}" for word in WORDS))
        for (sort, reason), programs in sorted(self.by_reason().items(), key=lambda item: (item[0][0], -len(item[1]))):
            print(f"{sort}, {len(programs)}: {reason} ({', '.join(sorted(set(programs))[:3])})")
        for program, sort, name, message, _ in self.open:
            print(f"OPEN {program}, {name}: {sort}: {message[:300]}", flush=True)

    def by_reason(self):
        """How often which reason was given for what is said of passes of Relax."""
        found = collections.defaultdict(list)
        for program, sort, name, message, cause in self.said:
            if sort in ACCUSATIONS or not name.startswith(OVER_PRIM_FUNCS):
                found[sort, cause or re.sub(r"`[^`]*`|-?\d[\d.]*", "#", message)[:90]].append(program)
        return found

    def row(self):
        counts = [self.relax[word] for word in WORDS]
        refused = sum(1 for _, sort, *_ in self.said if sort == "refused")
        percent = 100 * self.relax["undecided"] / max(1, self.relax.total())
        return [self.title, len(self.records), self.relax.total(), *counts, f"{percent:.2f}", refused, len(self.open)]


HEAD = ["release, pipeline", "programs", "verdicts", *WORDS, "undecided %", "refused", "open"]


def judged(args, release, pipeline, paths, folder):
    """The records of the programs that are put to a release and a pipeline."""
    put = Release(args.tool, release, pipeline, args.runs)
    judge = Judge(args.tool, folder, args.runs, EDITION, put.blamed)
    records = Records(args.records / f"{release}-{pipeline}.jsonl")
    for path in paths:
        if not args.tell and not records.is_done(path):
            start = entry(args.tool, path)
            if start is not None:
                records.keep(Explained(judge, put, path, start).record())
    return [records.of_program[path.stem] for path in paths if path.stem in records.of_program]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("--releases", default=RELEASES)
    parser.add_argument("--pipelines", default=PIPELINES)
    parser.add_argument("--only", default="*")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--generated", type=int)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--tell", action="store_true", help="only tell what has been recorded")
    args = parser.parse_args()
    drawn = generated(args.tool, args.generated, args.records / "programs") if args.generated else None
    drawn = random.Random(0).sample(drawn, len(drawn))[: args.sample] if drawn else None
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        for release in args.releases.split(","):
            paths = [path for path in drawn or programs(release) if fnmatch.fnmatch(path.name, args.only)]
            for pipeline in args.pipelines.split(","):
                tables.append(Table(f"{release}, {pipeline}", judged(args, release, pipeline, paths, folder)))
                tables[-1].tell()
            print(described(paths))
    print("", *("\t".join(map(str, row)) for row in [HEAD, *(table.row() for table in tables)]), sep="\n")
    return int(any(table.fails() for table in tables))


if __name__ == "__main__":
    sys.exit(main())
