"""`PrimFunc`s come as TVMScript text, a module of just these functions."""

import re

from faults import Unsupported
from text import parse_text


def parse(text, wanted):
    """Pairs of global variable and function. `wanted` holds the functions that the program has."""
    if not text:
        if wanted:
            raise Unsupported("PrimFuncs without their text")
        return []
    mod = parse_text(dialect(text))
    return list(mod.functions.items())


def dialect(text):
    """The spelling of all releases: schedulable functions say so and have `sblock`s."""
    text = re.sub(r"@T\.prim_func\b(?!\()", "@T.prim_func()", text)
    text = re.sub(r"@T\.prim_func\((?![^)]*s_tir)", "@T.prim_func(s_tir=True, ", text)
    return re.sub(r"\bT\.block\(", "T.sblock(", text).replace("s_tir=True, )", "s_tir=True)")
