"""The questions: one function for each."""

import json

from relax_spec import _values
from relax_spec._errors import UnreadableError
from relax_spec._programs import line, unreadable
from relax_spec._results import CheckReport, Derivation, Program, Refinement, Report, RunResult


def check(program, *, edition=None, **options):
    """Is a program well-formed, and do its types and structural information agree?"""
    with line() as asked:
        path = asked.program(program)
        status, out, err = asked.run("check", path, "--format", "json", options=options, edition=edition)
    lines = [json.loads(text) for text in out.splitlines()]
    if status == 2:
        raise unreadable(err, out)

    def human():
        with line() as asked:
            _, out, err = asked.run("check", asked.program(program), options=options, edition=edition)
        return out + err

    return CheckReport(human, lines, status)


def run(program, *args, edition=None, **options):
    """Runs a function of a program on NumPy arrays, whatever has DLPack, numbers, tuples, shapes, and text as `--arg`."""
    with line() as asked:
        words = ["run", asked.program(program)]
        for arg in args:
            words += ["--arg", _values.written(arg, asked.directory)]
        trace = options.pop("trace", False)
        status, out, err = asked.run(*words, "--format", "json", options=options, edition=edition)
        if not out.startswith('{"arguments"'):
            raise unreadable(err, out)
        data = json.loads(out)
        text = f"{data['text']}\n" if data["text"] is not None else f"error: {data['message']} [{data['rule']}]\n"
        if trace:
            _, text, err = asked.run(*words, "--trace", options=options, edition=edition)
            text += err
    return RunResult(text, data, status != 0)


def types(program, *, edition=None, **options):
    """The program in normal form with the structural information and the purity of every variable."""
    data = _types(program, edition, options)
    report = Program(data["text"], data["findings"])
    report.functions = {function["name"]: function["info"] for function in data["functions"]}
    report.variables = data["variables"]
    return report


def derive(program, function="main", variable=None, *, edition=None, **options):
    """The structural information of a function, or of a variable of it, as text."""
    data = _types(program, edition, options)
    if variable is None:
        found = [known["info"] for known in data["functions"] if known["name"] == function]
    else:
        found = [v["info"] for v in data["variables"] if (v["function"], v["name"]) == (function, variable)]
    if not found:
        raise KeyError(variable or function)
    return found[0]


def why(program, line_number, *, edition=None, **options):
    """How the information of the variables that a line binds was derived, back to where it was lost."""
    with line() as asked:
        words = ["types", asked.program(program), "--why", str(line_number)]
        status, out, err = asked.run(*words, options=options, edition=edition)
    if status == 2:
        raise unreadable(err, out)
    return Report(out)


def _types(program, edition, options):
    with line() as asked:
        path = asked.program(program)
        status, out, err = asked.run("types", path, "--format", "json", options=options, edition=edition)
    if status == 2:
        raise unreadable(err, out)
    return json.loads(out)


def normalize(program, *, edition=None, **options):
    """An equivalent program in normal form."""
    with line() as asked:
        path = asked.program(program)
        status, out, err = asked.run("normalize", path, "--format", "json", options=options, edition=edition)
    if status == 2:
        raise unreadable(err, out)
    data = json.loads(out)
    return Program(data["text"], data["findings"])


def refine(before, after, *args, edition=None, **options):
    """Is the second program an allowed optimization of the first? Further arguments are an input to try, too."""

    def ask(asked, *words):
        line = ["refine", asked.program(before, "before"), asked.program(after, "after"), *words]
        for arg in args:
            line += ["--arg", _values.written(arg, asked.directory)]
        # What TVM's passes make need not be well-formed, and is judged all the same.
        unchecked = {"unchecked": True} if asked.edition else {}
        return asked.run(*line, options={**unchecked, **options}, edition=edition)

    with line() as asked:
        _, out, err = ask(asked, "--format", "json")
    data = json.loads(out) if out.startswith("{") else {}
    if "compared" not in data:
        raise unreadable(err, out)

    def human():
        with line() as asked:
            return ask(asked)[1]

    return Refinement(human, data)


def derivation(judgement):
    """How a judgement was derived."""
    return Derivation(judgement.derivation)


def blame(module, passes, *, target="llvm", **settings):
    """Which pass changed the meaning of a module of TVM? Runs passes, or a pipeline, in this process."""
    from relax_spec.tvm import blame as blame_passes

    return blame_passes(module, passes, target=target, **settings)


def rules(*words, edition=None):
    """Rules of the specification: by prefixes of ids, or words of their texts."""
    return _text("rules", *words, edition=edition)


def explain(name, edition=None):
    """A rule, an erratum or a golden case, by its id."""
    return _text("explain", name, edition=edition)


def _text(*words, edition=None):
    with line() as asked:
        status, out, err = asked.run(*words, edition=edition)
    if status != 0:
        raise UnreadableError((err or out).strip())
    return Report(out)
