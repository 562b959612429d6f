"""The module after each pass that a pipeline runs, for `relax-spec blame`.

    echo '{"script": TEXT, "pipeline": "default"}' | PYTHON stages.py

The request is one line of JSON: the program in this release's dialect, the name of a pipeline (`zero`, `default`,
`target`) or a list of passes of `relax.transform`, and the passes that are switched off (`"disable"`). Each line of the
answer is a stage: the name of the pass, and the text of the module if the pass changed it. The last line is
`{"done": true}`, or says what TVM refuses and in which pass. A pass that is asked for by its name runs behind those
that it needs.
"""

import json
import re
import sys

from adapter import in_large_stack, take_over_stdout

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


def printed(mod):
    """The text of a module. TVM leaves out the purity that it takes for granted, and the specification does not."""
    try:
        text = mod.script(show_meta=True)
    except TypeError:
        # 0.27 has no text for the derivation functions of packed functions, and needs none.
        text = mod.script()
    text = re.sub(r"@R\.function$", "@R.function(pure=True)", text, flags=re.MULTILINE)
    return text.replace("@R.function(private=True)\n", "@R.function(private=True, pure=True)\n")


def made(name):
    from trial import ARGUMENTS
    from tvm import relax

    if not hasattr(relax.transform, name):
        raise ValueError(f"this release has no pass {name}")
    return getattr(relax.transform, name)(*ARGUMENTS.get(name, ()))


def steps(wanted):
    """The parts of the pipeline, each with the name by which it was asked for."""
    import tvm
    from tvm import relax

    if isinstance(wanted, list):
        names = [name for asked in wanted for name in (*NEEDED.get(asked, ()), asked)]
        return [(name, made(name)) for name in dict.fromkeys(names)]
    if wanted == "target":
        return [(None, relax.get_default_pipeline(tvm.target.Target("llvm")))]
    return [(None, relax.get_pipeline(wanted))]


def stages(request, tell, running):
    """Tells the stages. `running` holds the names of the passes that have begun and not ended."""
    import tvm
    import tvm_ffi
    from trial import without_metadata
    from tvm import relax

    from text import parse_text

    mod = parse_text(*without_metadata(request["script"]))
    last, step = mod, None
    tell({"pass": "input", "text": printed(mod)})

    @tvm.instrument.pass_instrument
    class Recorder:
        def run_before_pass(self, mod, info):
            running.append(str(info.name))

        def run_after_pass(self, mod, info):
            nonlocal last
            running.pop()
            name = str(info.name)
            if step is not None and step != name:
                name = f"{step}/{name}"
            is_of_relax = any(isinstance(func, relax.Function) for func in mod.functions.values())
            # A pass may compile a part of the program, and runs passes on a module of its own.
            if CONTAINERS.search(str(info.name)) or not is_of_relax:
                return
            if tvm_ffi.structural_equal(last, mod, map_free_vars=True):
                tell({"pass": name})
                return
            last = mod
            tell({"pass": name, "text": printed(mod)})

    disabled = request.get("disable") or []
    with tvm.target.Target("llvm"), tvm.transform.PassContext(3, disabled_pass=disabled, instruments=[Recorder()]):
        for asked, run in steps(request["pipeline"]):
            step = asked
            mod = run(mod)
    tell({"done": True})


def main():
    stream = take_over_stdout()

    def tell(message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    running = []
    try:
        stages(json.loads(sys.stdin.readline()), tell, running)
    except Exception as error:  # whatever TVM raises
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        refusing = [name for name in running if not CONTAINERS.search(name)]
        message = f"{type(error).__name__}: {lines[-1] if lines else ''}"
        tell({"error": message, "pass": refusing[-1] if refusing else None})


if __name__ == "__main__":
    in_large_stack(main)
