"""Does `relax-spec blame` name the pass that the folder of a finding names?

    PYTHON blame.py RELAX_SPEC [--only GLOB] [--releases last|all]

The findings are those whose folder holds a pass of `relax.transform` responsible. The command gets the program, the
release (the last one in which the defect shows, or each), and the passes that the folder's `repro.py` runs: `PASSES`
says which, where these are neither the default pipeline nor the pass alone. A line for each finding: the pass that is
named, and the one that is blamed. The exit status is 1 if one differs that `KNOWN` does not explain, or if one of
`KNOWN` does not differ.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
FOLDERS = ROOT / "conformance" / "findings"
#: Seconds for a finding.
PATIENCE = 300
#: The passes of the default pipeline.
DEFAULT = (
    "AttachGlobalSymbol",
    "CallTIRRewrite",
    "ComputePrimValue",
    "KillAfterLastUse",
    "LegalizeOps",
    "LowerAllocTensor",
    "LowerRuntimeBuiltin",
    "RemovePurityChecking",
    "RewriteDataflowReshape",
    "StaticPlanBlockMemory",
    "ToNonDataflow",
    "VMShapeLower",
)
#: The passes that a finding shows under.
PASSES = {
    "gradient-of-a-broadcast-branch": 'Gradient=["main"]',
    "gradient-of-a-dilated-convolution": 'Gradient=["main"]',
    "gradient-of-an-exclusive-sum": 'Gradient=["main"]',
    "field-of-a-closure-result": "LambdaLift,default",
    "folded-call-without-its-sizes": "LegalizeOps,FoldConstant",
    "fused-size-given-twice": "zero",
    "inlined-function-of-a-closure": "LambdaLift,InlinePrivateFunctions",
    "number-computed-before-lowering": "ComputePrimValue,default",
    "projection-of-a-tuple-among-fused-calls": "zero",
}
#: The bindings whose value is the field of a tuple literal, which the readers of text take at once, as the folders say.
PROJECTED = {"outputs-in-a-tuple-that-is-projected": "w", "projection-of-a-tuple-among-fused-calls": "b"}
#: The findings whose pass is not blamed, with the reason.
KNOWN = {
    "constant-written-in-place": "each evaluation of a constant is a new tensor by the text, so that writing into it is "
    "allowed; the virtual machine keeps the constant for the next call",
    "function-that-copies-made-a-view": "the text of the module says `R.reshape`, whose result is a new tensor; it becomes "
    "a view in LowerRuntimeBuiltin, which is blamed",
}


class Finding:
    """The folder of a finding."""

    def __init__(self, folder):
        self.name = folder.name
        readme = (folder / "README.md").read_text()
        self.releases = self.row(readme, "releases").split(", ")
        responsible = self.row(readme, "responsible")
        self.passes = re.findall(r"relax\.transform\.(\w+)", responsible)
        self.program = self.text(folder, readme)

    def row(self, readme, name):
        found = re.search(rf"^\| {name} \| (.+) \|$", readme, re.M)
        return found[1] if found else ""

    def text(self, folder, readme):
        """The program as the suite has it, else as the folder shows it."""
        case = re.search(r'Script\(r#"(.*?)"#\)', (folder / "case.ron").read_text(), re.S)
        return case[1] if case else re.search(r"```python\n(.*?)```", readme, re.S)[1]

    def options(self):
        passes = PASSES.get(self.name) or (None if self.passes[0] in DEFAULT else self.passes[0])
        return ["--pass", passes] if passes else []

    def blamed(self, tool, release):
        """The pass that the command blames, if any, and the verdicts that are neither allowed nor unchanged."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "program.py"
            path.write_text(self.program)
            if self.name in PROJECTED:
                path = projected(tool, path, PROJECTED[self.name])
            command = [tool, "blame", str(path), "--adapter", f"tvm@{release}", "--format", "json", *self.options()]
            run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        answers = [line for line in lines if "answer" in line]
        rest = [f"{line['pass']}: {line['verdict']}" for line in lines if line.get("verdict") in ("not allowed", "undecided")]
        return (answers[-1]["blamed"] if answers else None), rest or run.stderr.strip().splitlines()[:1]


def projected(tool, path, variable):
    """The program as JSON, in which the value of a variable is the field of a tuple literal."""
    run = subprocess.run([tool, "convert", str(path), "--to", "json"], capture_output=True, text=True, check=True)

    def visit(node):
        if isinstance(node, list):
            return [visit(part) for part in node]
        if not isinstance(node, dict):
            return node
        node = {key: visit(value) for key, value in node.items()}
        if "value" in node and node.get("var", {}).get("var") == variable:
            node["value"] = {"TupleGetItem": {"tuple_value": {"Tuple": {"fields": [node["value"]]}}, "index": 0}}
        return node

    made = path.with_suffix(".json")
    made.write_text(json.dumps(visit(json.loads(run.stdout))))
    return made


def named(passes, blamed):
    """Whether the blamed pass is, or is a part of, one of these."""
    return blamed is not None and any(part.removesuffix("Inner") in passes for part in re.split(r"/|, ", blamed))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--only", default="*")
    parser.add_argument("--releases", choices=("last", "all"), default="last")
    args = parser.parse_args()
    folders = [folder for folder in sorted(FOLDERS.iterdir()) if folder.is_dir() and fnmatch.fnmatch(folder.name, args.only)]
    totals, failed = collections.Counter(), False
    for finding in filter(lambda finding: finding.passes, map(Finding, folders)):
        for release in finding.releases if args.releases == "all" else finding.releases[-1:]:
            blamed, rest = finding.blamed(args.tool, release)
            is_right, is_known = named(finding.passes, blamed), finding.name in KNOWN
            word = "right" if is_right else "known" if is_known else "WRONG"
            totals[word] += 1
            failed |= is_right == is_known
            told = "" if is_right else f" ({'; '.join(rest[:3])})"
            print(f"{word} {finding.name} {release}: {finding.passes[0]} is named, {blamed} is blamed{told}", flush=True)
    print(f"{sum(totals.values())} findings: " + ", ".join(f"{count} {word}" for word, count in sorted(totals.items())))
    return 1 if failed or not totals["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
