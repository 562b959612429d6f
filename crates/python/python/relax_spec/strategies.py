"""Strategies of Hypothesis (`pip install relax-spec[hypothesis]`): programs as the campaigns of `relax-spec fuzz` draw them."""

import functools

from hypothesis import strategies as st

from relax_spec import _native
from relax_spec._programs import TVM_EDITION

__all__ = ["modules"]

#: How many bytes a tape has for each binding, and in addition. The generator takes the simplest choice when it ends.
_BYTES = 48, 240


@functools.cache
def _tapes(bindings, edition):
    return _native.Tapes(["--bindings", str(bindings), "--edition", edition])


@st.composite
def modules(draw, bindings=30, edition=TVM_EDITION):
    """The text of a program that is well-formed in the edition, with about so many bindings at most.

    What Hypothesis draws is the tape of choices of our generator. So a failing example shrinks as a campaign's does: a
    shorter tape is a smaller program, and a zero is the simplest choice.
    """
    # The length is drawn first: left to itself, Hypothesis prefers tapes of a few bytes.
    length = _BYTES[0] * draw(st.integers(0, bindings)) + _BYTES[1]
    return _tapes(bindings, edition).program(draw(st.binary(min_size=length, max_size=length)))
