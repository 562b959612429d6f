#!/usr/bin/env python3
"""Draws the faults of `conformance/faults/faults.json`: mutants that cargo-mutants lists, in an order that a seed gives.

Six for each part of the oracle, two each of a kind: an operator, an arm of a match, the value of a function. The order is
gone through, and what is no use is left out for a reason that a program can see; `conformance/faults/rejected.json` keeps it.

* What the mutant replaces names a rule, an erratum or an edition: that would be a rule masked, or another reading.
* The function writes what people read, or what a report counts; or it is what `explain` shows.
* It stands where no switch can be put, or in the way of a fault that was drawn before.
* It does not compile.
* No question of the golden suite on a program reaches it, when the oracle answers through the protocol.
* It was drawn before and shown by reading to change no answer: `conformance/faults/equivalent.json` says why. The next of the
  order takes its place. That a fault was not found is no reason.

Needs cargo-mutants on the path and the packages in tools/requirements-mutants.txt. `relax-spec export` gives the questions, so
the command has to be built before.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

from mutants import Source, is_const, named, operator_at
from seeded_faults import DRAWN, EQUIVALENT, FAULTS, Fault, built, write_json
from switches import REACHED, ROOT, copy

SEED = 1
# How many of each part, kind and group are built before it is known which compile and are reached.
AHEAD = {"operator": 12, "arm": 10, "value": 14}

# The directories of each part; where there are several, they take turns.
PARTS = {
    "parser": [["src/syntax/tvmscript/read/**/*.rs", "src/syntax/tvmscript/mod.rs", "src/syntax/tvmscript/tir_parse/**/*.rs"]],
    "checker": [
        ["src/well_formed/**/*.rs", "src/scope.rs", "src/check/**/*.rs"],
        ["src/type_checking/**/*.rs", "src/types/**/*.rs", "src/purity.rs"],
        ["src/struct_info/**/*.rs", "src/derivation/**/*.rs"],
    ],
    "normalizer": [["src/normal_form/**/*.rs"]],
    "evaluator": [["src/eval/**/*.rs"], ["src/ops/**/*.rs"]],
    "machine": [["src/vm/**/*.rs"]],
}
LEFT_OUT = ["src/**/tests.rs", "src/**/*_tests.rs", "src/**/tests/**", "src/**/instead.rs"]
# What goes on behind a syntax error, for the report, and the steps that `run --trace` shows.
LEFT_OUT += ["src/syntax/tvmscript/read/broken.rs", "src/eval/trace.rs", "src/vm/run/trace.rs"]
KINDS = {
    "operator": ("BinaryOperator", "UnaryOperator"),
    "arm": ("MatchArm", "MatchArmGuard"),
    "value": ("FnValue",),
}
EACH = 2
# What is written for people, and what is counted for reports: no answer changes with it.
FOR_PEOPLE = re.compile(
    r"::fmt$|^Fault::|message|describe|explain|report|told|trail|span|conclude$|as_str$|coverage|statistic|hash$"
)
# The questions that a campaign of programs can ask.
OF_PROGRAMS = [
    "parse", "check", "well_formed", "normal_form", "type_check", "normalize", "derive_function", "derive_var", "evaluate",
    "evaluate_identity", "trial",
]  # fmt: skip


def listed(globs: list[str]) -> list[dict]:
    command = ["cargo", "mutants", "--list", "--json", "--no-shuffle"]
    command += [word for glob in globs for word in ("--file", glob)]
    command += [word for glob in LEFT_OUT for word in ("--exclude", glob)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


class File:
    """A source file, and where its faults stand."""

    def __init__(self, name: str):
        self.name = name
        self.source = Source(ROOT / name)
        self.text = self.source.text.decode()

    def chars(self, byte: int) -> int:
        return len(self.source.text[:byte].decode())

    def marked(self, start: int, stop: int) -> str | None:
        """The text from `start` to `stop` between « and », with as many lines around it as make it occur exactly once."""
        for around in range(40):
            first, last = self.line_before(start, around), self.line_after(stop, around)
            before, middle, after = self.text[first:start], self.text[start:stop], self.text[stop:last]
            if "«" in before + middle + after or "»" in before + middle + after:
                return None
            place = place_of(f"{before}«{middle}»{after}", self.text)
            if place and self.text[min(place[0], start) : max(place[0], start)].strip() == "":
                return f"{before.lstrip()}«{middle}»{after.rstrip()}"
        return None

    def line_before(self, at: int, lines: int) -> int:
        for _ in range(lines + 1):
            at = self.text.rfind("\n", 0, at) if at > 0 else 0
        return max(0, at)

    def line_after(self, at: int, lines: int) -> int:
        for _ in range(lines + 1):
            found = self.text.find("\n", at + 1)
            at = found if found >= 0 else len(self.text)
        return at


def place_of(replace: str, text: str) -> tuple[int, int] | None:
    return Fault("", "", replace, "").place(text)


def node_of(source: Source, mutant: dict):
    """The node that the mutant changes, the bytes that are exchanged, what stands there instead, and in which form."""
    start, end = source.offset(mutant["span"]["start"]), source.offset(mutant["span"]["end"])
    new = mutant["replacement"]
    match mutant["genre"]:
        case "FnValue":
            node = source.at(start, end, ["block"])
            if node is None or node.parent is None or node.parent.type != "function_item" or is_const(node):
                return None
            return node, (node.start_byte + 1, node.start_byte + 1), new, "return"
        case "BinaryOperator":
            node = source.at(start, end, ["binary_expression", "compound_assignment_expr"])
            if node is None or is_const(node) or not operator_at(node, start):
                return None
            operator = node.child_by_field_name("operator")
            before = source.text[node.start_byte : operator.start_byte].decode()
            after = source.text[operator.end_byte : node.end_byte].decode()
            return node, (node.start_byte, node.end_byte), before + new + after, "expression"
        case "UnaryOperator":
            node = source.at(start, end, ["unary_expression"])
            if node is None or node.start_byte != start or is_const(node):
                return None
            text = source.text[node.start_byte + 1 : node.end_byte].decode()
            return node, (node.start_byte, node.end_byte), text, "expression"
        case "MatchArm" | "MatchArmGuard":
            return arm_of(source, mutant, start, end, new)
    return None


def arm_of(source: Source, mutant: dict, start: int, end: int, new: str):
    node = source.at(start, end, ["match_arm"])
    pattern = node.child_by_field_name("pattern") if node else None
    if pattern is None or is_const(node):
        return None
    condition = pattern.child_by_field_name("condition")
    if condition is not None:
        if condition.type in ("let_condition", "let_chain"):
            return None
        instead = "false" if mutant["genre"] == "MatchArm" else new
        if instead not in ("true", "false"):
            return None
        return node, (condition.start_byte, condition.end_byte), instead, "expression"
    if mutant["genre"] == "MatchArmGuard":
        return None
    return node, (pattern.end_byte, pattern.end_byte), "", "guard"


class Draw:
    def __init__(self, seed: int):
        self.seed = seed
        self.files: dict[str, File] = {}
        self.rejected: list[dict] = []
        self.taken: list[tuple[str, int, int]] = []
        self.equivalent: dict[str, str] = json.loads(EQUIVALENT.read_text(encoding="utf-8"))

    def reject(self, part: str, mutant: dict, reason: str) -> None:
        self.rejected.append({"part": part, "mutant": mutant["name"], "reason": reason})

    def file(self, name: str) -> File:
        if name not in self.files:
            self.files[name] = File(name)
        return self.files[name]

    def orders(self):
        """For each part, kind and group of directories, the mutants in the order in which they are drawn."""
        for part, groups in PARTS.items():
            lists = [listed(globs) for globs in groups]
            for kind, genres in KINDS.items():
                for at, mutants in enumerate(lists):
                    here = named([mutant for mutant in mutants if mutant["genre"] in genres])
                    yield part, kind, at, [{**here[name], "key": name} for name in sorted(here, key=self.place_of)]

    def place_of(self, name: str) -> str:
        """A place in the order that an edit elsewhere does not change."""
        return hashlib.sha256(f"{self.seed} {name}".encode()).hexdigest()

    def fault(self, part: str, mutant: dict, name: str) -> Fault | None:
        """The mutant behind its switch, or the reason why not is noted."""
        file = self.file(mutant["file"])
        function = (mutant.get("function") or {}).get("function_name", "")
        if FOR_PEOPLE.search(function):
            return self.reject(part, mutant, "writes what people read")
        found = node_of(file.source, mutant)
        if found is None:
            return self.reject(part, mutant, "no switch can be put there")
        node, (start_byte, stop_byte), instead, form = found
        if "rule!(" in file.source.slice(node):
            return self.reject(part, mutant, "a rule would be masked")
        if "is_traced()" in file.source.slice(node):
            return self.reject(part, mutant, "shows in derivations that are explained only")
        if re.search(r"\b(Erratum|Edition)::", file.source.slice(node)):
            return self.reject(part, mutant, "another reading or edition would be taken")
        start, stop = file.chars(start_byte), file.chars(stop_byte)
        if any(n == file.name and start <= b and a <= stop for n, a, b in self.taken):
            return self.reject(part, mutant, "stands in one that was drawn before")
        replace = file.marked(start, stop)
        if replace is None:
            return self.reject(part, mutant, "no text around it occurs once")
        self.taken.append((file.name, start, stop))
        before, after = told(file, node, mutant, instead)
        line = mutant["span"]["start"]["line"]
        return Fault(name, file.name, replace, instead, form, part, function, line, before, after)


def told(file: File, node, mutant: dict, instead: str) -> tuple[str, str]:
    """What changes, in a line each."""
    one = lambda text: " ".join(text.split())
    match mutant["genre"]:
        case "FnValue":
            return "the function", f"always {one(instead)}"
        case "MatchArm":
            return one(file.source.slice(node.child_by_field_name("pattern"))) + " => ..", "no such arm"
        case "MatchArmGuard":
            return one(file.source.slice(node.child_by_field_name("pattern"))), f"if {instead}"
    return one(file.source.slice(node)), one(instead)


def candidates(draw: Draw) -> dict[tuple[str, str, int], list[tuple[dict, Fault]]]:
    """The first of each order that can be put behind a switch."""
    found = {}
    for part, kind, at, order in draw.orders():
        kept = found.setdefault((part, kind, at), [])
        for mutant in order:
            if len(kept) == AHEAD[kind]:
                break
            fault = draw.fault(part, mutant, f"{part}-{kind}-{at}-{len(kept)}")
            if fault:
                kept.append((mutant, fault))
    return found


# What does not compile.


def regions(tree: Path, faults: list[Fault]) -> dict[str, list[tuple[int, int, str, str]]]:
    """The bytes of each fault in the files of the copy."""
    found = collections.defaultdict(list)
    for fault in faults:
        text = (tree / fault.file).read_bytes()
        start = text.find(f'hand_mutants::is("{fault.name}")'.encode())
        stop = text.find(f"/*{fault.name}*/".encode())
        found[fault.file].append((start - 20, stop, fault.name, fault.form))
    return found


def to_blame(error: dict, where: dict) -> set[str]:
    spans = list(error["spans"]) + [span for child in error["children"] for span in child["spans"]]
    places = [(s["file_name"], s["byte_start"], s["byte_end"]) for s in spans]
    if "non-exhaustive" in error["message"]:
        # Told at the match: the first of its arms is the nearest guard behind that place.
        guards = sorted((a, n) for f, at, _ in places for a, _, n, form in where.get(f, []) if form == "guard" and a >= at)
        return {guards[0][1]} if guards else set()
    inside = {n for f, a, b in places for start, stop, n, _ in where.get(f, []) if start <= a and b <= stop + 20}
    around = {n for f, a, b in places for start, stop, n, _ in where.get(f, []) if a <= stop + 20 and start <= b}
    return inside or around


def settle(work: Path, target: Path, faults: list[Fault]) -> set[str]:
    """The names of those without which the copy compiles."""
    bad: set[str] = set()
    while True:
        left = [fault for fault in faults if fault.name not in bad]
        copy(left, work / "tree")
        command = ["cargo", "build", "--release", "--locked", "--lib", "--message-format=json"]
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
        run = subprocess.run(command, cwd=work / "tree", env=environment, capture_output=True, text=True)
        if run.returncode == 0:
            return bad
        messages = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        errors = [m["message"] for m in messages if m.get("reason") == "compiler-message" and m["message"]["level"] == "error"]
        where = regions(work / "tree", left)
        found = set().union(*(to_blame(error, where) for error in errors)) if errors else set()
        if not found:
            raise SystemExit("no fault is to blame:\n" + "\n".join(e["rendered"] for e in errors)[:4000] + run.stderr[-2000:])
        print(f"{len(found)} do not compile: {', '.join(sorted(found))}", flush=True)
        bad |= found


# What is reached.


def questions(suite: Path) -> list[str]:
    cases = [case for path in sorted(suite.glob("*.json")) if "schema" not in path.name for case in json.loads(path.read_text())]
    asked = [case for case in cases if case["op"] in OF_PROGRAMS]
    lines = [{"id": at, "op": c["op"], "edition": c["editions"][0], "args": c["args"]} for at, c in enumerate(asked, 1)]
    return [json.dumps(line) for line in lines]


def reached(program: Path, work: Path) -> set[str]:
    """The switches that are asked while the questions of the suite on programs are answered, by the evaluator and the machine."""
    subprocess.run([program, "export", "--json", work / "suite"], check=True, capture_output=True)
    text = "\n".join(questions(work / "suite")) + "\n"
    file = work / "reached.txt"
    file.unlink(missing_ok=True)
    for engine in ("evaluator", "vm"):
        environment = {**os.environ, REACHED: str(file)}
        command = [program, "adapter", "--engine", engine]
        subprocess.run(command, input=text, env=environment, check=True, stdout=subprocess.DEVNULL, text=True)
    return set(file.read_text().split())


def choose(draw: Draw, found: dict, bad: set[str], seen: set[str]) -> list[Fault]:
    """Of each part and kind the first ones of use; the groups of directories take turns."""
    chosen = []
    for part, groups in PARTS.items():
        begin = 0
        number = 0
        for kind in KINDS:
            queues = [collections.deque(found[part, kind, at]) for at in range(len(groups))]
            taken = 0
            while taken < EACH and any(queues):
                queue = queues[begin % len(queues)]
                begin += 1
                while queue:
                    mutant, fault = queue.popleft()
                    if mutant["key"] in draw.equivalent:
                        draw.reject(part, mutant, f"equivalent: {draw.equivalent[mutant['key']]}")
                    elif fault.name in bad:
                        draw.reject(part, mutant, "does not compile")
                    elif fault.name not in seen:
                        draw.reject(part, mutant, "is never reached through the protocol")
                    else:
                        number += 1
                        chosen.append(renamed(fault, f"{part}-{number}"))
                        taken += 1
                        break
            if taken < EACH:
                print(f"{part}: only {taken} of kind {kind}; raise AHEAD")
    return chosen


def renamed(fault: Fault, name: str) -> Fault:
    return Fault(**{**fault.__dict__, "name": name})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "seeded-faults")
    parser.add_argument("--target", type=Path, help="where the copy is built")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    work = options.work.resolve()
    target = (options.target or work / "build").resolve()
    draw = Draw(options.seed)
    found = candidates(draw)
    faults = [fault for kept in found.values() for _, fault in kept]
    print(f"{len(faults)} candidates, {len(draw.rejected)} left out so far", flush=True)
    bad = settle(work, target, faults)
    program = built(work, target, [fault for fault in faults if fault.name not in bad])
    seen = reached(program, work)
    chosen = choose(draw, found, bad, seen)
    write_json(DRAWN, {"seed": options.seed, "faults": [fault.__dict__ for fault in chosen]})
    write_json(FAULTS / "rejected.json", draw.rejected)
    print(f"{len(chosen)} drawn, {len(draw.rejected)} rejected")


if __name__ == "__main__":
    main()
