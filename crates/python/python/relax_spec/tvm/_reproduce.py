"""Reproducers: a folder with both programs, the smallest ones found, and the command that shows the difference."""

import pathlib
import re
import shlex
import zlib


def write(finding, old, settings, again):
    """The folder of a finding."""
    smallest = _smaller(finding, old, settings, again)
    name = re.sub(r"\W+", "-", f"{finding.name}-{finding.clause}").strip("-")
    digest = zlib.crc32(f"{finding.before}{finding.after}".encode())
    folder = pathlib.Path(settings.out) / f"{name}-{digest:08x}"
    folder.mkdir(parents=True, exist_ok=True)
    before, after, arguments = smallest or (finding.before, finding.after, finding.counterexample)
    for file, text in (("before.py", before), ("after.py", after)):
        (folder / file).write_text(text)
    if smallest:
        for file, text in (("before-whole.py", finding.before), ("after-whole.py", finding.after)):
            (folder / file).write_text(text)
    (folder / "report.txt").write_text(f"{finding}\n")
    (folder / "replay.sh").write_text(_replay(finding, settings, arguments))
    return str(folder)


def _replay(finding, settings, arguments):
    """The command that shows it."""
    edition = f"--edition {settings.edition}"
    if finding.contract in ("purity", "information", "exported names"):
        command = "diff before.py after.py"
    elif finding.entry is None:
        command = f"$relax_spec check {edition} after.py"
    else:
        given = "".join(f" --arg {shlex.quote(argument)}" for argument in arguments)
        runs = 0 if arguments else settings.runs
        command = (
            f"$relax_spec refine before.py after.py {edition} --unchecked --entry {shlex.quote(finding.entry)}"
            f" --runs {runs} --seed {settings.seed}{given}"
        )
    tool = 'relax_spec=${RELAX_SPEC:-relax-spec}'
    return f'#!/bin/sh\n# {finding.name}: {finding.clause}\n{tool}\ncd "$(dirname "$0")" && {command}\n'


def _smaller(finding, old, settings, again):
    """The programs before and after the pass, and the arguments, of the smallest program on which it is as wrong."""
    if again is None or settings.questions == 0:
        return None
    found = []

    def shows(text):
        shown = again(text)
        if shown is not None:
            found.append(shown)
        return shown is not None

    entry = finding.entry or next(iter(old[1].exported), None)
    if entry is None or not shows(old[1].text):
        return None
    old[1].smaller(entry, settings.questions, shows)
    return found[-1]
