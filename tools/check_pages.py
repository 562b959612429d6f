#!/usr/bin/env python3
"""Looks at the HTML report, and at the site, in a headless Chromium.

    tools/check_pages.py REPORT.html [SITE]

The report must be usable within a second, show all its cases, fewer by a search, and a case that its address opens, with the rule
and the command that asks again; the pages of the site must have their parts. No page may write an error to the console. It is a
failure if there is no Chromium (`CHROMIUM` names one).
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

NAMES = ["chromium", "chromium-browser", "google-chrome"]
#: Milliseconds until the report can be used, and bytes of the report of the whole suite.
READY, SIZE = 1_000, 5_000_000


def browser():
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    return next((path for path in found if path), None) or sys.exit("there is no Chromium (CHROMIUM names one)")


def seen(path, place=""):
    """The page as it is after its scripts, and what it wrote to the console."""
    url = path.resolve().as_uri() + (f"#{place}" if place else "")
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--enable-logging=stderr"]
        ran = subprocess.run([browser(), *options, "--dump-dom", url], capture_output=True, text=True, timeout=300, check=True)
    return ran.stdout, re.findall(r"CONSOLE.*", ran.stderr)


def faults_of_report(path):
    text, said = seen(path, "outcome=")
    yield from said
    ready = int(re.search(r'data-ready="(\d+)"', text)[1])
    size = path.stat().st_size
    print(f"{path}: {size} bytes, usable after {ready} ms")
    if ready > READY or size > SIZE:
        yield "it is too slow or too large"
    every = re.search(r"(\d+) of (\d+) cases", text)
    if every[1] != every[2]:
        yield f"not all cases are shown: {every[0]}"
    first = html.unescape(re.search(r'<details id="case-([^"]+)"', text)[1])
    query = urllib.parse.urlencode({"text": first, "case": first})
    text, said = seen(path, query)
    yield from said
    found = re.search(r"(\d+) of (\d+) cases", text)
    if not 0 < int(found[1]) <= int(found[2]):
        yield f"a search for {first} finds {found[0]}"
    opened = re.search(r"<details[^>]* open(?:=\"\")?>.*?</dl>", text, re.DOTALL)
    for part in ["<dt>rules</dt>", "<dt>question</dt>", "relax-spec explain"]:
        if opened is None or part not in opened[0]:
            yield f"the case {first} does not show {part}"


def faults_of_site(site):
    for name, part in [("rules/SUB.TENSOR.RANK.html", "inference"), ("errata/A01.html", "Witness"), ("index.html", "<main>")]:
        text, said = seen(site / name)
        yield from said
        if part not in text:
            yield f"{name} lacks {part}"


def main(report, site=None):
    found = list(faults_of_report(pathlib.Path(report)))
    found += list(faults_of_site(pathlib.Path(site))) if site else []
    print("\n".join(found) or "as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
