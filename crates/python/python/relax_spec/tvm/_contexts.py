"""Puts every `PassContext` under an instrument."""

import contextlib

import tvm

_CONTEXT = tvm.transform.PassContext


@contextlib.contextmanager
def under(instrument):
    """All contexts that are opened in the block, and the one in it that is open already, have this instrument, too."""
    made, override = _CONTEXT.__init__, _CONTEXT.override_instruments

    def make(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None, **more):
        instruments = [*(instruments or []), instrument]
        made(self, opt_level, required_pass, disabled_pass, instruments, config, **more)

    def put(self, instruments):
        override(self, [*(instruments or []), instrument])

    current = _CONTEXT.current()
    before = list(current.instruments)
    _CONTEXT.__init__, _CONTEXT.override_instruments = make, put
    override(current, [*before, instrument])
    try:
        yield
    finally:
        _CONTEXT.__init__, _CONTEXT.override_instruments = made, override
        override(current, before)
