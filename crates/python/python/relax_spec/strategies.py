"""Strategies of Hypothesis (`pip install relax-spec[hypothesis]`): programs as the campaigns of `relax-spec fuzz` draw them."""

from hypothesis import strategies as st

from relax_spec import _native

__all__ = ["modules"]


@st.composite
def modules(draw, bindings=30, edition="2024-04"):
    """The text of a program that is well-formed in the edition, with at most so many bindings. It shrinks to fewer."""
    most = draw(st.integers(1, bindings))
    number = draw(st.integers(0, 2**31))
    line = ["relax-spec", "fuzz", "--show", str(number), "--bindings", str(most), "--edition", edition]
    status, text, err = _native.captured(line)
    assert status == 0, err
    return text
