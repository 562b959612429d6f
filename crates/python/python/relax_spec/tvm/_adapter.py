"""Loads the modules of the adapter of TVM, which import each other by their bare names, into this package.

The adapter is a program of its own, which `conform --adapter tvm` starts, and its modules are called `names`, `run` or
`text`. Here they are `relax_spec.tvm.adapter.names` and so on: no module of a test suite is hidden by one of them.
"""

import builtins
import importlib
import importlib.machinery
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).parent / "adapter"
_NAMES = frozenset(path.stem for path in HERE.glob("*.py"))


def load(name):
    """The module of the adapter with this name."""
    full = f"{__package__}.adapter.{name}"
    if full in sys.modules:
        return sys.modules[full]
    loader = importlib.machinery.SourceFileLoader(full, str(HERE / f"{name}.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(full, loader))
    # What its import statements call.
    module.__builtins__ = {**vars(builtins), "__import__": _import}
    sys.modules[full] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    return module


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name in _NAMES:
        return load(name)
    return builtins.__import__(name, globals, locals, fromlist, level)
