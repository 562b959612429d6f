"""Does `relax-spec blame` name exactly the wrong pass among those of the default pipeline?

    PYTHON blame_seeded.py RELAX_SPEC [--adapter tvm@0.27] [--seed 0] [--only GLOB]

Each pass of `seeded_passes.py` goes into the default pipeline at one of its places, drawn by the seed. A wrong one must be
blamed, and no other pass; where it is a right one, none may be. It must change the module. A line for each that fails;
the exit status is 1 if one does.
"""

import argparse
import fnmatch
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from seeded_passes import PIPELINE, PROGRAMS, RIGHT, WRONG

HERE = pathlib.Path(__file__).resolve().parent
#: The passes whose result is the module that they are given, but for names.
SAME = ("changes_nothing", "renames_a_variable")
#: Seconds for a pass.
PATIENCE = 300


def blame(args, name, edit, before):
    """What the command says of a pass in front of another one."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "program.py"
        path.write_text(PROGRAMS[edit[0]])
        at = PIPELINE.index(before)
        passes = ",".join([*PIPELINE[:at], f"{HERE / 'seeded_passes.py'}:{name}", *PIPELINE[at:]])
        command = [args.tool, "blame", str(path), "--adapter", args.adapter, "--pass", passes, "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")], run.stderr.strip()


def fault(name, is_wrong, lines, stderr):
    """What is not as it should be."""
    verdicts = {line["pass"]: line for line in lines if "verdict" in line}
    answers = [line for line in lines if "answer" in line]
    if not answers:
        return f"no answer: {stderr[-300:]}"
    if is_wrong and answers[-1]["blamed"] != name:
        return f"{answers[-1]['answer']}: {verdicts.get(name)} {stderr[-300:]}"
    if not is_wrong and answers[-1]["blamed"] is not None:
        return f"{answers[-1]['answer']}: {verdicts.get(answers[-1]['blamed'])}"
    if verdicts.get(name, {}).get("verdict") == "unchanged" and name not in SAME:
        return "it changes nothing"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--adapter", default="tvm@0.27")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    draw, failed, count = random.Random(args.seed), 0, 0
    for name, edit in {**WRONG, **RIGHT}.items():
        before = draw.choice(edit[1])
        if not fnmatch.fnmatch(name, args.only):
            continue
        count += 1
        found = fault(name, name in WRONG, *blame(args, name, edit, before))
        if found:
            failed += 1
            print(f"{name} before {before}: {found}", flush=True)
    print(f"{count} seeded passes, {failed} not as they should be")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
