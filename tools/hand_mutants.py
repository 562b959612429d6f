#!/usr/bin/env python3
"""Make the mistakes of `tests/mutants/` in a copy of the oracle, and see that golden cases find them.

Each file there is one plausible mistake: what it is, the source file, the golden cases that find it, the text that is
replaced (only what stands between « and »; the rest says where), and what it is replaced by. All of them are built into
one copy of the repository, each behind a switch, so that one build serves all. The copy then answers the cases as any other
implementation does, through the protocol, with one mistake at a time.

    tools/hand_mutants.py                  build, and ask every mutant the cases that are to find it
    tools/hand_mutants.py 'match-*' --all  ask these mutants the whole suite
    tools/hand_mutants.py --check          only see that each replaced text still occurs exactly once

Exit status 0 if every mutant is found, 1 if not or if a text does not occur exactly once. What was found before is not
asked again, as long as neither the sources nor the mutant have changed.
"""

import argparse
import fnmatch
import hashlib
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from switches import ROOT, SWITCH, Edit, build, check, copy

MUTANTS = ROOT / "tests" / "mutants"


@dataclass(frozen=True)
class Mutant(Edit):
    mistake: str = ""
    killed_by: tuple[str, ...] = ()

    @staticmethod
    def read(path: Path) -> "Mutant":
        form = re.fullmatch(
            r"mistake: (.+)\nfile: (.+)\nkilled by: (.+)\n--- replace\n(.+?)\n--- with\n(.*?)\n?",
            path.read_text(encoding="utf-8"),
            re.DOTALL,
        )
        if form is None:
            raise SystemExit(f"{path}: not of the form of a mutant")
        mistake, file, killed_by, replace, instead = form.groups()
        return Mutant(path.stem, file, replace, instead, mistake=mistake, killed_by=tuple(killed_by.split(", ")))


def mutants() -> list[Mutant]:
    return [Mutant.read(path) for path in sorted(MUTANTS.glob("*.mutant"))]


def ask(binary: Path, mutant: Mutant | None, cases: list[str], report: Path) -> list[str]:
    """The cases that the copy answers in another way than the suite permits, with this mistake."""
    adapter = [str(binary), "adapter"] if mutant is None else ["env", f"{SWITCH}={mutant.name}", str(binary), "adapter"]
    command = [str(binary), "conform", "--adapter", shlex.join(adapter), "--report", f"jsonl={report}", "--timeout", "10"]
    subprocess.run([*command, *cases], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    return [line["case"] for line in lines if line.get("verdict") not in (None, "agree")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="GLOB", help="only these mutants")
    parser.add_argument("--check", action="store_true", help="build nothing")
    parser.add_argument("--all", action="store_true", help="ask the whole suite")
    parser.add_argument("--again", action="store_true", help="ask again what was found before")
    parser.add_argument("--profile", choices=["dev", "release"], default="release")
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "hand-mutants", help="where the copy is kept")
    parser.add_argument("--target", type=Path, help="where it is built [default: in the copy's directory]")
    options = parser.parse_args()

    every = mutants()
    lost = check(every)
    print("\n".join(lost), file=sys.stderr)
    if options.check or lost:
        return 1 if lost else 0
    work = options.work.resolve()
    digest = copy(every, work / "tree")
    binary = build(work / "tree", (options.target or work / "build").resolve(), options.profile)
    report, kept = work / "report.jsonl", work / "results.json"
    named = sorted({case for mutant in every for case in mutant.killed_by})
    wrong = ask(binary, None, named, report)
    if wrong:
        print(f"without any mistake these cases disagree: {', '.join(wrong)}", file=sys.stderr)
        return 1
    results = json.loads(kept.read_text()) if kept.is_file() and not options.again else {}
    survivors = 0
    for mutant in every:
        if options.names and not any(fnmatch.fnmatch(mutant.name, glob) for glob in options.names):
            continue
        key = hashlib.sha256(f"{digest} {mutant} {options.all}".encode()).hexdigest()
        if key not in results:
            results[key] = ask(binary, mutant, [] if options.all else list(mutant.killed_by), report)
            kept.write_text(json.dumps(results))
        missed = [case for case in mutant.killed_by if case not in results[key]]
        survivors += bool(missed)
        fate = f"MISSED by {', '.join(missed)}" if missed else f"found by {', '.join(results[key])}"
        print(f"{mutant.name}: {fate}", flush=True)
    print(f"{survivors} of the mutants are not found as the table says" if survivors else "every mutant is found")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
