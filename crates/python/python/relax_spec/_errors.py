"""The errors that questions end with."""


class RelaxSpecError(Exception):
    """Something that a rule forbids, or that cannot be asked. `rule` is an id, `place` is (file, line, column)."""

    def __init__(self, message, rule=None, place=None):
        super().__init__(message)
        self.rule, self.place = rule, place


class UnreadableError(RelaxSpecError, ValueError):
    """The program, an argument or the question itself cannot be read, or the program is ill-formed."""


class RunError(RelaxSpecError, RuntimeError):
    """The program ran and was stopped by an error."""
