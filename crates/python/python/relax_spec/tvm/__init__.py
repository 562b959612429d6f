"""TVM's own objects: their text for the oracle, and the instrument that judges passes.

The subfolder `adapter` is the adapter that `relax-spec conform --adapter tvm` starts.
"""

import tvm
from tvm import relax

from relax_spec._native import Info
from relax_spec.tvm._adapter import load

#: The release, and the edition that it claims to follow.
RELEASE = tvm.__version__
EDITION = load("names").EDITION

__all__ = ["EDITION", "RELEASE", "PassOracle", "PassVerdictError", "blame", "info_of", "module_of", "text_of"]


def module_of(value):
    """The module of a function; a module is one already."""
    if isinstance(value, relax.Function):
        symbol = value.attrs.get("global_symbol", "main") if value.attrs else "main"
        return tvm.IRModule({tvm.ir.GlobalVar(str(symbol)): value.with_attr("global_symbol", str(symbol))})
    if isinstance(value, tvm.IRModule):
        return value
    raise TypeError(f"a module or a Relax function, not {type(value).__name__}")


def text_of(value):
    """The text of a module or a function, as the oracle reads it."""
    return load("stages").printed(module_of(value))


#: Structural information that has been read, by its object, which is kept, and does not change.
_INFOS = {}
_MOST_INFOS = 4096
_READER = load("read").Reader(say_pure=True)


def info_of(value):
    """Structural information as judgements take it. Asking again about an object costs nothing."""
    key = value.__chandle__()
    known = _INFOS.get(key)
    if known is None:
        if len(_INFOS) >= _MOST_INFOS:
            _INFOS.clear()
        _READER.forget()
        known = _INFOS[key] = value, Info(_READER.info(value))
    return known[1]


def __getattr__(name):
    if name in ("PassOracle", "PassVerdictError", "blame"):
        from relax_spec.tvm import oracle

        return getattr(oracle, name)
    raise AttributeError(f"module 'relax_spec.tvm' has no attribute {name!r}")
