"""Results: text as the command line prints it, HTML for notebooks, and what programs need."""

import html
import os
import re

import numpy as np

from relax_spec import _native, _values
from relax_spec._errors import RelaxSpecError, RunError

#: A rule id in a text.
_RULE = re.compile(r"\b[A-Z][A-Z0-9]*(?:\.[A-Za-z0-9_-]+)+\b")


def rule_url(rule):
    """Where the book states a rule; None if there is no such rule. `RELAX_SPEC_BOOK` is the address of the book."""
    page = _native.rule_page(rule)
    return page and f"{os.environ.get('RELAX_SPEC_BOOK', 'book').rstrip('/')}/{page}"


def _link(found):
    url = rule_url(found[0])
    return f'<a href="{html.escape(url)}">{found[0]}</a>' if url else found[0]


def linked(text):
    """HTML of a text, in which rule ids link to the book."""
    return _RULE.sub(_link, html.escape(text))


class Report:
    """A text as the command line prints it."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text.rstrip("\n")

    def __str__(self):
        return repr(self)

    def _repr_html_(self):
        return f"<pre>{linked(repr(self))}</pre>"


class Program(Report):
    """A program as text. `findings` are its malformed parts."""

    def __init__(self, text, findings=()):
        super().__init__(text)
        self.findings = [Finding(finding) for finding in findings]


class Finding:
    """An error, a warning or a note on a program."""

    def __init__(self, data):
        self.severity, self.rule, self.message = data["severity"], data.get("rule"), data["message"]
        self.hint, self.path, self.file, self.code = (data.get(key) for key in ("hint", "path", "file", "code"))
        start = data.get("start") or {}
        self.line, self.column = start.get("line"), start.get("column")
        self.accepted_by = data.get("accepted_by")

    @property
    def place(self):
        return self.file, self.line, self.column

    def __repr__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        rule = f"[{self.rule}]" if self.rule else ""
        return f"{place}{self.severity}{rule}: {self.message}"

    def _repr_html_(self):
        return linked(repr(self))


class CheckReport(Report):
    """The findings of a check. It is true if there is no error."""

    def __init__(self, human, lines, exit_status):
        #: Called for the text when somebody wants to see it.
        self._human, self._exit = human, exit_status
        notes = [line for line in lines if "edition_from" in line]
        self.findings = [Finding(line) for line in lines if line["severity"] in ("error", "warning", "limit")]
        self.edition = notes[0]["edition"] if notes else None

    @property
    def errors(self):
        return [finding for finding in self.findings if finding.severity == "error"]

    def __bool__(self):
        return self._exit == 0

    @property
    def _text(self):
        return self._human()

    def raise_for_errors(self):
        """Raises the first error."""
        for finding in self.errors:
            raise RelaxSpecError(repr(self), finding.rule, finding.place)

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(f.severity)}</td><td>{linked(f.rule or '')}</td><td>{f.line or ''}</td>"
            f"<td>{linked(f.message)}{'<br><i>' + linked(f.hint) + '</i>' if f.hint else ''}</td></tr>"
            for f in self.findings
        )
        table = f"<table><tr><th></th><th>rule</th><th>line</th><th></th></tr>{rows}</table>" if rows else ""
        return f"{table}<pre>{linked(repr(self).splitlines()[-1])}</pre>"


class RunResult(Report):
    """How a run ends. `value` is the result as NumPy arrays, numbers and tuples."""

    def __init__(self, text, data, rule_of_error):
        super().__init__(text)
        self.effects, self.rule, self.message = data["effects"], data["rule"], data["message"]
        self._value, self.failed = data["value"], rule_of_error

    @property
    def value(self):
        if self._value is None:
            raise RunError(f"{self.message} [{self.rule}]", self.rule)
        return _values.read(self._value)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype=dtype)


class Refinement(Report):
    """A verdict: is a program an allowed optimization of another? It is true if it is allowed."""

    def __init__(self, human, data):
        self._human, self.data = human, data
        self.verdict, self.rule, self.message = data["verdict"], data["rule"], data["message"]
        self.compared, self.differing = data["compared"], data["differing"]
        #: The smallest arguments found that show a difference, in the notation of the command line.
        self.counterexample = [found["argument"] for found in data["counterexample"] or []]
        self.arguments = [_values.read(found["value"]) for found in data["counterexample"] or []]

    def __bool__(self):
        return self.verdict == "allowed"

    @property
    def _text(self):
        return self._human()

    def _repr_html_(self):
        rows = ""
        if self.differing:
            sides = (html.escape(str(_values.read(self.differing[side]))) for side in ("before", "after"))
            name = html.escape(self.differing["name"])
            cells = "".join(f"<td><pre>{side}</pre></td>" for side in sides)
            rows = f"<table><tr><th></th><th>source</th><th>target</th></tr><tr><th>{name}</th>{cells}</tr></table>"
        return f"<pre>{linked(repr(self))}</pre>{rows}"


class Derivation(Report):
    """How a judgement was derived; in a notebook a tree that folds."""

    def _repr_html_(self):
        root = []
        stack = [(-1, root)]
        for line in repr(self).splitlines():
            if not line.strip():
                continue
            depth = len(line) - len(line.lstrip())
            while stack[-1][0] >= depth:
                stack.pop()
            node = (line.strip(), [])
            stack[-1][1].append(node)
            stack.append((depth, node[1]))
        return "".join(map(_folded, root))


def _folded(node):
    line, below = node
    if not below:
        return f'<div style="margin-left:1em">{linked(line)}</div>'
    inner = "".join(map(_folded, below))
    return f'<details open style="margin-left:1em"><summary>{linked(line)}</summary>{inner}</details>'
