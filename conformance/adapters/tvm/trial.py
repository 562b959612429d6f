"""Runs of one program on several inputs, by the several ways that lead through TVM."""

import ast
import re

import tvm
from tvm import relax, tirx

import names
from faults import Rejected, Trapped, Unsupported, is_own_mistake, last_words, stage
from prelude import NOW
from run import lowering, machine, some_closure
from text import parse_text

#: How a printed text gives its constants.
METADATA = re.compile(r'^metadata = tvm\.ir\.load_json\((""".*?""")\)$', re.DOTALL | re.MULTILINE)
#: What loading says of a packed function that is not registered.
MISSING = re.compile(r"Cannot find (?:ffi::Function|PackedFunc) (\S+) in either Relax VM kernel library")
#: The ways beside those of one pass or one pipeline more.
WAYS = ("llvm", "plain", "compiled", "c", "cuda", "reprint", "pipeline:target")
#: What a pass is to do, where it does not know by itself.
ARGUMENTS = {
    "ConvertLayout": (
        {
            "relax.nn.conv1d": ["NWC", "OWI"],
            "relax.nn.conv2d": ["NHWC", "OHWI"],
            "relax.nn.conv3d": ["NDHWC", "ODHWI"],
        },
    )
}


def plain():
    """The passes without which nothing runs."""
    transform, backend = relax.transform, relax.backend
    return tvm.transform.Sequential(
        [
            backend.DispatchSampling(),
            backend.DispatchSortScan(),
            transform.LegalizeOps(),
            transform.ToNonDataflow(),
            transform.RemovePurityChecking(),
            transform.CallTIRRewrite(),
            transform.LowerAllocTensor(),
            transform.LowerRuntimeBuiltin(),
            transform.ComputePrimValue(),
            transform.VMShapeLower(),
            transform.AttachGlobalSymbol(),
        ]
    )


def passes(way):
    """What a way puts in front of compilation, if it puts anything there."""
    if way in WAYS:
        return None
    kind, _, name = way.partition(":")
    if kind == "pass" and hasattr(relax.transform, name):
        return getattr(relax.transform, name)(*ARGUMENTS.get(name, ()))
    if kind == "pipeline" and name in relax.pipeline.PIPELINE_MAP:
        return relax.get_pipeline(name)
    raise Unsupported(f"the way {way}")


def compiled(program, way):
    """The executable of a program that comes by a way: its text, passes before others, a target."""
    before = passes(way)
    mod = program.derive()
    if way == "reprint":
        program.beat("print")
        with stage("print"):
            text = mod.script(show_meta=True)
        program.beat("parse")
        mod = parse_text(*without_metadata(text))
    if before is not None:
        program.beat(way)
        with stage(way):
            mod = before(mod)
    program.beat("compile")
    options = {}
    if way == "plain":
        options["relax_pipeline"] = plain()
    if way == "pipeline:target":
        options["relax_pipeline"] = relax.get_default_pipeline(tvm.target.Target("llvm"))
    if way == "compiled":
        options["exec_mode"] = "compiled"
    try:
        with lowering():
            lifted = relax.transform.LambdaLift()(mod)
            return relax.build(lifted, way if way in ("c", "cuda") else "llvm", **options)
    except Rejected as fault:
        if "not implemented" in fault.message and way != "cuda" and has_threads(mod):
            raise Unsupported("a kernel for the threads of a device, on a processor") from fault
        raise


def has_threads(mod):
    """Whether a PrimFunc binds loops to threads."""
    functions = (func for func in mod.functions.values() if isinstance(func, tirx.PrimFunc))
    return any('thread="' in func.script() for func in functions)


def without_metadata(text):
    """A printed text, and what it names: constants stand in it as JSON in front."""
    found = METADATA.search(text)
    if not found:
        return text, None
    return METADATA.sub("", text), {"metadata": tvm.ir.load_json(ast.literal_eval(found[1]))}


def device_of(way):
    """Where a way runs programs, and keeps their tensors."""
    if way != "cuda":
        return None
    if not tvm.runtime.enabled("cuda"):
        raise Unsupported("the way cuda: this TVM was built without it")
    if not tvm.cuda(0).exist:
        raise Unsupported("the way cuda: there is no device")
    return tvm.cuda(0)


def loaded(program, executable, device):
    """The machine. A packed function that only the program knows of is nothing that TVM could be asked about."""
    try:
        return machine(executable, device)
    except Trapped as fault:
        missing = MISSING.search(fault.message)
        if missing and missing[1] in packed_functions(program.mod):
            raise Unsupported(f"the packed function {missing[1]}, which is not there") from fault
        raise


def packed_functions(mod):
    """The names that a module calls packed functions by."""
    found = set()

    def visit(expr):
        if isinstance(expr, relax.ExternFunc):
            found.add(expr.global_symbol)

    for func in mod.functions.values():
        if isinstance(func, relax.Function):
            relax.analysis.post_order_visit(func, visit)
    return found


def trial(program, way, entry, inputs):
    device = device_of(way)
    vm = loaded(program, compiled(program, way), device)
    answers = []
    for number, arguments in enumerate(inputs):
        NOW.reset(vm, some_closure)
        program.beat(f"run {number}")
        answers.append(_one(vm, entry or "main", arguments, device))
    return answers


def _moved(value, device):
    """The value with its tensors on a device."""
    if isinstance(value, list):
        return [_moved(field, device) for field in value]
    return value.copyto(device) if names.is_tensor(value) else value


def _one(vm, entry, arguments, device):
    """The value, what the arguments hold at the end, and the effects; or what the failure says."""
    args = []
    for value in arguments:
        arg = NOW.values.to_tvm(value, args)
        # One that is an earlier one stays that.
        args.append(arg if device is None or "Arg" in value else _moved(arg, device))
    try:
        result = NOW.values.read(vm[entry](*args))
        return {"Returns": [result, [NOW.values.read(arg) for arg in args], list(NOW.effects)]}
    except Unsupported:
        raise
    except Exception as error:
        if is_own_mistake(error):
            raise
        if "DiscoWorker" in str(error):
            raise Unsupported("a world of workers") from error
        return {"Fails": [f"{type(error).__name__}: {last_words(error)}", list(NOW.effects)]}
