"""Installs a wheel beside pytest and runs its tests: without TVM, and with each release that has an environment.

    python3 all.py [--ray] WHEEL_DIRECTORY TOOLS_DIRECTORY [PYTHON..]

With `--ray`, which is large, campaigns on it are tested, too.

Nothing is written into the environments: the wheel is a directory in the path of each interpreter.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = ("pytest==9.0.1", "pytest-xdist==3.8.0", "nbclient==0.11.0", "ipykernel==7.4.0", "hypothesis==6.170.17")
#: Only where TVM brings none.
NUMPY = ("numpy",)
RAY = ("ray==2.60.0",)


def install(wheel, to, *words):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", str(to)]
    subprocess.run([*pip, *words, *wheel], check=True)


def main():
    words = [word for word in sys.argv[1:] if word != "--ray"]
    wheels, tools, *pythons = words
    wheel = max(pathlib.Path(wheels).glob("relax_spec-*.whl"), key=lambda path: path.stat().st_mtime)
    installed = pathlib.Path(tools) / "wheel"
    shutil.rmtree(installed, ignore_errors=True)
    install([str(wheel)], installed, "--no-deps")
    runs = pathlib.Path(tools) / "wheel-tests"
    install(NEEDED, runs)
    numpy = pathlib.Path(tools) / "wheel-numpy"
    install([*NUMPY, *(RAY if "--ray" in sys.argv else ())], numpy)
    failed = False
    for python in [sys.executable, *pythons]:
        print(f"-- {python}", flush=True)
        path = [installed, runs, *([numpy] if python == sys.executable else [])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(part.resolve()) for part in path)}
        run = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(HERE)]
        status = subprocess.run(run, env=environment, cwd=HERE.parents[2]).returncode
        failed |= status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
