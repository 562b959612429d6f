#!/usr/bin/env python3
"""Runs every example of the playground in a headless Chromium, and compares with the command.

    tools/check_playground.py COMMAND SITE [SCREENSHOTS]

Standard output, standard error and exit status must be those of COMMAND, a program that runs for long must end on request, and
the page must write nothing to the console and ask the network for nothing. With SCREENSHOTS, a directory, it leaves pictures of
the page there, at two widths in both colour schemes.
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from check_pages import PATIENCE, SCREENS, Browser, installed

#: Parts of the page.
STATE, STATUS, EXAMPLE, LINE = (
    f"document.querySelector('{name}')" for name in ["#playground-form", ".status", "#playground-example", "#playground-line"]
)
READY = f"{STATE}?.dataset.state === 'ready'"
#: Each of forty functions calls the next one twice.
CALLS = "    @R.function\n    def {}(x: R.Tensor((), 'int64')) -> R.Tensor((), 'int64'):\n        {}\n"
BODIES = [(f"f{at}", f"y = Module.f{at + 1}(x)\n        return Module.f{at + 1}(y)") for at in range(40)]
ENDLESS = "@I.ir_module\nclass Module:\n" + "".join(CALLS.format(*body) for body in [*BODIES, ("f40", "return x")])


@contextlib.contextmanager
def opened(site):
    with tempfile.TemporaryDirectory() as profile:
        page = Browser(installed(), profile)
        try:
            page.open(site / "playground.html")
            wait(page, READY)
            yield page
        finally:
            page.end()


def wait(page, condition):
    if not page.becomes(condition):
        raise RuntimeError(f"in vain waited for: {condition}")


def click(page, element):
    page.value(f"document.querySelector({json.dumps(element)}).click()")


def ran_in_page(page):
    """What the page shows of the example that is chosen: the exit status, and both outputs."""
    click(page, "#playground-run")
    wait(page, READY)
    text = "[...document.querySelectorAll('.output .%s')].map((part) => part.textContent).join('')"
    return page.value(f"{STATUS}.textContent"), page.value(text % "out"), page.value(text % "err")


def ran_by_command(command, line, place):
    words = shlex.split(line)
    settings = [word for word in words if re.match(r"[A-Z_]+=", word)]
    env = os.environ | dict(word.split("=", 1) for word in settings)
    args = [command, *words[len(settings) + 1 :]]
    return subprocess.run(args, cwd=place, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)


def faults_of_examples(page, command, place):
    count = 0
    for tab in page.value("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.dataset.tab)"):
        click(page, f"[data-tab={tab}]")
        for at in range(page.value(f"{EXAMPLE}.length")):
            page.value(f"{EXAMPLE}.selectedIndex = {at}; {EXAMPLE}.onchange()")
            line = page.value(f"{LINE}.value")
            status, out, err = ran_in_page(page)
            expected = ran_by_command(command, line, place)
            print(f"{status}: {line}")
            count += 1
            if not status.startswith(f"Exit status {expected.returncode},"):
                yield f"{line}: {status}, not {expected.returncode}: {err}"
            for name, here, there in [("output", out, expected.stdout), ("errors", err, expected.stderr)]:
                if here != there:
                    yield f"{line}: other {name}:\n{here}\nby the command:\n{there}"
    if count < 10:
        yield f"there are only {count} examples"


def faults_of_hover(page):
    """What is known of a variable is shown under the mouse, and at the cursor."""
    click(page, "[data-tab=types]")
    text = page.value("document.querySelector('textarea').value")
    row = next(row for row, line in enumerate(text.split("\n")) if "R.add(" in line)
    column = text.split("\n")[row].index("R.add(") + len("R.add(")
    page.value("document.querySelector('textarea').scrollIntoView()")
    box = page.value("JSON.stringify(document.querySelector('textarea').getBoundingClientRect())")
    left, top = (json.loads(box)[side] for side in ("left", "top"))
    width = page.value(
        "(() => { const pen = document.createElement('canvas').getContext('2d');"
        "pen.font = getComputedStyle(document.querySelector('textarea')).font; return pen.measureText('0').width; })()"
    )
    style = "parseFloat(getComputedStyle(document.querySelector('textarea')).{})"
    x = left + 1 + page.value(style.format("paddingLeft")) + (column + 0.5) * width
    y = top + 1 + page.value(style.format("paddingTop")) + (row + 0.5) * page.value(style.format("lineHeight"))
    shown = "document.querySelector('.known:not([hidden])')?.textContent"
    until = time.monotonic() + PATIENCE
    while page.value(shown) is None and time.monotonic() < until:
        page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.1)
    name = re.match(r"\w+", text.split("\n")[row][column:])[0]
    seen = page.value(shown)
    print(f"under the mouse: {seen}")
    if not (seen or "").startswith(f"{name}: Tensor("):
        yield f"under the mouse at {name}: {seen}"
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    if page.value(shown) is not None:
        yield "what is known stays when the mouse has gone"


def faults_of_nesting(page):
    """What a browser has no stack for ends without a result, and is no trap."""
    click(page, "[data-tab=judge]")
    page.value(f"{LINE}.value = 'relax-spec judge unify Object ' + 'Tuple('.repeat(100000) + 'Object' + ')'.repeat(100000)")
    status, _, err = ran_in_page(page)
    print(f"nested deeply: {status} {err[:200]}")
    if "Exit status 2" not in status and "nested too deeply" not in status:
        yield f"what is nested deeply: {status} {err}"


def faults_of_ending(page):
    click(page, "[data-tab=run]")
    page.value(f"document.querySelector('textarea').value = {json.dumps(ENDLESS)}")
    path = page.value("document.querySelector('textarea').dataset.path")
    page.value(f"{LINE}.value = 'relax-spec run {path} --entry f0 --arg 1:int64 --fuel 1000000000000'")
    click(page, "#playground-run")
    time.sleep(1)
    if page.value(f"{STATE}.dataset.state") != "running":
        said = page.value("document.querySelector('.output').textContent")
        yield f"what runs without end has ended: {said}"
    click(page, "#playground-end")
    wait(page, f"{STATUS}.textContent.includes('on request')")
    click(page, "[data-tab=judge]")
    status, _, _ = ran_in_page(page)
    if not status.startswith("Exit status 0"):
        yield f"after an end on request: {status}"


def pictures(page, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for name in SCREENS:
        for scheme in ["light", "dark"]:
            page.screen(name, scheme)
            page.ask("Page.reload")
            wait(page, READY)
            for tab in ["check", "refine"]:
                click(page, f"[data-tab={tab}]")
                ran_in_page(page)
                page.value("window.scrollTo(0, 0)")
                page.picture(directory / f"{name}-{scheme}-{tab}.png", captureBeyondViewport=True)


def main(command, site, screenshots=None):
    site = pathlib.Path(site)
    with tempfile.TemporaryDirectory() as place, opened(site) as page:
        print(page.value(f"{STATUS}.textContent"))
        # Outside the checkout, which a page does not have either.
        alone = shutil.copy(command, pathlib.Path(place) / "relax-spec")
        shutil.copytree("examples", pathlib.Path(place) / "examples")
        (pathlib.Path(place) / "target").mkdir()
        found = [*faults_of_examples(page, alone, place), *faults_of_hover(page)]
        found += [*faults_of_nesting(page), *faults_of_ending(page)]
        if screenshots:
            pictures(page, pathlib.Path(screenshots))
        found += page.said
    print("\n".join(found) or "as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
