#!/usr/bin/env python3
"""Wrong implementations, and what the diagnosis of `conform` says of each.

Most have one wrong rule, or read one erratum literally; of the others no single rule is wrong. They were written before
anyone looked at what the diagnosis finds. `conformance/faults/diagnosed.json` has them, each as a text of a source that is
replaced, with the rule or erratum, and with the reason if the rule is not named (`missed`). All of them are built into one
copy of the repository, each behind a switch.

    tools/diagnosed_faults.py check              only see that each text still occurs exactly once
    tools/diagnosed_faults.py run RELAX_SPEC     build the copy, run the suite on each, and see that each rule is named that is
                                                 not missed, and that none is named where no single one is wrong;
                                                 RELAX_SPEC is the program without faults
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
NONE = "no single rule"


@dataclass(frozen=True)
class Fault(Edit):
    rule: str = ""
    missed: str = ""


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
    named, told, wrong, of = 0, 0, 0, {fault.name: fault for fault in faults}
    for name, fault in of.items():
        lines = said(tool, program, name)
        first = lines[0] if lines else "nothing"
        print(f"{name} ({fault.rule or NONE}): {first}", flush=True)
        is_told, is_named = NONE in first, bool(fault.rule) and fault.rule in first
        named += is_named
        told += is_told and not fault.rule
        wrong += not (is_named != bool(fault.missed) if fault.rule else is_told)
    rules = sum(bool(fault.rule) for fault in of.values())
    print(f"{named} of {rules} are named; {told} of {len(of) - rules} are no single rule; {wrong} are not as expected")
    return wrong == 0


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
