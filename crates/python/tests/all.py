"""Installs a wheel beside pytest and runs its tests: without TVM, and with each release that has an environment.

    python3 all.py WHEEL_DIRECTORY TOOLS_DIRECTORY [PYTHON..]

Nothing is written into the environments: the wheel is a directory in the path of each interpreter.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = ("pytest==9.0.1", "pytest-xdist==3.8.0", "numpy")


def install(wheel, to, *words):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", str(to)]
    subprocess.run([*pip, *words, *wheel], check=True)


def main():
    wheels, tools, *pythons = sys.argv[1:]
    wheel = max(pathlib.Path(wheels).glob("relax_spec-*.whl"), key=lambda path: path.stat().st_mtime)
    installed = pathlib.Path(tools) / "wheel"
    shutil.rmtree(installed, ignore_errors=True)
    install([str(wheel)], installed, "--no-deps")
    runs = pathlib.Path(tools) / "wheel-tests"
    install(NEEDED[:2], runs)
    install(NEEDED[2:], pathlib.Path(tools) / "wheel-numpy")
    failed = False
    for python in [sys.executable, *pythons]:
        print(f"-- {python}", flush=True)
        path = [installed, runs, *([pathlib.Path(tools) / "wheel-numpy"] if python == sys.executable else [])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(part.resolve()) for part in path)}
        run = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)]
        status = subprocess.run(run, env=environment, cwd=HERE.parents[2]).returncode
        failed |= status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
