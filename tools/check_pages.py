#!/usr/bin/env python3
"""Uses the HTML report, and the site, in a headless Chromium as a reader does.

    tools/check_pages.py REPORT.html [SITE] [--pictures DIR]

The report must be usable within a second and small; a search and a filter must show fewer cases, a case must open with its
rules and the command that asks again, and a rule must open from a case and close again. On the site a search must find a rule,
whose page leads to an erratum and back. No page may write an error to the console, or be wider than a phone. `--pictures` keeps
how the pages look, on a desktop and a phone, in both colour schemes. It is a failure if there is no Chromium (`CHROMIUM` names
one).
"""

import argparse
import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome"]
#: Milliseconds until the report can be used, and bytes of the report of the whole suite.
READY, SIZE = 1_000, 5_000_000
SCREENS = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
#: What is asked of no network.
LOCAL = ("file:", "data:", "blob:", "about:", "chrome:")
#: Seconds for a page to become what is waited for.
PATIENCE = 60


def installed():
    """The path of Chromium."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    return next((path for path in found if path), None) or sys.exit("there is no Chromium (CHROMIUM names one)")


class Browser:
    """A Chromium that is told what to do over a pipe, by the protocol of its developer tools."""

    def __init__(self, program, profile):
        (there, self.to), (self.back, here) = os.pipe(), os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        # The protocol is spoken on the descriptors 3 and 4.
        line = f'exec "$0" "$@" 3<&{there} 4>&{here}'
        command = ["bash", "-c", line, program, *options, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(there, here), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(here)
        self.number, self.rest, self.session, self.said = 0, b"", None, []
        page = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 16)
            if not part:
                sys.exit("Chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.hear(message)

    def hear(self, message):
        told = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.said.append(f"console: {told['exceptionDetails'].get('exception', {}).get('description', 'an exception')}")
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.said.append("console: " + " ".join(str(arg.get("value", arg.get("description"))) for arg in told["args"]))
        elif message.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.said.append(f"console: {told['entry']['text']} ({told['entry'].get('url')})")
        elif message.get("method") == "Network.requestWillBeSent" and not told["request"]["url"].startswith(LOCAL):
            self.said.append(f"network: {told['request']['url']}")

    def value(self, script):
        """What an expression of the page is."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(f"{script}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def becomes(self, script):
        """Whether a condition holds within a while."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            # Between two pages there is none to ask.
            with contextlib.suppress(RuntimeError):
                if self.value(f"document.readyState === 'complete' && Boolean({script})"):
                    return True
            time.sleep(0.05)
        return False

    def open(self, path, place=""):
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=path.resolve().as_uri() + (f"#{place}" if place else ""))
        return self.becomes("location.protocol === 'file:'")

    def screen(self, name, scheme):
        width, height, mobile = SCREENS[name]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, **how):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", **how)["data"]))

    def end(self):
        self.ask("Browser.close")
        self.process.wait(timeout=30)


def shown(browser):
    """The numbers of cases that the report shows, and has."""
    part, whole = browser.value(r"document.getElementById('count').textContent.match(/(\d+) of (\d+)/).slice(1)")
    return int(part), int(whole)


def type_in(browser, field, text):
    browser.value(f"document.getElementById('{field}').focus(); document.getElementById('{field}').value = ''")
    browser.ask("Input.insertText", text=text)


def ready_after(browser, path):
    browser.open(path, "outcome=")
    return int(browser.value("document.documentElement.dataset.ready"))


def faults_of_report(browser, path):
    # Other work on the machine delays a page; the fastest of some times is the page's own.
    ready, size = min(ready_after(browser, path) for _ in range(5)), path.stat().st_size
    print(f"{path}: {size} bytes, usable after {ready} ms")
    if ready > READY or size > SIZE:
        yield "it is too slow or too large"
    part, whole = shown(browser)
    if part != whole:
        yield f"not all cases are shown: {part} of {whole}"
    first = browser.value("document.querySelector('#cases details').id.slice('case-'.length)")
    type_in(browser, "text", first)
    if not browser.becomes(f"document.querySelectorAll('#cases details').length < {min(whole, 100)}"):
        yield f"a search for {first} finds everything"
    part, _ = shown(browser)
    if part == 0:
        yield f"a search for {first} finds nothing"
    yield from faults_of_case(browser, first)
    browser.value("document.querySelector('#filters [type=reset]').click()")
    if not browser.becomes(f"document.getElementById('count').textContent.startsWith('{whole} of')"):
        yield "`all` does not show all again"
    browser.value("const s = document.getElementById('chapter'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))")
    part, _ = shown(browser)
    if not 0 < part < whole:
        yield f"a chapter has {part} of {whole} cases"


def faults_of_case(browser, name):
    """A case opens, leads to its rule, and is still there when the rule is closed."""
    browser.value("document.querySelector('#cases summary').click()")
    for part in ["rules", "question", "the case"]:
        names = "[...document.querySelectorAll('#cases details[open] dt')].map((e) => e.textContent)"
        if not browser.becomes(f"{names}.includes('{part}')"):
            yield f"the case {name} does not show: {part}"
    if "case=" not in browser.value("location.hash"):
        yield "the address does not keep the open case"
    browser.value("document.querySelector('#cases details[open] button.id').click()")
    rule = browser.value("document.querySelector('#cases details[open] button.id').textContent")
    box = "document.getElementById('rule')"
    if not browser.becomes(f"{box}.open && {box}.innerText.includes('{rule}')"):
        yield f"the rule {rule} does not open"
    browser.value("document.getElementById('close').click()")
    if not browser.becomes("!document.getElementById('rule').open && document.querySelector('#cases details[open]')"):
        yield f"there is no way back from the rule {rule}"


#: Pages of the site, and what each must have.
PAGES = {
    "index.html": "main",
    "rules/SUB.TENSOR.RANK.html": ".inference",
    "errata/A01.html": "#witness",
    "operators/add.html": "main h2",
    "passes/index.html": "main li a",
}


def faults_of_site(browser, site):
    for name, part in PAGES.items():
        if not browser.open(site / name) or not browser.becomes(f"document.querySelector('{part}')"):
            yield f"{name} lacks {part}"
    browser.open(site / "rules/SUB.TENSOR.TOP.html")
    browser.value("document.querySelector('main a[href*=\"errata/A17\"]').click()")
    if not browser.becomes("location.pathname.endsWith('errata/A17.html')"):
        yield "a rule does not lead to its erratum"
    browser.value("history.back()")
    if not browser.becomes("location.pathname.endsWith('rules/SUB.TENSOR.TOP.html')"):
        yield "there is no way back to the rule"
    browser.open(site / "index.html", "")
    browser.value("document.getElementById('mdbook-search-toggle').click()")
    if not browser.becomes("!document.getElementById('mdbook-search-wrapper').classList.contains('hidden')"):
        yield "the search does not open"
    type_in(browser, "mdbook-searchbar", "SUB.TENSOR.RANK")
    browser.value("document.getElementById('mdbook-searchbar').dispatchEvent(new Event('input', {bubbles: true}))")
    if not browser.becomes("document.querySelector('#mdbook-searchresults a[href*=\"SUB.TENSOR.RANK\"]')"):
        yield "the search does not find SUB.TENSOR.RANK"


def looks(browser, pages, folder):
    """No page is wider than the screen; how they look is kept."""
    for name, (path, place) in pages.items():
        for screen in SCREENS:
            for scheme in ["light", "dark"]:
                browser.screen(screen, scheme)
                browser.open(path, place)
                wide = browser.value("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    yield f"{name} is {wide} pixels wider than a {screen}"
                if folder:
                    folder.mkdir(parents=True, exist_ok=True)
                    browser.picture(folder / f"{name.replace('/', '-')}-{screen}-{scheme}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("site", type=pathlib.Path, nargs="?")
    parser.add_argument("--pictures", type=pathlib.Path)
    args = parser.parse_args()
    pages = {"report": (args.report, "")}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(installed(), profile)
        faults = list(faults_of_report(browser, args.report))
        browser.open(args.report)
        first = browser.value("(document.querySelector('#cases details') || {id: 'case-'}).id.slice('case-'.length)")
        pages["case"] = (args.report, f"case={first}")
        if args.site:
            faults += faults_of_site(browser, args.site)
            pages |= {name: (args.site / f"{name}.html", "") for name in ["index", "rules/SUB.TENSOR.RANK", "operators/add"]}
        faults += looks(browser, pages, args.pictures)
        faults += browser.said
        browser.end()
    print("\n".join(faults) or "as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
