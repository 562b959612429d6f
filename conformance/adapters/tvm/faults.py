"""The ways in which a question ends without an answer."""

import os
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))

#: What a mistake in the adapter looks like, as opposed to a complaint of TVM about its input.
OWN_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    KeyError,
    IndexError,
    NameError,
    StopIteration,
    TypeError,
    UnicodeError,
)


class Unsupported(Exception):
    """The question cannot be put to TVM; the text says why in a few words."""


class Rejected(Exception):
    """TVM refuses the program or the operands at a stage, with an error of its own."""

    def __init__(self, stage, klass, message):
        super().__init__(message)
        self.stage, self.klass, self.message = stage, klass, message


class Trapped(Exception):
    """The program ran and was stopped by an error."""

    def __init__(self, klass, message, effects):
        super().__init__(message)
        self.klass, self.message, self.effects = klass, message, effects


class stage:
    """Turns an error that TVM raises in the block into `Rejected`, and lets mistakes of the adapter pass."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, klass, error, trace):
        if error is None or isinstance(error, (Unsupported, Rejected, Trapped)):
            return False
        if not isinstance(error, Exception) or is_own_mistake(error):
            return False
        raise Rejected(self.name, klass.__name__, last_words(error)) from error


#: Of a long message so many characters at the beginning are kept, and as many at the end.
HALF = 1000


def is_own_mistake(error):
    """Whether the innermost Python frame is the adapter's and the error is of a kind that TVM does not raise."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(HERE) and isinstance(error, OWN_MISTAKES)


def last_words(error):
    """The message without TVM's own stack trace: a long one, which shows the program, by its beginning and its end."""
    lines = [line for line in str(error).splitlines() if line.strip("^~ ")]
    text = "\n".join(line for line in lines if not line.lstrip().startswith(("File ", "[bt]", "at ")))
    if len(text) > 2 * HALF:
        text = f"{text[:HALF]}\n..\n{text[-HALF:]}"
    return text or type(error).__name__
