"""The list of defects, `conformance/FINDINGS.md`, from the folders in `conformance/findings/`.

    python3 tools/make_findings.py [--check]

With `--check` nothing is written, and the exit status is 1 if the list is not what the folders say. Either way each folder must
be whole: the table of its README names releases, severity, what is responsible, clauses that stand where the links lead, and the
case; the program is the one that `repro.py` asks about, word for word; `case.ron` is a case of the suite, or holds one. What is
responsible is another thing in each folder: a root cause counts once. A row `upstream` is a public thread about the same cause
with its state, or says that a search found none, and when; a folder without it was not searched for.
"""

import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ROOT / "conformance" / "findings"
LIST = ROOT / "conformance" / "FINDINGS.md"

RELEASES = ["0.25", "0.26", "0.27"]
#: In the order of the list.
SEVERITIES = ["wrong value", "crash", "lost effect", "wrong verdict", "refusal"]
#: What a row `upstream` may be: a thread and its state, or that there is none.
UPSTREAM = re.compile(
    r"\[(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)\]\(https://github\.com/(?P=repository)/(issues|pull)/(?P=number)\): \w.*"
    r"|none found \(\d{4}-\d{2}-\d{2}\)"
)
#: The rows of the table of a README that must be there.
ROWS = ["releases", "severity", "responsible", "clauses", "case", "found by"]

INTRODUCTION = """\
# Findings

Defects of released wheels of Apache TVM, each with its own root cause in the responsible function or pass.
`tools/make_findings.py` generates this list from the folders in [findings](findings). Each folder has the question,
both answers and the clauses that decide; a script that shows the defect with only the wheel (exit status 0 if it shows,
1 if not); and the case. `pass` is the pass of `relax.transform` that is responsible, if one is: `relax-spec blame`
names it too. `conformance/adapters/tvm/checks/findings.py` runs the scripts: it is an error if a defect does
not show in a release that its folder names, or shows in another release. `upstream` is a public thread about the same
cause, or the date of a search that found none; for findings without it, no search was made.
"""


class Broken(Exception):
    """A folder that is not whole."""


class Finding:
    """What the README of a folder says."""

    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        self.text = (folder / "README.md").read_text()
        self.title = self.text.splitlines()[0].removeprefix("# ")
        rows = re.findall(r"^\| (.+?) \| (.+) \|$", self.text, re.M)
        self.row = {key: value for key, value in rows if key != "---"}
        self.program = self.match(r"^```python\n(.*?)^```$", "a program")
        self.releases = self.row.get("releases", "").split(", ")
        self.severity = self.row.get("severity")

    def match(self, pattern, what):
        found = re.search(pattern, self.text, re.M | re.S)
        if not found:
            raise Broken(f"{self.name}: there is not {what}")
        return found[1]

    def check(self, cases):
        for row in ROWS:
            self.demand(row in self.row, f"the table has no row {row}")
        self.demand(self.releases and set(self.releases) <= set(RELEASES), "the releases are of another kind")
        self.demand(self.severity in SEVERITIES, "the severity is of another kind")
        for part in ("**Question.**", "**By the text:**", "**TVM:**"):
            self.demand(part in self.text, f"there is no {part}")
        self.demand(f'PROGRAM = """\n{self.program}"""' in (self.folder / "repro.py").read_text(), "repro.py has another program")
        upstream = self.row.get("upstream")
        self.demand(upstream is None or UPSTREAM.fullmatch(upstream), "upstream is neither a thread with its state nor none")
        self.check_clauses()
        self.check_case(cases)

    def check_clauses(self):
        links = re.findall(r"\[`([^`]+)`\]\(([^)]+)\)", self.row["clauses"])
        self.demand(links, "no clause decides")
        for rule, link in links:
            page = (self.folder / link).resolve()
            self.demand(page.is_file() and f"\nr[{rule}]\n" in page.read_text(), f"{rule} does not stand in {link}")

    def check_case(self, cases):
        case = (self.folder / "case.ron").read_text()
        if self.row["case"] == "[case.ron](case.ron)":
            self.demand(f'id: "findings/{self.name}"' in case, "case.ron has no case of this name")
        else:
            self.demand(case.strip() == self.row["case"].replace("`", '"'), "case.ron names another case than the README")
            self.demand(self.row["case"].strip("`") in cases, "the suite has no such case")

    def demand(self, condition, message):
        if not condition:
            raise Broken(f"{self.name}: {message}")

    def cause(self):
        """What is responsible, by its words alone."""
        return " ".join(re.findall(r"\w+", self.row["responsible"].lower()))

    def order(self):
        return (SEVERITIES.index(self.severity), self.name)

    def line(self):
        passes = ", ".join(f"`{name}`" for name in re.findall(r"relax\.transform\.(\w+)", self.row["responsible"])[:1])
        return f"| [{self.title}](findings/{self.name}/README.md) | {self.severity} | {passes} | {self.row['releases']} |"

    def section(self):
        clauses = self.row["clauses"].replace("](../../../", "](../")
        case = self.row["case"].replace("](", f"](findings/{self.name}/")
        upstream = f"; upstream: {self.row['upstream']}" if "upstream" in self.row else ""
        return (
            f"## {self.title}\n\n{self.severity} in {self.row['releases']}; {self.row['responsible']}; {clauses}; case {case};"
            f" [repro.py](findings/{self.name}/repro.py); found by {self.row['found by']}{upstream}\n\n"
            f"```python\n{self.program}```\n"
        )


def cases_of_the_suite():
    found = set()
    for path in (ROOT / "conformance" / "suite").rglob("*.ron"):
        found.update(re.findall(r'^\s*id: "([^"]+)"', path.read_text(), re.M))
    return found


def findings():
    """All of them, whole."""
    cases = cases_of_the_suite()
    found = [Finding(folder) for folder in sorted(FOLDERS.iterdir()) if folder.is_dir()]
    for finding in found:
        finding.check(cases)
    check_causes(found)
    return sorted(found, key=Finding.order)


def check_causes(found):
    """That no two of them have one root cause."""
    seen = {}
    for finding in found:
        other = seen.setdefault(finding.cause(), finding)
        finding.demand(other is finding, f"the same is responsible as in {other.name}, word for word: one cause, one folder")


def table_of_counts(found):
    counts = collections.Counter((f.severity, release) for f in found for release in f.releases)
    once = collections.Counter(f.severity for f in found)
    lines = ["| | " + " | ".join(["all", *RELEASES]) + " |", "| --- |" + " --- |" * (len(RELEASES) + 1)]
    for severity in SEVERITIES:
        numbers = [once[severity], *(counts[severity, release] for release in RELEASES)]
        lines.append(f"| {severity} | " + " | ".join(map(str, numbers)) + " |")
    numbers = [len(found), *(sum(counts[severity, release] for severity in SEVERITIES) for release in RELEASES)]
    lines.append("| total | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines) + "\n"


def rendered(found):
    head = ["| finding | severity | pass | releases |", "| --- | --- | --- | --- |"]
    lines = "\n".join([*head, *(f.line() for f in found)]) + "\n"
    return "\n".join([INTRODUCTION, table_of_counts(found), lines, *(f.section() for f in found)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    try:
        text = rendered(findings())
    except (Broken, OSError) as fault:
        print(fault)
        return 1
    if not args.check:
        LIST.write_text(text)
        return 0
    if not LIST.is_file() or LIST.read_text() != text:
        print("conformance/FINDINGS.md is not what the folders say: run tools/make_findings.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
