#!/usr/bin/env python3
"""Measures what the project promises about speed beside its peers, in one run, and writes the page with them.

    PYTHON tools/speed_table.py PROFILE [PART..]

PYTHON has TVM, NumPy and the package of `crates/python`. PROFILE is the one by which the command and `xtask` were built: `dist`
is what is published, `release` is optimized less. The parts are those of PARTS, by default all of them; a part that is left out
stays as it is. The page is `spec/src/speed.md` of the book, with the plot `spec/src/speed.svg`. A part that cannot be measured
ends the run, and nothing is written.
"""

import ast
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, PLOT = (ROOT / "spec" / "src" / name for name in ("speed.md", "speed.svg"))
HEADER = "| what | relax-spec | the peer | ratio | at most | |\n| --- | --- | --- | --- | --- | --- |\n"


def output(*command, statuses=(0,)):
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT)
    if run.returncode not in statuses:
        sys.exit(f"{' '.join(map(str, command))} ends with {run.returncode}: {run.stderr}")
    return run.stdout


def program(profile, name):
    return ROOT / "target" / profile / name


def seconds(text):
    figure, unit = text.split()
    return float(figure) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def cells(text):
    """The rows of the tables in a text, without their heads."""
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if not set("".join(row)) <= set("- ")]


def core(profile):
    """Judgements and checks in Rust; the benches exit with 1 beyond a limit."""
    line = re.compile(r"(.+?) +([\d.]+) ms +tvm@\S+ +([\d.]+) ms +[\d.]+ times faster \(promised ([\d.]+)\)")
    for bench in ("against_tvm", "run_against_tvm"):
        command = (
            "cargo",
            "bench",
            "--profile",
            profile,
            "--locked",
            "--workspace",
            "--bench",
            bench,
            "--",
            f"tvm@{sys.executable}",
        )
        for what, own, peer, promised in line.findall(output(*command, statuses=(0, 1))):
            yield what, float(own) * 1e-3, float(peer) * 1e-3, 1 / float(promised)


def python(_profile):
    """Calls from Python, beside TVM's own. They have no limit."""
    told = output(sys.executable, ROOT / "crates/python/tests/measure.py")
    took = {what: seconds(figure) for what, figure in re.findall(r"^  (.+): ([\d.]+ (?:us|ms))$", told, re.M)}
    asked_before = "unify, of structural information of TVM that was asked about before"
    yield "unify, from Python", took[asked_before], took["unify, by TVM"], None
    yield "check of 1,000 bindings, from Python", took["check of 1,000 bindings"], took["its check by TVM"], None


def kernels(profile):
    """Operators, beside NumPy on one thread."""
    told = output(sys.executable, ROOT / "tools/time_kernels.py", program(profile, "xtask"))
    large, small = limits_of("time_kernels.py")
    for name, shapes, own, peer, *_ in cells(told)[1:]:
        sizes = ast.literal_eval(shapes)
        few = all(len(s) == 2 and s[0] * s[1] <= 1000 for s in sizes)
        shown = ", ".join("x".join(map(str, size)) for size in sizes)
        yield f"{name} of {shown}", float(own), float(peer), small if few else large


def limits_of(tool):
    text = (ROOT / "tools" / tool).read_text()
    return ast.literal_eval(re.search(r"^LARGE_LIMIT, SMALL_LIMIT, .* = (\d+, \d+)", text, re.M)[1])


def models(profile):
    """Models, from their text to the result, beside what TVM takes to compile and run them."""
    with tempfile.TemporaryDirectory() as directory:
        told = output(sys.executable, ROOT / "tools/time_models.py", program(profile, "relax-spec"), directory)
    for name, compiles, runs, own, *_ in cells(told)[1:]:
        yield name, float(own), float(compiles) + float(runs), 1


def ring(profile):
    """Models evaluated in the ring, beside their evaluation in floats. They have no limit."""
    with tempfile.TemporaryDirectory() as directory:
        names = ("resnet50", "decoder_layer")
        output(sys.executable, ROOT / "tools/time_models.py", "--write", directory, *names)
        for name in names:
            told = output(program(profile, "xtask"), "ring-times", pathlib.Path(directory) / f"{name}.py", "forward")
            floats, own, *_ = cells(told)[-1]
            yield name, float(own), float(floats), None


#: For each part its title and how it is measured.
PARTS = {
    "core": ("Beside TVM, without Python", core),
    "python": ("Calls from Python, beside TVM's own", python),
    "kernels": ("Operators, beside NumPy on one thread", kernels),
    "models": ("Models, beside TVM's compilation and run", models),
    "ring": ("Models in the ring, beside floats", ring),
}


def shown(took):
    unit, factor = next(((u, f) for u, f in (("s", 1), ("ms", 1e-3)) if took >= f), ("us", 1e-6))
    return f"{took / factor:.3g} {unit}"


def row(what, own, peer, limit):
    ratio = own / peer
    verdict = "**beyond**" if limit is not None and ratio > limit else ""
    return [what, shown(own), shown(peer), f"{ratio:.2g}", "-" if limit is None else f"{limit:.2g}", verdict]


def machine():
    info = pathlib.Path("/proc/cpuinfo")
    name = re.search(r"^model name\s*: (.+)$", info.read_text(), re.M) if info.exists() else None
    return f"{name[1] if name else platform.machine()}, {os.cpu_count()} processors"


def measured(title, profile, rows):
    import numpy
    import tvm

    date = datetime.date.today().isoformat()
    told = f"{machine()}; {date}; profile `{profile}`; TVM {tvm.__version__}, NumPy {numpy.__version__}."
    return f"## {title}\n\n{told}\n\n{HEADER}" + "".join(f"| {' | '.join(figures)} |\n" for figures in rows)


def plot(rows):
    """A bar for each ratio, on a logarithmic scale, with a mark at its limit."""
    import math

    left, width, height, low, high = 330, 500, 16, -4, 3

    def place(ratio):
        return left + width * (min(max(math.log10(ratio), low), high) - low) / (high - low)

    parts = []
    for power in range(low, high + 1):
        x = place(10.0**power)
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="20" y2="{24 + height * len(rows)}" stroke="#ccc"/>')
        parts.append(f'<text x="{x:.0f}" y="14" text-anchor="middle">{10.0**power:g}</text>')
    for at, (what, _, _, ratio, limit, verdict) in enumerate(rows):
        y, end = 24 + height * at, place(float(ratio))
        colour = "#c33" if verdict else "#47a"
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{what}</text>')
        parts.append(f'<rect x="{left}" y="{y + 2}" width="{end - left:.0f}" height="{height - 4}" fill="{colour}"/>')
        if limit != "-":
            mark = place(float(limit))
            parts.append(f'<rect x="{mark:.0f}" y="{y}" width="2" height="{height}" fill="#000"/>')
    size = f'width="{left + width + 20}" height="{30 + height * len(rows)}"'
    style = 'font-family="sans-serif" font-size="11"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n' + "\n".join(parts) + "\n</svg>\n"


PREFACE = """# Speed

What the oracle takes beside its peers, as `tools/speed_table.py` measured both in the same run. A ratio is the time
here divided by that of the peer; *at most* is what the project promises, and a larger ratio is marked. Only ratios of
one run mean anything: other machines, and other load, change both times.

<img src="speed.svg" alt="The ratios, with their limits">

"""


def main():
    profile, *wanted = sys.argv[1:]
    old = re.split(r"^(?=## )", PAGE.read_text(), flags=re.M)[1:] if PAGE.exists() else []
    sections = []
    for part, (title, measure) in PARTS.items():
        if not wanted or part in wanted:
            sections.append(measured(title, profile, [row(*figures) for figures in measure(profile)]))
        else:
            sections.extend(f"{section.strip()}\n" for section in old if section.startswith(f"## {title}\n"))
    rows = [[*figures, ""][:6] for section in sections for figures in cells(section)[1:]]
    for path, text in ((PAGE, PREFACE + "\n".join(sections)), (PLOT, plot(rows))):
        new = path.with_suffix(".new")
        new.write_text(text)
        new.rename(path)


if __name__ == "__main__":
    main()
