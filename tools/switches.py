"""Mistakes behind switches: a copy of the repository into which many of them are written, so that one build serves all.

A mistake is a text of a source file that is replaced, only what stands between « and »; the rest says where. Which of them is
made is read from an environment variable. `hand_mutants.py` has those that were made by hand, `seeded_faults.py` those that were
drawn.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWITCH = "RELAX_SPEC_MUTANT"
REACHED = "RELAX_SPEC_REACHED"
MODULE = f"""\
//! Which mistake is made in this copy.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{{Mutex, OnceLock}};

pub(crate) fn is(name: &'static str) -> bool {{
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    static REACHED: OnceLock<Option<String>> = OnceLock::new();
    if let Some(file) = REACHED.get_or_init(|| std::env::var("{REACHED}").ok()) {{
        reached(file, name);
    }}
    CHOSEN.get_or_init(|| std::env::var("{SWITCH}").ok()).as_deref() == Some(name)
}}

/// Each switch that is asked is written down once.
fn reached(file: &str, name: &'static str) {{
    static SEEN: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let mut seen = SEEN.get_or_init(Mutex::default).lock().unwrap();
    if seen.insert(name) {{
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{{name}}").unwrap();
    }}
}}
"""


@dataclass(frozen=True)
class Edit:
    """One mistake, and the place at which it is made."""

    name: str
    file: str
    replace: str
    instead: str
    form: str = "expression"
    """`expression`: what stands there is exchanged; `return`: the function ends there with this value; `guard`: the arm that
    goes on there is none."""

    def place(self, text: str) -> tuple[int, int] | None:
        """Where the replaced text stands, if it occurs exactly once; white space does not count."""
        before, rest = self.replace.split("«")
        middle, after = rest.split("»")
        words = [r"\s*".join(re.escape(word) for word in part.split()) for part in (before, middle, after)]
        found = list(re.finditer(r"{}\s*({})\s*{}".format(*words), text))
        return found[0].span(1) if len(found) == 1 else None

    def switched(self, original: str, *, statement: bool) -> str:
        """What stands at the place in the copy."""
        is_on = f'crate::hand_mutants::is("{self.name}")'
        if self.form == "return":
            return f"if {is_on} {{ return {self.instead}; /*{self.name}*/ }} {original}"
        if self.form == "guard":
            return f" if !{is_on} /*{self.name}*/ {original}"
        both = f"if {is_on} {{ {self.instead} /*{self.name}*/ }} else {{ {original} }}"
        return both if statement else f"({both})"


def check(edits: Sequence[Edit]) -> list[str]:
    """The mutants whose text does not occur exactly once, or is a part of another one's."""
    lost, places = [], {}
    for edit in edits:
        path = ROOT / edit.file
        place = edit.place(path.read_text(encoding="utf-8")) if path.is_file() else None
        if place is None:
            lost.append(f"{edit.name}: the replaced text does not occur exactly once in {edit.file}")
            continue
        start, stop = place
        for (file, other_start, other_stop), other in places.items():
            overlaps = start < other_stop and other_start < stop and place != (other_start, other_stop)
            if file == edit.file and overlaps:
                lost.append(f"{edit.name}: the replaced text overlaps with that of {other}")
        places[edit.file, start, stop] = edit.name
    return lost


def with_switches(text: str, here: Sequence[Edit]) -> str:
    """The source file with all its mistakes, each behind its switch."""
    places: dict[tuple[int, int], list[Edit]] = {}
    for edit in here:
        place = edit.place(text)
        assert place is not None
        places.setdefault(place, []).append(edit)
    end = len(text)
    for start, stop in sorted(places, reverse=True):
        if stop > end:
            raise SystemExit(f"{here[0].file}: {places[start, stop][0].name} overlaps with another one")
        switched = text[start:stop]
        statement = switched.endswith(";")
        for edit in places[start, stop]:
            switched = edit.switched(switched, statement=statement)
        text = text[:start] + switched + text[stop:]
        end = start
    return text


def copy(edits: Sequence[Edit], tree: Path) -> str:
    """Writes the copy; gives a digest of the sources as they are in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    digest = hashlib.sha256()
    kept = {tree / "src" / "hand_mutants.rs"}
    for name in sorted(filter(None, listed.decode().split("\0"))):
        source = ROOT / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if name.startswith(("src/", "crates/", "conformance/suite/", "Cargo", "build.rs")):
            digest.update(name.encode() + b"\0" + data)
        here = [edit for edit in edits if edit.file == name]
        if here:
            data = with_switches(data.decode(), here).encode()
        if name == "src/lib.rs":
            data = b"#![allow(warnings, clippy::all)]\n" + data + b"\nmod hand_mutants;\n"
        kept.add(tree / name)
        write(tree / name, data)
    # What has moved since the copy was made would be there twice.
    for path in tree.rglob("*"):
        if path.is_file() and path not in kept and "target" not in path.relative_to(tree).parts:
            path.unlink()
    write(tree / "src" / "hand_mutants.rs", MODULE.encode())
    return digest.hexdigest()


def write(path: Path, data: bytes) -> None:
    """Only what has changed, so that the build is incremental."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def build(tree: Path, target: Path, profile: str = "release") -> Path:
    options = ["--release"] if profile == "release" else []
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(["cargo", "build", "--locked", "--bin", "relax-spec", *options], cwd=tree, env=environment, check=True)
    return target / ("release" if profile == "release" else "debug") / "relax-spec"
