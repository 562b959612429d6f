"""Does every defect in `conformance/findings/` show in the releases that its folder names, and in no other?

    PYTHON findings.py [--only GLOB] [--jobs 2]

The scripts are those that a reader runs, `repro.py`; here each runs in a process forked from one that has loaded TVM already. A
script must print what is expected and what is given, and end with 0 where these differ and with 1 where they do not. The exit
status is 1 if one ends otherwise, or as it may not in the release that runs this.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
FOLDERS = ROOT / "conformance" / "findings"
#: Seconds for a script.
PATIENCE = 120
SHOWS, ABSENT = 0, 1


def releases(folder):
    """Those in which the defect shows."""
    return re.search(r"^\| releases \| (.+) \|$", (folder / "README.md").read_text(), re.M)[1].split(", ")


def run(script):
    """In this process, which ends with it."""
    signal.alarm(PATIENCE)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else SHOWS
    return SHOWS


def apart(script):
    """The status of a script, and what it printed."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            status = 70
            try:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                status = run(script)
            except BaseException as fault:
                print(f"{type(fault).__name__}: {fault}")
            finally:
                sys.stdout.flush()
                # Nothing of the parent's may be cleaned up here.
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode(errors="replace")


def verdict(folder, release):
    """What is wrong with the finding; None if nothing is."""
    status, said = apart(folder / "repro.py")
    if status not in (SHOWS, ABSENT) or not re.search(r"^expected:.*\n(?:.*\n)*given:", said, re.M):
        return f"gives no answer, status {status}\n{said}"
    named = release in releases(folder)
    if named != (status == SHOWS):
        return f"{'does not show' if named else 'shows'} in {release}\n{said}"
    return None


def judge(folders, release):
    """The number of those that are not as they say, which are told."""
    faults = 0
    for folder in folders:
        fault = verdict(folder, release)
        if fault:
            faults += 1
            print(f"{folder.name} {fault}", flush=True)
    return faults


def in_parts(args):
    """A process for each part of the folders, as forks of one process would share the threads of a pool."""
    command = [sys.executable, __file__, "--only", args.only, "--partition", args.partition, "--jobs", str(args.jobs), "--part"]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = pool.map(lambda part: subprocess.run([*command, str(part)]).returncode, range(args.jobs))
        return any(list(runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*")
    parser.add_argument("--partition", default="1/1", help="a part of the folders, such as 2/6")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", type=int)
    args = parser.parse_args()
    folders = [folder for folder in sorted(FOLDERS.iterdir()) if folder.is_dir() and fnmatch.fnmatch(folder.name, args.only)]
    nth, count = map(int, args.partition.split("/"))
    folders = folders[nth - 1 :: count]
    if args.part is None:
        start = time.monotonic()
        failed = in_parts(args) or not folders
        print(f"{len(folders)} findings, {time.monotonic() - start:.0f} s: {'not ' if failed else ''}as their folders say")
        return int(failed)
    # Loaded before anything is forked: the scripts need both, and loading takes longer than most of them.
    import numpy  # noqa: F401
    import tvm
    from tvm import relax  # noqa: F401

    release = ".".join(tvm.__version__.split(".")[:2])
    return int(judge(folders[args.part :: args.jobs], release) > 0)


if __name__ == "__main__":
    sys.exit(main())
