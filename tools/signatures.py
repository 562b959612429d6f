"""The parameters of TVM's Python functions that stand in TVMScript, drawn from releases themselves.

    python tools/signatures.py PYTHON.. > conformance/signatures.txt

Each PYTHON is the interpreter of an environment with one release. A line of the table is a function that TVMScript knows under
`R.`, the releases in which it has these parameters, and the parameters in their order with their defaults:

    nn.conv2d | 0.25 0.26 0.27 | data, weight, strides=(1, 1), ..

The reader is held to it by `tests/it/signatures.rs`: each parameter by place and by name.
"""

import json
import subprocess
import sys

INSIDE = r"""
import inspect, json
import tvm
from tvm import relax
from tvm.script.parser import relax as R

found = {}
# What the parser defines itself in the place of functions of tvm.relax.op.
OWN = {"call_packed", "call_py_func", "emit_with_sinfo", "emit_with_ty", "emit_with_type"}
# R.dist is a module of the parser. Its functions are wrappers, with parameters of their own.
SPACES = ("tvm.relax.op.", "tvm.relax.script.parser.dist")
HOMES = ("tvm.relax.op", "tvm.relax.script.builder.distributed")

def written(p):
    name = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    return name if p.default is p.empty else f"{name}={p.default!r}"

def collect(path, space):
    for name in sorted(vars(space)):
        value, full = getattr(space, name), f"{path}.{name}" if path else name
        home = str(getattr(value, "__module__", ""))
        if name.startswith(("_", "py_", "tvm")) or path.endswith(name):
            continue
        if inspect.ismodule(value) and value.__name__.startswith(SPACES):
            collect(full, value)
        elif inspect.isfunction(value) and (home.startswith(HOMES) or name in OWN):
            params = inspect.signature(value).parameters.values()
            found.setdefault(full, ", ".join(map(written, params)))

collect("", R)
collect("", relax.op)
version = ".".join(tvm.__version__.split(".")[:2])
print(json.dumps([version, found]))
"""


def main():
    """Asks each release, and writes the table of all of them."""
    releases = []
    for python in sys.argv[1:]:
        done = subprocess.run([python, "-c", INSIDE], capture_output=True, text=True, check=True)
        releases.append(json.loads(done.stdout.splitlines()[-1]))
    table = {}
    for version, found in releases:
        for name, params in found.items():
            table.setdefault((name, params), []).append(version)
    for (name, params), versions in sorted(table.items()):
        print(f"{name} | {' '.join(versions)} | {params}".rstrip())


if __name__ == "__main__":
    main()
