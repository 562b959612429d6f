"""Executable reference semantics and test oracle for the Relax IR.

Programs are TVMScript or JSON as text, paths of files, JSON as dicts, or objects of TVM. Results print as the command line
prints them; `relax_spec.tvm` has the instrument for passes.
"""

import importlib

#: Where each name is. They are loaded when they are used: pytest imports this package wherever it is installed.
_PLACES = {
    **dict.fromkeys(
        ("blame", "check", "derive", "explain", "normalize", "refine", "rules", "run", "types", "why"), "_questions"
    ),
    **dict.fromkeys(("CheckReport", "Derivation", "Finding", "Program", "Refinement", "Report", "RunResult"), "_results"),
    **dict.fromkeys(("RelaxSpecError", "RunError", "UnreadableError"), "_errors"),
    **dict.fromkeys(("Shape", "PackedFunc"), "_values"),
    **dict.fromkeys(("assert_agrees", "assert_refines", "assert_well_formed"), "_asserts"),
    **dict.fromkeys(("Judgement", "judge"), "_native"),
}

__all__ = list(_PLACES)


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'relax_spec' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"relax_spec.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_PLACES])
