"""Running programs on TVM's virtual machine, and judgements that need a run."""

import contextlib
import functools
import re

import tvm
import tvm_ffi
from tvm import relax

import dims
import names
import tensors
from build import Builder
from faults import Trapped, Unsupported, is_own_mistake, last_words, stage
from prelude import NOW, functions

#: What TVM says of an operator that no pass has lowered, with its name.
NOT_LOWERED = re.compile(
    r"CodeGenVM cannot (?:emit this Relax operator|handle this intrinsic).*?\b(?:relax|R)\.([\w.]+)"
    r"|Legalization of ([\w.]+) op is not supported yet",
    re.DOTALL,
)
#: The operators that its pipeline leaves to passes and code generators of others. Of any other one it is a failure.
LEFT_TO_OTHERS = (
    "builtin.stop_lift_params",
    "call_tir_with_grad",
    "dist.annotate_sharding",
    "dist.call_tir_local_view",
    "make_closure",
    "ewise_fma",
    "grad.avg_pool2d_backward",
    "grad.max_pool2d_backward",
    "hint_on_device",
    "attention_var_len",
    "nn.dropout",
    "wrap_param",
)


@contextlib.contextmanager
def lowering():
    """Compiling: an operator that TVM leaves to others to lower is no failure."""
    with stage("compile"):
        try:
            yield
        except Exception as error:
            said = NOT_LOWERED.search(str(error))
            if said and (said[1] or said[2]) in LEFT_TO_OTHERS:
                raise Unsupported("an operator that no pass lowers") from error
            raise


def compile_module(mod, beat):
    beat("compile")
    with lowering():
        lifted = relax.transform.LambdaLift()(mod)
        return tvm.compile(lifted, "llvm")


def machine(executable, device=None):
    """Loads the code. Functions that are missing are missed here, so that this is where the run begins."""
    NOW.reset(None, some_closure)
    with trap():
        vm = relax.VirtualMachine(executable, device or tvm.cpu())
    NOW.reset(vm, some_closure)
    return vm


def call(vm, entry, args, beat):
    """The result of the entry point as TVM gives it."""
    beat("run")
    with trap():
        return vm[entry](*args)


@contextlib.contextmanager
def trap():
    """Turns an error into `Trapped`, with the effects up to then."""
    try:
        yield
    except Exception as error:
        if is_own_mistake(error):
            raise
        if "DiscoWorker" in str(error):
            raise Unsupported("a world of workers") from error
        raise Trapped(type(error).__name__, last_words(error), list(NOW.effects)) from error


def evaluate(program, entry, arguments):
    result, _ = _result(program, entry, arguments)
    return {"Returns": [NOW.values.read(result), list(NOW.effects)]}


def evaluate_identity(program, entry, arguments):
    """As `evaluate`; what is an argument itself is told as that argument."""
    result, args = _result(program, entry, arguments)
    return {"Returns": [read_with_identity(result, args), list(NOW.effects)]}


# What runs a program here runs what it was compiled to.
evaluate_compiled = evaluate_identity


def read_with_identity(value, args):
    """The description of a value; what is an argument itself is told as that argument."""
    is_list = isinstance(value, (list, tuple, tvm_ffi.Array))
    if is_list and not names.is_shape(value):
        return {"Tuple": [read_with_identity(field, args) for field in value]}
    for i, arg in enumerate(args):
        if _is_object(arg) and _is_object(value) and arg.same_as(value):
            return {"Arg": i}
    return NOW.values.read(value)


def _is_object(value):
    """Tensors and opaque objects, of which identities are told."""
    if names.is_tensor(value):
        return True
    return isinstance(value, tvm.runtime.Object) and NOW.values.read(value) == "Object"


def _result(program, entry, arguments):
    """What the entry point gives, and the arguments that it was given."""
    mod = program.derive()
    vm = machine(compile_module(mod, program.beat))
    args = []
    for value in arguments:
        args.append(NOW.values.to_tvm(value, args))
    # By convention; the machine itself wants a name.
    return call(vm, entry or "main", args, program.beat), args


def run_function(function, args, beat):
    """Compiles and runs a single function."""
    with stage("normalize"):
        mod = tvm.IRModule({"main": relax.BlockBuilder().normalize(function)})
    vm = machine(compile_module(mod, beat))
    return call(vm, "main", args, beat)


def with_sizes(builder, sizes):
    """A parameter that binds the shape variables given, and its argument."""
    order = sorted(sizes)
    param = names.relax_var("sizes", names.ShapeInfo([builder.shape_var(name) for name in order]), False)
    return param, tvm_ffi.Shape([sizes[name] for name in order])


def eval_dim(json, sizes, beat):
    builder = Builder()
    if not sizes:
        # The compiler refuses constant expressions.
        sizes = {}
        json = dims.without_constants(json, sizes)
    with stage("construct"):
        param, argument = with_sizes(builder, sizes)
        result = names.ShapeExpr([builder.dim(json)])
        body = relax.SeqExpr([], result)
        function = names.function([param], body, names.ShapeInfo(None, 1), True, {"global_symbol": "main"})
    (value,) = run_function(function, [argument], beat)
    return {"Is": int(value)}


def match_value(value, info_json, sizes, beat):
    builder = Builder()
    with stage("construct"):
        param, argument = with_sizes(builder, sizes)
        info = builder.info(info_json)
        operand = names.relax_var("value", names.ObjectInfo(), False)
        matched = names.relax_var("matched", info, False)
        order = sorted(builder.scope.shape_vars[0])
        shape = names.ShapeExpr([builder.shape_var(name) for name in order])
        blocks = [relax.BindingBlock([names.match_cast(matched, operand, info)])]
        body = relax.SeqExpr(blocks, shape)
        ret = names.ShapeInfo(None, len(order))
        function = names.function([param, operand], body, ret, True, {"global_symbol": "main"})
    args = [argument, tensors.Values(functions, some_closure).to_tvm(value, [])]
    result = run_function(function, args, beat)
    return {"Matches": {name: int(size) for name, size in zip(order, result)}}


@functools.cache
def some_closure():
    """A closure of the virtual machine, with the machine that it belongs to."""
    y = names.relax_var("y", names.ObjectInfo(), False)
    inner = names.function([y], relax.SeqExpr([], y), names.ObjectInfo(), True, {})
    f = names.relax_var("f", None, False)
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(f, inner)])], f)
    main = names.function([], body, names.ObjectInfo(), True, {"global_symbol": "main"})
    mod = tvm.IRModule({"main": relax.BlockBuilder().normalize(main)})
    vm = relax.VirtualMachine(compile_module(mod, lambda _: None), tvm.cpu())
    some_closure.machine = vm
    return vm["main"]()
