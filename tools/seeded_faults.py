#!/usr/bin/env python3
"""Thirty wrong implementations, and how long a campaign takes to find each.

A fault is a mutant of the oracle's source as cargo-mutants makes them (an operator, a condition, an arm, the value of a
function), drawn by a seed, six from each of the parser, the checker, the normalizer, the evaluator and the machine.
`conformance/faults/faults.json` has them, and `rejected.json` what was drawn before them and why it was no use. All of them
are built into one copy of the repository, each behind a switch that is read from the environment.

    tools/draw_faults.py                   draw them anew; needs cargo-mutants and tools/requirements-mutants.txt
    tools/seeded_faults.py build           build the copy, and say how it is started
    tools/seeded_faults.py run             ask a campaign to find each, and see that it finds nothing in the copy without a fault
    tools/seeded_faults.py run --without casts,effects    the same without features of the generator, or the texts (`seeds`)
    tools/seeded_faults.py run --each --seconds 20        without each of them, one after the other; goes on where it was stopped
    tools/seeded_faults.py table           write conformance/faults/README.md from what was measured
    tools/seeded_faults.py check           only see that each text still occurs exactly once, and that the table is up to date

What was measured before is measured again only with `--again`.
"""

import argparse
import fnmatch
import json
import os
import re
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from switches import ROOT, SWITCH, Edit, build, check, copy

FAULTS = ROOT / "conformance" / "faults"
DRAWN, RESULTS, TABLE = FAULTS / "faults.json", FAULTS / "results.json", FAULTS / "README.md"


@dataclass(frozen=True)
class Fault(Edit):
    part: str = ""
    function: str = ""
    line: int = 0
    before: str = ""
    after: str = ""


def drawn() -> list[Fault]:
    return [Fault(**entry) for entry in json.loads(DRAWN.read_text(encoding="utf-8"))["faults"]]


def write_json(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# The copy.


def built(work: Path, target: Path | None, faults: list[Fault]) -> Path:
    """The program of the copy, kept where no other build replaces it."""
    copy(faults, work / "tree")
    program = build(work / "tree", target or work / "build")
    kept = work / "relax-spec"
    shutil.copy2(program, kept)
    return kept


def adapter(program: Path, fault: Fault | None, part: str) -> list[str]:
    """The copy as an implementation, with this fault. A fault of the machine shows where the machine runs the programs."""
    chosen = [] if fault is None else ["env", f"{SWITCH}={fault.name}"]
    engine = ["--engine", "vm"] if part == "machine" else []
    return [*chosen, str(program), "adapter", *engine]


# The campaign.

SEED = 1
SECONDS = 60
# A campaign judges by one edition. What the first one does not find is asked by the last one, which has rules of its own.
FIRST, LAST = "2023-02", "2024-04"
# Beside the defaults of a campaign.
PATHS = ["--seeds", "--paths", "drawn,derive,well_formed,normal_form,type_check"]
# What a fault makes endless or without bounds is ended, and is found by that.
TIMEOUT, MEMORY = 5, 6 << 30


# The texts of the suite are no feature of the generator, and can be left out as if they were.
TEXTS = "seeds"
FEATURES = ROOT / "crates" / "campaign" / "src" / "programs" / "features.rs"


def each_feature() -> list[str]:
    listed = FEATURES.read_text(encoding="utf-8").split("\nfeatures! {")[1]
    return [TEXTS, *re.findall(r"^    (\w+);$", listed, re.MULTILINE)]


def campaign(program: Path, asked: list[str], without: str, edition: str, out: Path) -> list[str]:
    left_out = [name for name in without.split(",") if name]
    command = [str(program), "fuzz", "--adapter", shlex.join(asked), "--seed", str(SEED), "--time", "8h"]
    command += ["--edition", edition, "--reduce", "0", "--timeout", str(TIMEOUT), "--out", str(out)]
    command += [word for word in PATHS if word != "--seeds" or TEXTS not in left_out]
    features = [name for name in left_out if name != TEXTS]
    return [*command, "--without", ",".join(features)] if features else command


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def measure(program: Path, fault: Fault | None, part: str, seconds: int, without: str, edition: str = FIRST) -> dict:
    """After how many seconds the first finding is kept, and what it is; the start of both processes counts.

    The seconds are those that the processors work for the campaign and its adapter, which take turns: on a machine with nothing
    else to do they are those of the clock, which are noted as well."""
    with tempfile.TemporaryDirectory() as out:
        command = campaign(program, adapter(program, fault, part), without, edition, Path(out))
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+") as said:
            running = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, preexec_fn=limited)
            try:
                found = first_finding(running, Path(out), seconds)
            finally:
                clock = round(time.monotonic() - begun, 1)
                end(running)
            said.seek(0)
            words = said.read()
    if found is None and running.returncode not in (0, 5):
        raise SystemExit(f"{shlex.join(command)}\nends with {running.returncode}: {words[-2000:]}")
    programs = re.search(r"(\d+) programs, ", words)
    counts = {"clock": clock, "programs": int(programs[1]) if programs else None, "edition": edition}
    return {**(found or {"seconds": None}), **counts}


def measure_by_editions(program: Path, fault: Fault, seconds: int, without: str, known: dict | None) -> dict:
    """By the first edition, and if that finds nothing the last one; without a feature by the edition that finds it with all."""
    if known is not None:
        edition = known.get("edition", FIRST)
        return measure(program, fault, fault.part, seconds, without, edition)
    first = measure(program, fault, fault.part, seconds, without)
    return first if first["seconds"] is not None else measure(program, fault, fault.part, seconds, without, LAST)


TICKS = os.sysconf("SC_CLK_TCK")


def worked(running: subprocess.Popen) -> float:
    """How many seconds processors have worked for a process and those that it has started, the ended ones included."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(stat.parent.name), stat.read_text().rsplit(") ", 1)[1].split()
        except (OSError, IndexError):
            continue
        # The session that was begun for the campaign.
        if pid == running.pid or int(rest[3]) == running.pid:
            times = rest[11:15] if pid == running.pid else rest[11:13]
            total += sum(int(ticks) for ticks in times)
    return total / TICKS


def first_finding(running: subprocess.Popen, out: Path, seconds: int) -> dict | None:
    while True:
        ended = running.poll() is not None
        spent = worked(running)
        for path in sorted(out.glob("*.json")):
            if path.name == "state.json":
                continue
            finding = json.loads(path.read_text(encoding="utf-8"))
            signature = finding["signature"]
            what = f"{signature['kind']} at {signature['stage']}: {signature['message']}"
            return {"seconds": round(spent, 1), "finding": what[:120], "paths": finding["paths"]}
        if ended or spent > seconds:
            return None
        time.sleep(0.1)


def end(running: subprocess.Popen) -> None:
    """Both processes: the campaign ends by itself when it is interrupted, and ends its adapter."""
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
    try:
        running.wait(12 * TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def results() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {"runs": {}}


def is_found(kept: dict, fault: Fault, seconds: int) -> bool:
    """Whether it is found with every feature, within the time that is given without one: else nothing can be lost."""
    found = kept["runs"]["everything"]["faults"].get(fault.name, {}).get("seconds")
    return found is not None and found <= seconds


def run_each(options: argparse.Namespace, faults: list[Fault]) -> int:
    for name in each_feature():
        print(f"without {name}", flush=True)
        run(argparse.Namespace(**{**vars(options), "without": name}), faults)
    return 0


def run(options: argparse.Namespace, faults: list[Fault]) -> int:
    program = options.work / "relax-spec"
    name = f"without {options.without}" if options.without else "everything"
    kept = results()
    here = kept["runs"].setdefault(name, {"budget": options.seconds, "faults": {}})
    sound = [(part, edition) for part in ("evaluator", "machine") for edition in (FIRST, LAST)]
    for part, edition in sound if not options.without else ():
        clean = f"no fault, {part}, {edition}"
        if clean not in here["faults"] or options.again:
            here["faults"][clean] = measure(program, None, part, options.seconds, options.without, edition)
            print(f"{clean}: {here['faults'][clean]}", flush=True)
            write_json(RESULTS, kept)
        if here["faults"][clean]["seconds"] is not None:
            print("a campaign that finds something where nothing is wrong measures nothing", file=sys.stderr)
            return 1
    for fault in faults:
        if options.names and not any(fnmatch.fnmatch(fault.name, glob) for glob in options.names):
            continue
        if fault.name in here["faults"] and not options.again:
            continue
        if options.without and not is_found(kept, fault, options.seconds):
            continue
        known = kept["runs"]["everything"]["faults"].get(fault.name) if options.without else None
        here["faults"][fault.name] = measure_by_editions(program, fault, options.seconds, options.without, known)
        print(f"{fault.name}: {here['faults'][fault.name]}", flush=True)
        write_json(RESULTS, kept)
    return 0


# The table.

PAGE = FAULTS / "page.md"
"""What stands before the tables."""
EQUIVALENT = FAULTS / "equivalent.json"
"""What was drawn and is no fault, by the name of the mutant, with the reason; `draw_faults.py` leaves it out."""


def when(measured: dict | None) -> str:
    if measured is None:
        return ""
    return "not found" if measured["seconds"] is None else f"{measured['seconds']:.1f}"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def page(faults: list[Fault], kept: dict) -> str:
    """The page as it stands in the repository."""
    everything = kept["runs"].get("everything", {"faults": {}})["faults"]
    found = sum(everything.get(fault.name, {}).get("seconds") is not None for fault in faults)
    lines = [PAGE.read_text(encoding="utf-8").rstrip(), "", "## The faults", ""]
    measured = f"{found} of {len(faults)} are found within {SECONDS} seconds each." if everything else "Nothing is measured yet."
    lines += [measured, ""]
    lines += ["| fault | where | instead of | it has | seconds | found by |", "| --- | --- | --- | --- | ---: | --- |"]
    for fault in faults:
        seen = everything.get(fault.name)
        by = ""
        if seen and seen["seconds"] is not None:
            by = f"{', '.join(seen['paths'])}: {seen['finding']}" + (f", by {LAST}" if seen.get("edition") == LAST else "")
        place = f"`{fault.file}`, `{fault.function}`"
        change = f"`{cell(fault.before)[:90]}` | `{cell(fault.after)[:90]}`"
        lines.append(f"| {fault.name} | {place} | {change} | {when(seen)} | {cell(by)} |")
    return "\n".join([*lines, "", *features(faults, kept), ""])


def features(faults: list[Fault], kept: dict) -> list[str]:
    """A row for each feature that was left out: what is found still, and what is lost."""
    everything = kept["runs"].get("everything", {"faults": {}})["faults"]
    lines = ["## Without a feature", "", "| without | budget | found | not found any more | median, seconds |"]
    lines.append("| --- | ---: | ---: | --- | ---: |")
    for name, run in kept["runs"].items():
        asked = {f.name: run["faults"][f.name] for f in faults if f.name in run["faults"]}
        within = {n: m for n, m in everything.items() if n in asked and (m["seconds"] or SECONDS) <= run["budget"]}
        times = sorted(m["seconds"] for m in asked.values() if m["seconds"] is not None)
        lost = [n for n, m in asked.items() if m["seconds"] is None and n in within]
        median = f"{statistics.median(times):.1f}" if times else ""
        what = name.removeprefix("without ") if name != "everything" else "nothing"
        lines.append(f"| {what} | {run['budget']} s | {len(times)} of {len(asked)} | {', '.join(lost)} | {median} |")
    return lines


def checked(faults: list[Fault]) -> int:
    wrong = check(faults)
    if not TABLE.is_file() or TABLE.read_text(encoding="utf-8") != page(faults, results()):
        wrong.append(f"{TABLE.relative_to(ROOT)} is not what `tools/seeded_faults.py table` writes")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "run", "table", "check"])
    parser.add_argument("names", nargs="*", metavar="GLOB", help="only these faults")
    parser.add_argument("--without", default="", metavar="FEATURE,..", help="features of the generator that are left out")
    parser.add_argument("--each", action="store_true", help="without each feature, one after the other")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each fault [default: 60]")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "seeded-faults", help="where the copy is kept")
    parser.add_argument("--target", type=Path, help="where it is built [default: in the copy's directory]")
    options = parser.parse_args()
    options.work = options.work.resolve()
    faults = drawn()
    match options.command:
        case "build":
            program = built(options.work, options.target and options.target.resolve(), faults)
            print(shlex.join(adapter(program, faults[0], faults[0].part)))
            return 0
        case "run":
            return run_each(options, faults) if options.each else run(options, faults)
        case "table":
            TABLE.write_text(page(faults, results()), encoding="utf-8")
            return 0
    return checked(faults)


if __name__ == "__main__":
    sys.exit(main())
