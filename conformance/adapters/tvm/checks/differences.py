"""On which programs and paths does TVM differ from the text, and does the ledger say why?

    python3 differences.py RELAX_SPEC [--releases 0.25,0.26,0.27] [--only GLOB] [FILE..]

The programs are the examples, the corpus (what a release has printed for that release alone) and the files. Each one that
`relax-spec check` accepts is put to the release along all paths by `relax-spec diff`. A line for each path on which the
release differs without a form of the ledger that knows it, and a summary; the exit status is 1 if there is such a path, if
paths were left over as the time was up, or if the first line of an answer took longer than `FIRST` seconds.
"""

import argparse
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
RELEASES = "0.25,0.26,0.27"
#: Seconds until the first path is answered, TVM's own loading included.
FIRST = 10
#: What says that there is no entry point of the usual name.
ENTRY_POINTS = re.compile(r"possible entry points: (.+) \[MOD\.MAIN\]|`([^`]+)` is the only entry point")


def programs(release, files):
    folders = [ROOT / "examples", ROOT / "examples" / "rfc", ROOT / "conformance" / "corpus"]
    folders.append(ROOT / "conformance" / "corpus" / f"tvm-{release}")
    return [path for folder in folders for path in sorted(folder.glob("*.py"))] + files


def is_accepted(tool, path):
    """By the edition of the releases, and with something to start."""
    check = subprocess.run([tool, "check", path, "--edition", "2024-04"], capture_output=True)
    return check.returncode == 0


def entry(tool, path):
    """The function to start: `main`, or the last of those that could be; None if there is none."""
    said = subprocess.run([tool, "diff", path, "--adapter", "none"], capture_output=True, text=True).stderr
    found = ENTRY_POINTS.search(said)
    if found:
        return (found[1] or found[2]).split(", ")[-1]
    return None if "MOD.MAIN" in said else "main"


def answers(tool, path, entry_point, release):
    """The lines of `diff`, each with the seconds that it took."""
    began = time.monotonic()
    command = [tool, "diff", path, "--entry", entry_point, "--adapter", f"tvm@{release}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            yield time.monotonic() - began, line.rstrip("\n")


class Tally:
    """What is told of a release."""

    def __init__(self):
        self.count = collections.Counter()
        self.is_wrong = False

    def take(self, name, lines):
        self.count["programs"] += 1
        first = next((seconds for seconds, line in lines if ": " in line), 0)
        if first > FIRST:
            self.complain(f"{name}: the first answer took {first:.0f} s")
        for _, line in lines:
            if line.startswith("not asked"):
                self.complain(f"{name}: {line}")
            for word in ("DIFFERS", "differs as known", "agrees", "unsupported"):
                if re.match(rf"\S+: {word}\b", line):
                    self.count[word] += 1
                    if word == "DIFFERS":
                        self.complain(f"{name}, {line}")

    def complain(self, text):
        self.is_wrong = True
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    parser.add_argument("--releases", default=RELEASES)
    parser.add_argument("--only", default="*")
    args = parser.parse_intermixed_args()
    is_wrong = False
    for release in args.releases.split(","):
        tally = Tally()
        for path in programs(release, args.files):
            if not fnmatch.fnmatch(path.name, args.only) or not is_accepted(args.tool, path):
                continue
            entry_point = entry(args.tool, path)
            if entry_point is not None:
                tally.take(f"{release} {path.name}", list(answers(args.tool, path, entry_point, release)))
        print(f"{release}: " + ", ".join(f"{count} {word}" for word, count in tally.count.items()))
        is_wrong |= tally.is_wrong or not tally.count["agrees"]
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
