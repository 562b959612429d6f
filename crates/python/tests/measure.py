"""The figures of the package, in seconds of the processor, beside those of TVM in the same run.

    PYTHON measure.py [CORPUS]

The instrument is measured on a run of passes over the programs of a corpus, with and without it, in fresh processes.
"""

import json
import pathlib
import subprocess
import sys
import time
import timeit

import tvm
from tvm import relax

import relax_spec
from relax_spec.tvm import PassOracle
from relax_spec.tvm._adapter import load

names = load("names")
PASSES = ("Normalize", "CanonicalizeBindings", "FoldConstant", "EliminateCommonSubexpr", "DeadCodeElimination", "LegalizeOps")


def best(function, number=1, repeat=7):
    """Seconds of a call."""
    return min(timeit.repeat(function, timer=time.process_time, number=number, repeat=repeat)) / number


def bindings(count):
    """A module with so many bindings."""
    builder = relax.BlockBuilder()
    x = names.relax_var("x", names.TensorInfo((4, 4), "float32"), False)
    with builder.function("main", [x]):
        with builder.dataflow():
            var = x
            for index in range(count):
                var = builder.emit(relax.op.add(var, x) if index % 2 else relax.op.nn.relu(var))
            out = builder.emit_output(var)
        builder.emit_func_output(out)
    return builder.get()


def judgements():
    texts = "Tensor((n, 4), float32)", "Tensor((m, 4), float32)"
    infos = names.TensorInfo((2, 4), "float32"), names.TensorInfo((3, 4), "float32")
    asked = {
        "unify, of text": lambda: relax_spec.judge("unify", *texts),
        "unify, of structural information of TVM that was asked about before": lambda: relax_spec.judge("unify", *infos),
        "unify, by TVM": lambda: names.unify(*infos),
        "compat, of text": lambda: relax_spec.judge("compat", *texts),
        "compat, by TVM": lambda: names.base_check(*infos),
    }
    return {name: f"{best(call, 2000) * 1e6:.1f} us" for name, call in asked.items()}


def programs():
    module = bindings(1000)
    x = names.TensorInfo((4,), "float32")
    small, other = (_small(x, op) for op in (relax.op.add, lambda a, b: relax.op.add(b, a)))
    asked = {
        "check of 1,000 bindings": lambda: relax_spec.check(module),
        "its printing by TVM": lambda: module.script(),
        "its check by TVM": lambda: relax.analysis.well_formed(module),
        "refine of a small pair": lambda: relax_spec.refine(small, other),
    }
    return {name: f"{best(call) * 1e3:.1f} ms" for name, call in asked.items()}


def _small(info, op):
    builder = relax.BlockBuilder()
    x, y = (names.relax_var(name, info, False) for name in "xy")
    with builder.function("main", [x, y]):
        with builder.dataflow():
            out = builder.emit_output(relax.op.multiply(builder.emit(op(x, y)), y))
        builder.emit_func_output(out)
    return builder.get()


def run_passes(corpus, oracle):
    """A test run of passes over a corpus: each program is read, and goes through each pass and the default pipeline."""
    parse, counts = load("text").parse_text, None
    instruments = [PassOracle(action="record", out=None)] if oracle else []
    for path in sorted(pathlib.Path(corpus).glob("*.py")):
        try:
            module = parse(*load("trial").without_metadata(path.read_text()))
        except Exception:
            continue
        for name in [*PASSES, None]:
            made = getattr(relax.transform, name)() if name else relax.get_pipeline("default")
            try:
                with tvm.target.Target("llvm"), tvm.transform.PassContext(3, instruments=instruments):
                    made(module)
            except Exception:
                continue
    if oracle:
        judge = instruments[0].judge
        counts = {**judge.counts, "open": judge.open, "findings": [str(found) for found in judge.findings]}
    print(json.dumps({"seconds": time.process_time(), "counts": counts}))


def main():
    if sys.argv[1:2] == ["--passes"]:
        return run_passes(sys.argv[2], sys.argv[3] == "oracle")
    print(f"TVM {tvm.__version__}")
    for name, figure in {**judgements(), **programs()}.items():
        print(f"  {name}: {figure}")
    for corpus in sys.argv[1:]:
        seconds = {}
        for with_oracle in ("plain", "oracle"):
            command = [sys.executable, __file__, "--passes", corpus, with_oracle]
            run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
            seconds[with_oracle] = run["seconds"]
        factor = seconds["oracle"] / seconds["plain"]
        print(f"  passes over {corpus}: {seconds['plain']:.1f} s, under the oracle {seconds['oracle']:.1f} s: {factor:.2f} times")
        print(f"    {json.dumps(run['counts'])}")


if __name__ == "__main__":
    main()
