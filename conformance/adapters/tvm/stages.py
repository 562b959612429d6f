"""The module after each pass that a pipeline runs, for `relax-spec blame`.

    echo '{"script": TEXT, "steps": [{"name": "default"}]}' | PYTHON stages.py

A request is a line of JSON: the program, as text in this release's dialect and as the JSON form of its syntax; the steps,
each a pipeline (`zero`, `default`, `target`), a pass of `relax.transform`, or `FILE.py:NAME`, with arguments; and the
passes that are switched off. The program is built from its syntax where that is possible: TVM's parser would change it.
The answer to a request is several lines:

* `{"begin": PASS}` and then `{"pass": PASS}`, with the text of the module if the pass changed it;
* `{"error": MESSAGE, "pass": PASS}` where TVM refuses the program, and then `{"without": [PASS]}`, which names the
  passes without which it does not;
* `{"unknown": MESSAGE}` if there is no such pass, and nothing runs;
* `{"done": true}` at the end, with the `seconds` that TVM took: for passes and generation of code, not for records.

A pass that is asked for by its name runs behind those that it needs. A pipeline with `VMShapeLower` that ends with
`AttachGlobalSymbol` is followed by the generation of code. Its passes over PrimFuncs have lines with `"prim_funcs": true`
and a text of these functions alone; those behind `SplitHostDevice` are only named. Then the process can be asked for the
code, as `library.py` can for that in a file.
"""

import inspect
import json
import os
import re
import runpy
import sys
import time

from adapter import in_large_stack, take_over_stdout
from pass_arguments import arguments_of

#: The passes that a pass needs in front of it, so that it finds anything to do.
NEEDED = {
    "FuseOps": ("LegalizeOps", "AnnotateTIROpPattern"),
    "FuseTIR": ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    "SplitCallTIRByPattern": ("LegalizeOps",),
    "SpecializePrimFuncBasedOnCallSite": ("LegalizeOps",),
    "StaticPlanBlockMemory": ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"),
}
#: Passes that only run others.
CONTAINERS = re.compile(r"sequential|_pipeline$|^pipeline$|^zero_pipeline|^default_build", re.IGNORECASE)
PIPELINES = ("zero", "default", "target")
#: The line that TVM writes behind a printed expression with constants.
OMITTED = "# Metadata omitted"
#: What makes the first module of a program.
FIRST = "Normalize"
#: The last pass before the generation of code.
LAST = "AttachGlobalSymbol"
CODE_GENERATION = "code generation"
#: How the names of passes over PrimFuncs begin.
OVER_PRIM_FUNCS = ("tir.", "tirx.", "s_tir.")
#: The passes over PrimFuncs from which on a function has no signature that a program calls.
SPLIT = re.compile(r"\b(SplitHostDevice|MakePackedAPI)$")


def printed(mod):
    """The text of a module. TVM leaves out the purity that it takes for granted, and the specification does not."""
    try:
        text = mod.script(show_meta=True)
    except TypeError:
        # 0.27 has no text for the derivation functions of packed functions, and needs none.
        text = mod.script()
    text = re.sub(r"@R\.function$", "@R.function(pure=True)", text, flags=re.MULTILINE)
    return text.replace("@R.function(private=True)\n", "@R.function(private=True, pure=True)\n")


#: What TVM prints of a variable bound to the empty tuple: its value alone, behind its type if a block outputs it.
UNIT = re.compile(r"^ +(R\.tuple\(\)|\w+: R\.Tuple(\(\))?)$", re.MULTILINE)
#: A boxed scalar in a program whose data type TVM does not print, and what it prints of the information on one.
NARROW = re.compile(r"prim_value\(T\.(u?int(8|16|32)|bool)\(")
KNOWN_SCALAR = "R.Prim(value="


def told(mod, request):
    """The text of a module, and where that leaves something out, the syntax of its functions with the text of the rest."""
    text = printed(mod)
    is_short = UNIT.search(text) or NARROW.search(request["script"]) or KNOWN_SCALAR in text
    if not is_short or mod.global_infos:
        return {"text": text}
    import tvm
    from tvm import relax

    from read import Reader

    reader, funcs = Reader(say_pure=True, annotates=True), []
    try:
        for gv, func in mod.functions.items():
            if isinstance(func, relax.Function):
                funcs.append([gv.name_hint, {"Function": reader.function(func)}])
    except Exception:  # what the syntax has no form for
        return {"text": text}
    others = {gv: func for gv, func in mod.functions.items() if not isinstance(func, relax.Function)}
    prim_funcs = printed(tvm.IRModule(others)) if others else ""
    return {"text": text, "syntax": [{"version": 1, "funcs": funcs}, prim_funcs]}


def copied(mod):
    """A module that nobody changes in place."""
    import tvm

    return tvm.IRModule(dict(mod.functions.items()), attrs=mod.attrs, global_infos=mod.global_infos)


def read(request):
    """The name of what made the first module, and the module."""
    from asked import NOW
    from trial import without_metadata

    from faults import Rejected, Unsupported
    from programs import Program
    from text import parse_text

    NOW.take({"op": "stages", "edition": request.get("edition")})
    fault = None
    if request.get("module") is not None:
        try:
            return FIRST, Program({"Module": request["module"]}, request.get("prim_funcs")).derive()
        except (Rejected, Unsupported) as refused:
            fault = refused
    try:
        return "input", parse_text(*without_metadata(request["script"]))
    except Rejected as refused:
        # What TVM has against the program itself says more than what it has against its text.
        raise fault if isinstance(fault, Rejected) else refused from None


def made(name, arguments):
    """The pass of a step."""
    import tvm
    from tvm import relax

    if name == "target":
        return relax.get_default_pipeline(tvm.target.Target("llvm"))
    if name in PIPELINES:
        return relax.get_pipeline(name)
    if ".py:" in name:
        return made_in(*name.rsplit(":", 1))
    for place in (relax.transform, relax.backend):
        if hasattr(place, name):
            positional, keywords = arguments_of(name, arguments)
            return getattr(place, name)(*positional, **keywords)
    raise NoSuchPass(f"this release has no pass {name}")


def made_in(file, name):
    """The pass of a file: one, what makes one, or a function of a module, or of a module and a context."""
    import tvm

    # A file imports those beside it.
    sys.path.append(os.path.dirname(os.path.abspath(file)))
    if not os.path.exists(file):
        raise NoSuchPass(f"there is no file {file}")
    found = runpy.run_path(file).get(name)
    if not callable(found):
        raise NoSuchPass(f"{file} has no pass {name}")
    if isinstance(found, tvm.ir.transform.Pass):
        return found
    params = inspect.signature(found).parameters.values() if inspect.isfunction(found) else ()
    needed = [param for param in params if param.default is param.empty and param.kind != param.VAR_KEYWORD]
    if not needed:
        found = found()
        if isinstance(found, tvm.ir.transform.Pass):
            return found
        # An object that is called with a module, and with a context if it takes one.
        params = inspect.signature(found).parameters.values()
        needed = [param for param in params if param.default is param.empty and param.kind != param.VAR_KEYWORD]

    def run(*args):
        return found(*args[: len(needed)])

    return tvm.transform.module_pass(run, opt_level=0, name=name)


def steps_of(request):
    """The name by which each step was asked for, and its pass."""
    steps = []
    for step in request["steps"]:
        known = {name for name, _ in steps}
        steps += [(name, made(name, None)) for name in NEEDED.get(step["name"], ()) if name not in known]
        steps.append((step["name"].rpartition(":")[2], made(step["name"], step.get("arguments"))))
    return steps


class NoSuchPass(ValueError):
    """A request for a pass that there is not."""


class Run:
    """A run of the steps on a module."""

    def __init__(self, request, tell, disabled=()):
        self.request, self.tell, self.disabled = request, tell, [*(request.get("disable") or ()), *disabled]
        self.last = self.step = None
        #: The passes that have begun and not ended, those that changed the module, and those over PrimFuncs.
        self.running, self.changed, self.of_prim_funcs = [], [], []
        #: The module before a pass over PrimFuncs, whether these still have their signatures, and the code.
        self.lowered, self.is_split, self.made = None, False, None
        #: The seconds of everything, and those of the records.
        self.took = self.told = 0.0

    def label(self, name):
        """How a pass is called: by the step that it is a part of, too, if that is no pipeline."""
        return name if self.step in (name, *PIPELINES, CODE_GENERATION) else f"{self.step}/{name}"

    def recorder(self):
        import tvm
        from tvm import relax

        run = self

        @tvm.instrument.pass_instrument
        class Recorder:
            def run_before_pass(self, mod, info):
                begin = time.perf_counter()
                self.before(mod, info)
                run.told += time.perf_counter() - begin

            def run_after_pass(self, mod, info):
                begin = time.perf_counter()
                self.after(mod, info)
                run.told += time.perf_counter() - begin

            def before(self, mod, info):
                if run.is_told(info, mod, relax):
                    run.tell_of_outer(mod)
                run.running.append(str(info.name))
                if run.is_of_prim_funcs(info, mod, relax):
                    run.lowered = run.lowered or copied(mod)
                    run.is_split |= SPLIT.search(str(info.name)) is not None
                if run.is_told(info, mod, relax):
                    run.tell({"begin": run.label(str(info.name))})

            def after(self, mod, info):
                run.running.pop()
                if run.is_of_prim_funcs(info, mod, relax):
                    run.tell_lowered(str(info.name), mod)
                if not run.is_told(info, mod, relax):
                    return
                if not run.tell_changed(str(info.name), mod):
                    run.tell({"pass": run.label(str(info.name))})

        return Recorder()

    def tell_changed(self, name, mod):
        """The module that a pass has made; False if it is the last one."""
        import tvm_ffi

        if tvm_ffi.structural_equal(self.last, mod, map_free_vars=True):
            return False
        self.last = copied(mod)
        self.changed.append(name)
        self.tell({"pass": self.label(name), **told(mod, self.request)})
        return True

    def tell_of_outer(self, mod):
        """A pass that runs another one has made this module until then, and the other one is not to blame for it."""
        outer = next((name for name in reversed(self.running) if not CONTAINERS.search(name)), None)
        if outer is not None and self.tell_changed(outer, mod):
            self.tell({"begin": self.label(outer)})

    def is_told(self, info, mod, relax):
        """Whether a pass is one over the program. It may compile a part of it by passes over a module of its own."""
        if CONTAINERS.search(str(info.name)):
            return False
        has_functions = any(isinstance(func, relax.Function) for func in mod.functions.values())
        return has_functions and self.step != CODE_GENERATION

    def is_of_prim_funcs(self, info, mod, relax):
        """Whether a pass is one over PrimFuncs during the generation of code."""
        has_functions = any(isinstance(func, relax.Function) for func in mod.functions.values())
        return self.step == CODE_GENERATION and not has_functions and not CONTAINERS.search(str(info.name))

    def tell_lowered(self, name, mod):
        import tvm_ffi

        if self.is_split:
            self.of_prim_funcs += [name] * (name not in self.of_prim_funcs)
        elif tvm_ffi.structural_equal(self.lowered, mod, map_free_vars=True):
            self.tell({"pass": name, "prim_funcs": True})
        else:
            self.lowered = copied(mod)
            self.tell({"pass": name, "prim_funcs": True, "text": printed(mod)})

    def run(self, mod):
        import tvm

        # A pass may work in place, and the module is run again without it.
        mod, self.last = copied(mod), copied(mod)
        begin = time.perf_counter()
        context = tvm.transform.PassContext(3, disabled_pass=self.disabled, instruments=[self.recorder()])
        with tvm.target.Target("llvm"), context:
            steps = steps_of(self.request)
            for self.step, run in steps:
                if str(run.info.name) not in self.disabled:
                    mod = run(mod)
            if is_lowered([name for name, _ in steps]) and self.request.get("exec") != "none":
                self.generate_code(mod)
        self.took = time.perf_counter() - begin

    def generate_code(self, mod):
        import tvm
        from tvm import relax

        self.step = CODE_GENERATION
        self.tell({"begin": CODE_GENERATION})
        self.running.append(CODE_GENERATION)
        mode = self.request.get("exec") or "bytecode"
        self.made = relax.build(mod, "llvm", relax_pipeline=tvm.transform.Sequential([]), exec_mode=mode)
        self.running.pop()
        self.tell({"pass": CODE_GENERATION, "of_prim_funcs": self.of_prim_funcs, "library": True})

    def refusing(self):
        """The pass that raised an exception."""
        names = [name for name in self.running if not CONTAINERS.search(name)]
        if not names:
            return None
        if names[0] != CODE_GENERATION:
            return self.label(names[-1])
        # A pass over PrimFuncs, or what writes instructions.
        return names[-1] if names[-1].startswith(OVER_PRIM_FUNCS) else CODE_GENERATION


def is_lowered(names):
    """Whether code is generated behind the steps. For operators that are not lowered there is none."""
    return names[-1] in ("default", "target") or names[-1] == LAST and "VMShapeLower" in names


def answer(request, tell):
    mod = None
    run = Run(request, tell)
    if request.get("module") is not None:
        # An operator may end the process where something is derived of it.
        tell({"begin": FIRST})
    try:
        name, mod = read(request)
        tell({"pass": name, **told(mod, request)})
        run.run(mod)
    except NoSuchPass as error:
        tell({"unknown": str(error)})
        return None
    except Exception as error:  # whatever TVM raises
        message = f"{type(error).__name__}: {telling(str(error))}"
        tell({"error": message, "pass": run.refusing(), "left": not_lowered(message)})
        if mod is not None and run.running:
            tell({"without": [name for name in reversed(run.changed) if is_accepted(request, mod, name)]})
    tell({"done": True, "seconds": run.took - run.told if run.took else None})
    return run.made


def telling(text):
    """The line of a message that says what is wrong: the last one, or the first where the last one points or is left out.

    A short message whose last line is what another one announces is told whole."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and OMITTED not in line]
    if len(lines) in (2, 3) and lines[-2].endswith(":"):
        return " ".join(lines)
    is_silent = not lines or not set(lines[-1]) - set("|^~ ") or "lines skipped" in lines[-1]
    if not is_silent:
        return lines[-1]
    said = (line for line in lines if "Check failed" in line or "error:" in line)
    return next(said, lines[0] if lines else "")


def is_accepted(request, mod, without):
    """Whether everything runs to its end without a pass."""
    try:
        Run(request, lambda message: None, [without]).run(mod)
    except Exception:  # whatever TVM raises
        return False
    return True


def not_lowered(message):
    """The operators that a message names and that `LegalizeOps` lowers."""
    import tvm

    names = dict.fromkeys(f"relax.{name}" for name in re.findall(r"\b(?:relax|R)\.(\w+(?:\.\w+)*)", message))
    known = set(tvm.ir.Op.list_op_names())
    return [name for name in names if name in known and tvm.ir.Op.get(name).get_attr("FLegalize") is not None]


def library_of(made):
    from library import Library

    return Library(made.mod)


def main():
    stream = take_over_stdout()

    def tell(message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    made = library = None
    for line in sys.stdin:
        request = json.loads(line)
        if "op" not in request:
            made, library = answer(request, tell), None
            continue
        library = library or library_of(made)
        tell(library.answer(request))


if __name__ == "__main__":
    in_large_stack(main)
