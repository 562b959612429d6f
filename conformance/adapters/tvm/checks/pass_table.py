"""Is what each pass of TVM makes of a program allowed, and which contracts does it keep? A page of the book.

    python3 pass_table.py RELAX_SPEC PYTHON [--programs 36] [--only GLOB] [--page FILE] [--data FILE]

PYTHON is that of an environment with TVM, of 0.26 or later.

The programs are those of `pass_programs.py`. Each goes through the sequences of `SEQUENCES` by `relax-spec blame`, which
judges each pass against the module that it was given. The page, `spec/src/passes.md`, has a row for each pass; the data,
`conformance/passes.jsonl`, has the same for the pages of single passes. Without `--page` the table is printed.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

import forked
from pass_programs import programs

#: Seconds for a program and a sequence.
PATIENCE = 400
#: Inputs for each judgement.
RUNS = 10
#: The parts of programs that call private functions.
CALLS = ("function", "function of two results", "function of a tuple")
#: The default pipeline refuses what `LambdaLift` makes of local functions, and `InlinePrivateFunctions` leaves their
#: variables unbound.
CLOSURES = ("local function",)
#: The parts of programs that make tuples.
TUPLES = ("dropout", "normalized by batches")
#: Each pass of it runs twice, one time behind the other: the second time should change nothing.
TWICE = (
    "LambdaLift",
    "ConvertToDataflow",
    "CanonicalizeBindings",
    "EliminateCommonSubexpr",
    "FoldConstant",
    "TopologicalSort",
    "RemoveRedundantReshape",
    "ReorderPermuteDimsAfterConcat",
    "ReorderTakeAfterMatmul",
    "ExpandMatmulOfSum",
    "CombineParallelMatmul",
    "AdjustMatmulOrder",
    "RemoveUnusedParameters",
    "RemoveUnusedOutputs",
    "ExpandTupleArguments",
    "InlinePrivateFunctions",
    "DeadCodeElimination",
)
PATTERNS = '{"patterns": [["a.matmul", "relax.matmul", 2], ["a.add", "relax.add", 2]], "annotate_codegen": false}'
#: Name -> the passes, and the parts that no program has, since TVM refuses them there.
SEQUENCES = {
    "operators": ([name for name in TWICE[1:] for _ in range(2)] + ["BundleModelParams"], CLOSURES),
    "default": (
        [
            "ConvertToDataflow",
            "FoldBatchnormToConv2D",
            "DecomposeOpsForInference",
            "FuseTransposeMatmul",
            "default",
        ],
        CLOSURES,
    ),
    "fusion": (
        [
            "LambdaLift",
            "ConvertToDataflow",
            "DecomposeOpsForTraining",
            "LegalizeOps",
            "AnnotateTIROpPattern",
            "FuseOps",
            "FuseTIR",
            "SplitLayoutRewritePreproc",
            "AllocateWorkspace",
        ],
        # `DecomposeOpsForTraining` makes it one of training, as it is asked to.
        ("normalized by batches",),
    ),
    "weights": (
        [
            "LambdaLift",
            "LambdaLift",
            "ConvertToDataflow",
            "LiftTransformParams",
            "ToMixedPrecision",
            "DataflowUseInplaceCalls",
        ],
        (),
    ),
    "layout": (
        [
            "ConvertToDataflow",
            "ConvertLayout",
            "OptimizeLayoutTransform",
            f"FuseOpsByPattern={PATTERNS}",
            "MergeCompositeFunctions",
        ],
        (*CALLS, *CLOSURES, *TUPLES),
    ),
}
#: The columns for contracts.
CONTRACTS = ("no free variable", "well-formed", "normal form", "purity", "information", "exported names")


class Row:
    """What was seen of a pass."""

    def __init__(self):
        self.programs, self.changed, self.again = set(), set(), set()
        self.is_run_twice = False
        self.verdicts, self.broken, self.refused = collections.Counter(), collections.Counter(), 0


def lines_of(args, adapter, text, passes):
    """What the command says of a program."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "program.py"
        path.write_text(text)
        command = [args.tool, "blame", str(path), "--adapter", adapter, "--pass", ",".join(passes), "--exec", "none"]
        command += ["--format", "json", "--runs", str(RUNS)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if not any("answer" in line for line in lines):
        raise RuntimeError(run.stderr[-500:])
    return lines


def take(rows, program, lines):
    """Counts what is said of each pass. A part of a pass counts for itself, and for the pass."""
    last, changed_by_last = None, False
    for line in lines:
        if line.get("refuses"):
            rows[line["refuses"].split("/")[0]].refused += 1
        if "verdict" not in line or line["pass"].startswith("the "):
            continue
        whole, _, part = line["pass"].partition("/")
        is_changed = line["verdict"] != "unchanged"
        for name in {whole, part or whole}:
            row = rows[name]
            row.programs.add(program)
            if is_changed:
                row.changed.add(program)
                row.verdicts[line["verdict"]] += 1
            row.broken.update(contract["contract"] for contract in line["contracts"])
        # The second of two runs begins where the pass itself is told of the first.
        if part == "" and whole in TWICE:
            if last == whole:
                rows[whole].is_run_twice = True
                if is_changed or changed_by_last:
                    rows[whole].again.add(program)
                last = None
            else:
                last = whole
            changed_by_last = False
        elif part and last == whole:
            changed_by_last |= is_changed


def measured(args, adapter):
    """After each program: how many there were, in how many runs, and a row for each pass."""
    rows, runs = collections.defaultdict(Row), 0
    chosen = {name: sequence for name, sequence in SEQUENCES.items() if fnmatch.fnmatch(name, args.only)}
    texts = {name: programs(args.programs, without) for name, (_, without) in chosen.items()}
    for number in range(args.programs):
        for sequence, (passes, without) in chosen.items():
            try:
                lines = lines_of(args, adapter, texts[sequence][number], passes)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{sequence}, program {number}: {error}", flush=True)
                continue
            runs += 1
            take(rows, f"{sequence} {number}" if without else number, lines)
            told = [line for line in lines if line.get("verdict") in ("not allowed", "undecided") or line.get("contracts")]
            for line in told + [line for line in lines if line.get("refuses")]:
                print(f"{sequence}, program {number}: {json.dumps(line)}", flush=True)
        yield number + 1, runs, rows


HEAD = ["pass", "programs", "changed", "allowed", "not allowed", "undecided", "refused", *CONTRACTS, "twice"]


def cells(rows):
    """The cells of each pass, as texts."""
    for name, row in sorted(rows.items()):
        counts = [len(row.programs), len(row.changed)]
        counts += [row.verdicts[verdict] for verdict in ("allowed", "not allowed", "undecided")] + [row.refused]
        counts += [row.broken[contract] for contract in CONTRACTS]
        yield name, [*map(str, counts), str(len(row.again)) if row.is_run_twice else "-"]


def table(rows):
    """The rows as Markdown."""
    lines = ["| " + " | ".join(HEAD) + " |", "| --- |" + " ---: |" * (len(HEAD) - 1)]
    return "\n".join(lines + [f"| `{name}` | " + " | ".join(row) + " |" for name, row in cells(rows)])


def data(rows):
    """The rows for the pages of single passes: a line for each."""
    lines = [json.dumps({"columns": HEAD[1:]})] + [json.dumps({"pass": name, "cells": row}) for name, row in cells(rows)]
    return "".join(line + "\n" for line in lines)


def release_of(python):
    ask = [python, "-c", "import tvm; print(tvm.__version__)"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()


def page(release, count, runs, rows):
    """The page of the book."""
    counted = sum(1 for row in rows.values() if len(row.programs) >= 30 and len(row.changed) >= 15)
    half = sum(1 for row in rows.values() if row.programs and 2 * len(row.changed) >= len(row.programs))
    return f"""# Passes of TVM

`conformance/adapters/tvm/checks/pass_table.py` makes this page; it is not edited by hand. {count} programs, put
together from parts in which passes find something to do, go through sequences of passes of TVM
{release}, {runs} runs in all. `relax-spec blame` judges each pass against the module that it was given, on {RUNS}
inputs. {counted} passes were judged on at least 30 programs each, of which they changed at least 15; {half} of {len(rows)}
changed at least half of their programs.

* *programs*: through how many programs the pass ran; *changed*: how many it changed.
* *allowed*, *not allowed*, *undecided*: the verdicts on the changed modules, by [the optimizations](optimizations.md) that
  the text allows. A pass that ran twice in a sequence has two verdicts. *refused*: how often TVM ended with an error.
* The next columns count the contracts that were broken: a module has a free variable, is not well-formed, is not in
  normal form, a pure function is impure, less is known of an exported function, a name is no longer exported.
* *twice*: of how many programs the pass changed its own result, where it ran twice, one time behind the other.

A pass that others run, such as `CanonicalizeBindings` in `ConvertToDataflow`, counts wherever it runs.
What is not allowed has these causes, which are folders of `conformance/findings`:

* `LegalizeOps` lowers a product over no elements to a loop that writes nothing (`sum-of-nothing-unwritten`).
* `InlinePrivateFunctions` splits a DataflowBlock and leaves variables of its first part unbound
  (`inlined-into-a-dataflow-block`). `BundleModelParams` behind it is undecided for that reason.

`ToMixedPrecision` computes in float16 because it is asked to. Where its numbers are too far off for another pass, it is
judged by the real numbers that it computes, and undecided if the ring cannot tell. It is not allowed where float16 does not
hold a number on the way, so that the result is no number.

{table(rows)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("python")
    parser.add_argument("--programs", type=int, default=36)
    parser.add_argument("--only", default="*")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    args = parser.parse_args()
    runs, rows, release = 0, {}, release_of(args.python)
    with forked.adapter(args.python) as adapter:
        for count, runs, rows in measured(args, adapter):
            # A run that is ended early leaves what it has seen.
            if args.page and runs:
                args.page.write_text(page(release, count, runs, rows))
            if args.data and runs:
                args.data.write_text(data(rows))
    if not args.page:
        print(table(rows))
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
