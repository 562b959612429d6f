"""Whether the wheel is built from what the tests have compiled: its dependencies have the same features in both builds.

Where they differ, cargo compiles the dependency twice, and the library, which stands on it, as well.
"""

import subprocess
import sys

#: Those of procedural macros and build scripts are listed with the others.
TREE = ["cargo", "tree", "--locked", "--prefix", "none", "--format"]


def features(*words):
    run = subprocess.run([*TREE, "{p} {f}", *words], capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)") for line in run.stdout.splitlines()}


def main():
    wheel = features("-e", "normal,build", "-p", "relax-spec-python")
    differing = sorted(wheel - features("-e", "normal,build,dev", "--workspace"))
    for line in differing:
        print(f"the tests are compiled with other features of {line}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
