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
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tests" / "mutants"
SWITCH = "RELAX_SPEC_MUTANT"
MODULE = f"""\
//! Which mistake is made in this copy.

use std::sync::OnceLock;

pub(crate) fn is(name: &str) -> bool {{
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("{SWITCH}").ok()).as_deref() == Some(name)
}}
"""


@dataclass(frozen=True)
class Mutant:
    name: str
    mistake: str
    file: str
    killed_by: tuple[str, ...]
    replace: str
    instead: str

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
        return Mutant(path.stem, mistake, file, tuple(killed_by.split(", ")), replace, instead)

    def place(self, text: str) -> tuple[int, int] | None:
        """Where the replaced text stands, if it occurs exactly once; white space does not count."""
        before, rest = self.replace.split("«")
        middle, after = rest.split("»")
        words = [r"\s*".join(re.escape(word) for word in part.split()) for part in (before, middle, after)]
        found = list(re.finditer(r"{}\s*({})\s*{}".format(*words), text))
        return found[0].span(1) if len(found) == 1 else None


def mutants() -> list[Mutant]:
    return [Mutant.read(path) for path in sorted(MUTANTS.glob("*.mutant"))]


def check(all_mutants: list[Mutant]) -> list[str]:
    """The mutants whose text does not occur exactly once, or is a part of another one's."""
    lost, places = [], {}
    for mutant in all_mutants:
        path = ROOT / mutant.file
        place = mutant.place(path.read_text(encoding="utf-8")) if path.is_file() else None
        if place is None:
            lost.append(f"{mutant.name}: the replaced text does not occur exactly once in {mutant.file}")
            continue
        start, stop = place
        for (file, other_start, other_stop), other in places.items():
            overlaps = start < other_stop and other_start < stop and place != (other_start, other_stop)
            if file == mutant.file and overlaps:
                lost.append(f"{mutant.name}: the replaced text overlaps with that of {other}")
        places[mutant.file, start, stop] = mutant.name
    return lost


def with_switches(text: str, here: list[Mutant]) -> str:
    """The source file with all its mistakes, each behind its switch."""
    places: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in here:
        place = mutant.place(text)
        assert place is not None
        places.setdefault(place, []).append(mutant)
    end = len(text)
    for start, stop in sorted(places, reverse=True):
        if stop > end:
            raise SystemExit(f"{here[0].file}: {places[start, stop][0].name} overlaps with another mutant")
        original = text[start:stop]
        branches = [f'if crate::hand_mutants::is("{m.name}") {{ {m.instead} }} else ' for m in places[start, stop]]
        switched = "".join(branches) + "{ " + original + " }"
        if not original.endswith(";"):
            switched = f"({switched})"
        text = text[:start] + switched + text[stop:]
        end = start
    return text


def copy(all_mutants: list[Mutant], tree: Path) -> str:
    """Writes the copy; gives a digest of the sources as they are in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    digest = hashlib.sha256()
    kept = {tree / "src" / "hand_mutants.rs"}
    for name in sorted(filter(None, listed.decode().split("\0"))):
        source = ROOT / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if name.startswith(("src/", "conformance/suite/", "Cargo", "build.rs")):
            digest.update(name.encode() + b"\0" + data)
        here = [mutant for mutant in all_mutants if mutant.file == name]
        if here:
            data = with_switches(data.decode(), here).encode()
        if name == "src/lib.rs":
            data = b"#![allow(warnings, clippy::all)]\n" + data + b"\nmod hand_mutants;\n"
        kept.add(tree / name)
        write(tree / name, data)
    # What has moved since the copy was made would be there twice.
    for path in tree.rglob("*"):
        if path.is_file() and path not in kept and "target" not in path.relative_to(tree).parts:
            path.unlink()
    write(tree / "src" / "hand_mutants.rs", MODULE.encode())
    return digest.hexdigest()


def write(path: Path, data: bytes) -> None:
    """Only what has changed, so that the build is incremental."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def build(tree: Path, target: Path, profile: str) -> Path:
    options = ["--release"] if profile == "release" else []
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(["cargo", "build", "--locked", "--bin", "relax-spec", *options], cwd=tree, env=environment, check=True)
    return target / ("release" if profile == "release" else "debug") / "relax-spec"


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
