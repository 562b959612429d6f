#!/usr/bin/env python3
"""Holds the oracle against what ONNX expects of the corpus that `make_onnx_corpus.py` wrote.

    check_onnx_corpus.py CASES CORPUS_DIRECTORY [--list DIFFERENCES] [--verbose] [NAME ..]

CASES is the built example `cases`. Every case is read from text and from what TVM saved, checked and run, and what comes
out is held against what ONNX expects, within ONNX's tolerance. The cases in DIFFERENCES
(`conformance/onnx/differences.json`) are not held against ONNX; what the list says of them is: where it has a line to be
replaced, the module so mended must give what ONNX expects. Ends with 1 where a case differs that is not listed, where
text and file give different values, and where an entry of the list is not needed or not true.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np

#: Bits of exponent and fraction and the bias of small floats, and which of them are no numbers: those with the largest exponent
#: as in IEEE 754, the last one, or the one that would be negative zero.
SMALL = {
    "float8_e4m3fn": (4, 3, 7, "last"),
    "float8_e4m3fnuz": (4, 3, 8, "zero"),
    "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e5m2fnuz": (5, 2, 16, "zero"),
    "float8_e8m0fnu": (8, 0, 127, "unsigned"),
    "float4_e2m1fn": (2, 1, 1, "none"),
}
#: At least so much of what is not the importer's or ONNX's doing is as ONNX expects.
TARGET = 0.995


def arrays(value):
    """The tensors of a value, flat, with how they nest."""
    if "Tuple" in value:
        inner = [arrays(field) for field in value["Tuple"]]
        return [a for found, _ in inner for a in found], [shape for _, shape in inner]
    if "Tensor" not in value:
        return [(str(value), None)], None
    data = value["Tensor"]
    return [(data["dtype"], numbers(data["dtype"], data["shape"], bytes.fromhex(data["bits"])))], None


def numbers(dtype, shape, raw):
    if dtype == "bfloat16":
        wide = np.frombuffer(raw, "uint16").astype("uint32") << 16
        return wide.view("float32").reshape(shape)
    if dtype in SMALL:
        values = np.array([small(code, *SMALL[dtype]) for code in range(256)])
        return values[np.frombuffer(raw, "uint8")].reshape(shape)
    if re.fullmatch("u?int[24]", dtype):
        return np.frombuffer(raw, "uint8" if dtype.startswith("u") else "int8").reshape(shape)
    return np.frombuffer(raw, dtype).reshape(shape)


def small(code, exponent, fraction, bias, special):
    """The number of a code of a float of at most 8 bits."""
    width = exponent + fraction
    sign, magnitude = (-1) ** (code >> width & 1) if special != "unsigned" else 1, code & ((1 << width) - 1)
    power, part = magnitude >> fraction, (magnitude & ((1 << fraction) - 1)) / (1 << fraction)
    if special == "ieee" and power == (1 << exponent) - 1:
        return np.nan if part else sign * np.inf
    if special in ("last", "unsigned") and magnitude == (1 << width) - 1 or special == "zero" and code == 1 << width:
        return np.nan
    hidden = power > 0 or special == "unsigned"
    return sign * (hidden + part) * 2.0 ** (power - bias + (not hidden))


def difference(expected, found, rtol, atol):
    """How a value is not what is expected; nothing where it is."""
    if found.get("Tuple") and len(found["Tuple"]) == 1 and "Tensor" in expected:
        found = found["Tuple"][0]
    (expected, outer), (found, inner) = arrays(expected), arrays(found)
    if outer != inner:
        return "another nesting"
    for (want_type, want), (has_type, has) in zip(expected, found, strict=True):
        if want_type != has_type:
            return f"{has_type} for {want_type}"
        if want is None or has is None:
            continue
        if want.shape != has.shape:
            return f"the shape {list(has.shape)} for {list(want.shape)}"
        if want.dtype.kind == "f":
            with np.errstate(all="ignore"):
                close = np.isclose(has.astype("float64"), want.astype("float64"), rtol, atol, equal_nan=True)
        else:
            close = has == want
            if np.issubdtype(want.dtype, np.integer) and not re.match("float|bool", want_type):
                close = np.isclose(has.astype("float64"), want.astype("float64"), rtol, atol)
        if not np.all(close):
            at = tuple(int(i) for i in np.argwhere(~close)[0])
            return f"{np.sum(~close)} of {want.size} elements: at {list(at)} {has[at]} for {want[at]}"
    return None


def outcomes(tool, stems):
    """What the oracle says of each module, by name and form."""
    stdin = "".join(f"{stem}\n" for stem in stems)
    lines = subprocess.run(shlex.split(tool), input=stdin, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        line = json.loads(line)
        found.setdefault(line["case"], {})[line["form"]] = line
    return found


def judged(case, line):
    """Whether an outcome is what ONNX expects, and if not, the kind and the particulars."""
    if line["outcome"] != "returns":
        return line["outcome"], line["message"]
    expected = case["expected"][0] if len(case["expected"]) == 1 else {"Tuple": case["expected"]}
    off = difference(expected, line["value"], case["rtol"], case["atol"])
    return ("unequal", off) if off else None


def mended(directory, scratch, name, entry):
    """The module with the lines of an entry replaced, beside the arguments of the case; false if a line is not there."""
    text = (directory / f"{name}.py").read_text()
    if entry.get("unannotated"):
        text = re.sub(r"(?m)^( +\w+): R\.[^\n]*? = ", r"\1 = ", text)
        text = re.sub(r"\) -> R\.[^\n]*:\n", "):\n", text)
    for line, instead in entry["mend"]:
        changed = re.sub(line, instead, text)
        if changed == text:
            return False
        text = changed
    (scratch / f"{name}.py").write_text(text)
    shutil.copy(directory / f"{name}.tvm.json", scratch)
    shutil.copy(directory / f"{name}.case.json", scratch)
    return True


def of_release(entry, versions):
    return all(fnmatch.fnmatch(versions[which], entry.get(which, "*")) for which in ("tvm", "onnx"))


def entry_of(entries, versions, name):
    for entry in entries:
        if of_release(entry, versions) and any(fnmatch.fnmatch(name, pattern) for pattern in entry["cases"]):
            return entry
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    corpus = json.loads((options.directory / "corpus.json").read_text())
    names = [name for name, model in corpus["models"].items() if model["status"] == "here"]
    names = [name for name in names if not options.names or any(fnmatch.fnmatch(name, n) for n in options.names)]
    entries = json.loads(options.list.read_text()) if options.list else []
    found = outcomes(options.tool, [options.directory / name for name in names])
    tally, faults, listed, unused = collections.Counter(), [], {}, False
    for name in names:
        case = json.loads((options.directory / f"{name}.case.json").read_text())
        text, saved = (found[name][form] for form in ("py", "tvm.json"))
        off = judged(case, text)
        entry = entry_of(entries, corpus["versions"], name)
        if [text[k] for k in ("outcome", "value") if k in text] != [saved[k] for k in ("outcome", "value") if k in saved]:
            faults.append((name, "text and file differ", f"{text.get('message')} | {saved.get('message')}"))
        if off is None:
            tally["equal"] += 1
            continue
        if entry:
            tally[entry["reason"]] += 1
            listed[name] = (entry, case)
            continue
        tally["different"] += 1
        faults.append((name, *off))
    with tempfile.TemporaryDirectory() as scratch:
        scratch, again = pathlib.Path(scratch), []
        for name, (entry, _) in listed.items():
            if "mend" in entry:
                if mended(options.directory, scratch, name, entry):
                    again.append(name)
                else:
                    faults.append((name, "not mended", "a line of the list is not in the module"))
        after = outcomes(options.tool, [scratch / name for name in again]) if again else {}
        for name in again:
            off = judged(listed[name][1], after[name]["py"])
            if off:
                faults.append((name, "mended in vain", ": ".join(off)))
            else:
                tally["mended"] += 1
    groups = collections.defaultdict(list)
    for name, kind, detail in faults:
        operators = json.loads((options.directory / f"{name}.case.json").read_text())["operators"]
        form = re.sub(r"[\d.e+-]+|\[.*?\]", "#", detail.splitlines()[0])[:150]
        groups[kind, form, str(operators)].append((name, operators, detail))
    for (kind, _, _), cases in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        print(f"{len(cases):4} {kind}: {cases[0][2][:300]}")
        for name, operators, detail in cases if options.verbose else cases[:4]:
            print(f"       {name} ({', '.join(operators)[:60]})" + (f": {detail[:240]}" if options.verbose else ""))
    for entry in entries if corpus["whole"] and not options.names else []:
        if of_release(entry, corpus["versions"]) and not any(entry is used for used, _ in listed.values()):
            unused = True
            print(f"     not needed: {entry['cases']}, {entry['reason']}")
    held = len(names) - tally["importer"] - tally["ONNX"]
    versions = " ".join(f"{which} {version}" for which, version in corpus["versions"].items())
    parts = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    print(f"{versions}: {len(names)} imported; {parts}; {tally['equal']} of {held} ({tally['equal'] / max(held, 1):.2%})")
    sys.exit(bool(faults) or unused or tally["equal"] < TARGET * held)


if __name__ == "__main__":
    main()
