#!/usr/bin/env python3
"""Sixteen wrong implementations, and what the diagnosis of `conform` says of each.

Twelve have one wrong rule, or read one erratum literally; of the other four no single rule is wrong. They were written before
anyone looked at what the diagnosis finds. `conformance/faults/diagnosed.json` has them, each as a text of a source that is
replaced, with the rule or erratum. All of them are built into one copy of the repository, each behind a switch.

    tools/diagnosed_faults.py check              only see that each text still occurs exactly once
    tools/diagnosed_faults.py run RELAX_SPEC     build the copy, run the suite on each, and see that ten of the twelve are named
                                                 and that the four are told apart; RELAX_SPEC is the program without faults
"""

import argparse
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from switches import ROOT, SWITCH, Edit, build, check, copy

LISTED = ROOT / "conformance" / "faults" / "diagnosed.json"
WORK = ROOT / "target" / "diagnosed-faults"
#: Of the implementations with one wrong rule, how many have to be named.
LEAST = 10
NONE = "no single rule"


@dataclass(frozen=True)
class Fault(Edit):
    rule: str = ""


def listed():
    return [Fault(**entry) for entry in json.loads(LISTED.read_text(encoding="utf-8"))["faults"]]


def said(tool, program, name):
    """What the report says of the implementation as a whole."""
    adapter = shlex.join(["env", f"{SWITCH}={name}", str(program), "adapter"])
    command = [tool, "conform", "--adapter", adapter, "--edition", "2023-02", "--report", "jsonl"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return json.loads(ran.stdout.splitlines()[-1])["diagnosis"]


def run(tool):
    faults = listed()
    copy(faults, WORK / "tree")
    program = build(WORK / "tree", WORK / "build")
    named, told, single = 0, 0, {fault.name: fault.rule for fault in faults}
    for name, rule in single.items():
        lines = said(tool, program, name)
        first = lines[0] if lines else "nothing"
        print(f"{name} ({rule or NONE}): {first}", flush=True)
        named += bool(rule) and rule in first and NONE not in first
        told += not rule and NONE in first
    rules = sum(map(bool, single.values()))
    print(f"{named} of {rules} are named; {told} of {len(single) - rules} are no single rule")
    return named >= LEAST and told == len(single) - rules


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("run").add_argument("tool", type=lambda path: str(Path(path).resolve()))
    args = parser.parse_args()
    if args.command == "run":
        return 0 if run(args.tool) else 1
    lost = check(listed())
    print("\n".join(lost) or "each text occurs once")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
