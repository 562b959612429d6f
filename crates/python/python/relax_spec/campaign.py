"""Campaigns of several processes or machines: `python -m relax_spec.campaign`.

Each process asks an implementation about some of the programs and records what they show. One process merges the records:
it reduces and stores what is found, in the order of the programs. So the folder and the report are those of
`relax-spec fuzz` in one process. All options that are not listed here are those of `relax-spec fuzz`.

    python -m relax_spec.campaign --ray local --programs 2000 --adapter tvm@0.27 --out found
    python -m relax_spec.campaign --ray HOST:6379 --time 8h --adapter tvm@0.27 --out found

Without Ray, each part of a job array records, and the last step merges:

    python -m relax_spec.campaign --partition 3/8 --programs 2000 --adapter tvm@0.27 --out found
    python -m relax_spec.campaign --merge --programs 2000 --adapter tvm@0.27 --out found
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from relax_spec import _command, _native

#: What was recorded by parts, in the folder of the campaign.
RECORDS = "records"
#: The most programs that are handed out together. The generator chooses its programs in blocks of as many.
MOST = 16

UNITS = {"s": 1, "m": 60, "h": 3600}
USAGE, ADAPTER, STOPPED = 2, 3, 5


class CampaignError(Exception):
    """Why a campaign cannot go on, and the exit status of the command."""

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


def _number(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return number


def _seconds(text):
    number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1)
    return _number(number) * unit


def _part(text):
    """`3/8`, or `8` for the part with the index that the cluster gives."""
    index, _, count = text.rpartition("/")
    part = int(index) if index else _index(), _number(count)
    if not 0 <= part[0] < part[1]:
        raise argparse.ArgumentTypeError(f"part {part[0]} of {part[1]}: parts count from 0")
    return part


def _index():
    """The index of this process in an array of SLURM, or in an Indexed Job of Kubernetes."""
    slurm, kubernetes = os.environ.get("SLURM_ARRAY_TASK_ID"), os.environ.get("JOB_COMPLETION_INDEX")
    if slurm is not None:
        return int(slurm) - int(os.environ.get("SLURM_ARRAY_TASK_MIN", 0))
    if kubernetes is not None:
        return int(kubernetes)
    raise argparse.ArgumentTypeError("neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set: give INDEX/COUNT")


def options():
    parser = argparse.ArgumentParser(
        prog="python -m relax_spec.campaign",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--ray", metavar="local|ADDRESS", help="ask on Ray, on this machine or on a cluster")
    how.add_argument("--partition", type=_part, metavar="[INDEX/]COUNT", help="record one part of the programs")
    how.add_argument("--merge", action="store_true", help="merge what the parts have recorded")
    parser.add_argument("--programs", type=_number, metavar="N", help="ask about the programs 0 to N-1")
    parser.add_argument("--time", type=_seconds, metavar="T", help="start no further program after 90s, 10m or 8h")
    parser.add_argument("--actors", type=_number, metavar="N", help="how many ask at once [default: one for each processor]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder of the findings")
    return parser


def next_program(out, seed):
    """The number of the first program that is not done."""
    path = pathlib.Path(out) / "state.json"
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        return int(state["next"] if state["seed"] == seed else state.get("others", {}).get(str(seed), 0))
    except FileNotFoundError:
        return 0
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CampaignError(f"{path}: not how far a campaign has come ({error})") from None


def merging(given, fuzz, first, files):
    """The command line that merges records."""
    line = [sys.executable, "-m", "relax_spec", "--quiet", "fuzz", *fuzz, "--seed", str(given.seed), "--out", given.out]
    runs = [] if given.programs is None else ["--runs", str(given.programs - first)]
    return [*line, *runs, *(word for file in files for word in ("--merge", str(file)))]


def recorded(path):
    """The numbers in a file of records. What was being written when the process was killed is cut off."""
    numbers, whole = set(), 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                numbers.add(json.loads(line)["number"])
                whole += len(line)
        os.truncate(path, whole)
    return numbers


def record_part(given, fuzz):
    """Records one part of the programs, and goes on where it was interrupted."""
    if given.programs is None or given.time is not None:
        raise CampaignError("--partition needs --programs, and no --time: all parts together must ask about every program")
    index, count = given.partition
    path = pathlib.Path(given.out) / RECORDS / f"{index}-of-{count}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    done = recorded(path)
    recorder = _native.Recorder([*fuzz, "--seed", str(given.seed)])
    with path.open("a", encoding="utf-8") as file:
        for first in range(index * MOST, given.programs, count * MOST):
            for number in range(first, min(first + MOST, given.programs)):
                if number not in done:
                    file.write("".join(f"{line}\n" for line in recorder.record(number, number + 1)))
                    file.flush()
    return 0


def merge_parts(given, fuzz):
    files = sorted((pathlib.Path(given.out) / RECORDS).glob("*.jsonl"))
    if not files:
        raise CampaignError(f"no part has recorded anything in {given.out}")
    status = subprocess.run(merging(given, fuzz, next_program(given.out, given.seed), files)).returncode
    if status == STOPPED:
        missing = next_program(given.out, given.seed)
        print(f"program {missing} is not recorded: run the parts to their end, and merge again", file=sys.stderr)
    return status


def main():
    given, fuzz = options().parse_known_args()
    _command.surroundings()
    try:
        if given.partition:
            return record_part(given, fuzz)
        if given.merge:
            return merge_parts(given, fuzz)
        try:
            import ray  # noqa: F401
        except ImportError:
            raise CampaignError("Ray is not installed: pip install 'relax-spec[ray]'") from None
        from relax_spec import _ray

        return _ray.campaign(given, fuzz)
    except (CampaignError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return getattr(error, "status", USAGE)


if __name__ == "__main__":
    sys.exit(main())
