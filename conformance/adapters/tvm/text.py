"""TVMScript text through TVM's own parser."""

import textwrap
import typing

import tvm
from tvm import ir, relax

from faults import stage


def parse_text(text, given=None):
    """The module of a text. Imports are not allowed in it: the names are provided, and those that are given besides."""
    from tvm.script import ir as I
    from tvm.script import relax as R
    from tvm.script import tirx as T

    lines = [line for line in text.splitlines() if not line.startswith(("from ", "import "))]
    source = textwrap.dedent("\n".join(lines)) + "\n"
    # 0.27 writes shape variables as `n = TypeVar("n")` before the module.
    names_in_text = {"I": I, "R": R, "T": T, "TypeVar": typing.TypeVar, **(given or {})}
    with stage("parse"):
        found = tvm.script.from_source(source, extra_vars=names_in_text, check_well_formed=False)
    if isinstance(found, relax.Function):
        name = found.attrs.get("global_symbol", "main") if found.attrs else "main"
        return ir.IRModule({ir.GlobalVar(str(name)): found})
    return found
