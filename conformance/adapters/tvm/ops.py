"""Operators: which attributes TVM wants, and calls whose arguments TVM groups differently.

The canonical call of `call_tir` is flat, `call_tir(f, a1, .., an, shape)` with a data type and rank as
`sinfo_args`; TVM has `call_tir(f, (a1, .., an))` with the whole result as `sinfo_args`.
"""

import functools
import inspect

from tvm import ir, relax, tirx

import names
from faults import Unsupported

#: Calls in destination-passing style, whose canonical form is flat.
DPS = (
    "relax.call_tir",
    "relax.call_dps_packed",
    "relax.call_tir_inplace",
    "relax.call_tir_with_grad",
    "relax.dist.call_tir_local_view",
)
#: Calls in which the format is a string before the values, and its position.
FORMATTED = {"relax.print": 0, "relax.assert_op": 1}
#: Attributes that are a last argument in TVM, and their default.
TRAILING = {"relax.tril": ("k", 0), "relax.triu": ("k", 0)}
#: Arguments that TVM's Python functions add where a call leaves them out, as integers.
LAST = {"relax.memory.alloc_tensor": (5, 0)}
#: How axes lie in memory, which is an attribute in 0.25 only.
SEPARATORS = ("axis_separators", "input_axis_separators")
#: Operators whose attributes are not the parameters of their Python functions, or need real arguments there: all that they
#: have, with TVM's defaults.
BY_KEY = {
    "relax.hamming_window": {},
    "relax.hint_on_device": {"device_type": 1, "index": 0, "memory_scope": "global"},
    "relax.layout_transform": {"pad_value": None} | ({} if names.AS_TYPE else dict.fromkeys(SEPARATORS, [])),
    "relax.to_vdevice": {},
    "relax.grad.take_backward": {"axis": None, "mode": "fast"},
    "relax.call_inplace_packed": {},
    "relax.call_tir_inplace": {},
    "relax.call_tir_with_grad": {"te_grad_kwargs": {}},
    "relax.ccl.allgather": {"in_group": True},
    "relax.ccl.allreduce": {"op_type": "sum", "in_group": True},
    "relax.ccl.scatter_from_worker0": {"axis": 0},
    "relax.dist.redistribute_replica_to_shard": {"axis": 0},
}
#: Attributes that TVM's Python functions take from the arguments where nothing is said.
FROM_ARGUMENTS = {"relax.arange": {"dtype"}}
#: The types of attributes that TVM does not register with the operator.
KEYS = {"relax.ccl.allgather": "relax.attrs.AllGatherAttrs"}
CALL_PURE = "relax.call_pure_packed"


def get(name):
    try:
        return ir.Op.get(name)
    except Exception as error:
        raise Unsupported(f"the operator {name}") from error


def is_pure(op):
    """Whether TVM registers the operator as pure."""
    return bool(op.get_attr("FPurity"))


def python_function(name):
    """The function of `tvm.relax.op` that makes a call of the operator."""
    scope = relax.op
    for part in name.removeprefix("relax.").split("."):
        scope = getattr(scope, part, None)
    return scope if callable(scope) else None


@functools.cache
def needs_attrs(name):
    """Whether calls of the operator carry an attribute object."""
    return _default_attrs(name) is not None


@functools.cache
def _default_attrs(name):
    for make in (_attrs_of, _attrs_by_key):
        try:
            return make(name, {})
        except Exception:
            continue
    return None


def attrs(name, values, args):
    """The attribute object for the values given, with TVM's defaults for the others; None if there is none."""
    if name in BY_KEY:
        key = KEYS.get(name) or get(name).attrs_type_key
        return ir.make_node(key, **BY_KEY[name] | _as_objects(name, values, args))
    if not needs_attrs(name):
        return ir.make_node("ir.DictAttrs", **values) if values else None
    try:
        return _attrs_of(name, values)
    except TypeError:
        return _attrs_by_key(name, values)


def _as_objects(name, values, args):
    """What TVM keeps as an object of another kind."""
    values = dict(values)
    if name == "relax.layout_transform":
        pad = values.get("pad_value")
        if isinstance(pad, (int, float)):
            values["pad_value"] = names.prim_value(_like(pad, args[0] if args else None))
        for key in SEPARATORS if names.AS_TYPE else ():
            if values.pop(key, None):
                raise Unsupported(f"the attribute {key}")
    # A number stands for a list of one.
    if isinstance(values.get("inplace_indices"), int):
        values["inplace_indices"] = [values["inplace_indices"]]
    return values


def _like(number, tensor):
    """A number with the data type of a tensor, as TVM's Python function makes it; with one of its own where they do not fit."""
    info = None if tensor is None else names.info_of(tensor)
    dtype = names.tensor_dtype(info) if isinstance(info, names.TensorInfo) else "void"
    if "float" in dtype:
        return tirx.FloatImm(dtype, float(number))
    if "int" in dtype and isinstance(number, int):
        return tirx.IntImm(dtype, number)
    return tirx.FloatImm("float64", number) if isinstance(number, float) else tirx.IntImm("int64", number)


def _attrs_of(name, values):
    """By a call of the Python function on stand-ins, from which the attributes are taken."""
    func = python_function(name)
    if func is None:
        return None
    given = {}
    for param in inspect.signature(func).parameters.values():
        if param.name in values and values[param.name] == "void" and param.default is None:
            # A data type that is not stated; of releases whose default is `None`, `void` is another one.
            continue
        if param.name in values:
            given[param.name] = values[param.name]
        elif param.default is inspect.Parameter.empty and param.kind == param.POSITIONAL_OR_KEYWORD:
            given[param.name] = _stand_in(param.name)
    call = func(**given)
    return call.attrs


def _stand_in(param):
    match param:
        case "tensors" | "operands":
            return names.Tuple([names.relax_var("stand_in", None, False)])
        case "axis" | "axes" | "channel_axis" | "repeats" | "start" | "end" | "step":
            return 0
        case "n" | "m" | "k" | "depth" | "num_groups" | "upscale_factor" | "pooled_size":
            return 1
        case "spatial_scale":
            return 1.0
        case "on_value" | "off_value":
            return names.prim_value(tirx.IntImm("int64", 1))
        case "dtype":
            return "float32"
        case "subscripts":
            return "i->i"
        case "shape" | "newshape" | "pad_width":
            return [1]
        case "indices_or_sections":
            return 1
        case _:
            return names.relax_var("stand_in", None, False)


def _attrs_by_key(name, values):
    key = get(name).attrs_type_key
    if not key:
        return ir.make_node("ir.DictAttrs", **values) if values else None
    return ir.make_node(key, **values)


def fields(attrs_object):
    """Name and value of every attribute."""
    if isinstance(attrs_object, ir.DictAttrs):
        return [(str(key), attrs_object[key]) for key in attrs_object.keys()]
    info = type(attrs_object).__tvm_ffi_type_info__
    return [(field.name, getattr(attrs_object, field.name)) for field in info.fields]


@functools.cache
def default_fields(name):
    """The values that TVM fills in where nothing is said; required ones are left out."""
    default = _default_attrs(name)
    func = python_function(name)
    if default is None or func is None:
        return {}
    optional = {p.name for p in inspect.signature(func).parameters.values() if p.default is not p.empty}
    return {key: value for key, value in fields(default) if key in optional - FROM_ARGUMENTS.get(name, set())}


def without_defaults(defaults, attrs):
    """The attributes, both as JSON, without those that are what TVM fills in."""
    said = {key: value for key, value in attrs.items() if value != defaults.get(key)}
    if "out_layout" in attrs and ("layout" in said or "data_layout" in said):
        # Where it is not given it is the layout of the operand.
        said["out_layout"] = attrs["out_layout"]
    return said


def dps_result(shape, sinfo_args):
    """TVM's result of a destination-passing call: the shapes are an argument, data types and ranks `sinfo_args`."""
    if len(sinfo_args) != 1:
        # TVM itself has something to say about the number.
        return sinfo_args
    (given,) = sinfo_args
    if isinstance(given, names.TupleInfo):
        if not isinstance(shape, names.Tuple):
            raise Unsupported("the shapes of the results of a destination-passing call as a variable")
        if len(shape.fields) != len(given.fields):
            raise Unsupported("as many shapes as results")
        return [names.TupleInfo([_one_result(s, t) for s, t in zip(shape.fields, given.fields)])]
    return [_one_result(shape, given)]


def says_shape(info):
    """Whether it is a whole result. The flat form of a destination-passing call says data type and rank only."""
    if isinstance(info, names.TupleInfo):
        return any(map(says_shape, info.fields))
    return not isinstance(info, names.TensorInfo) or info.shape is not None


def _one_result(shape, given):
    if not isinstance(given, names.TensorInfo):
        raise Unsupported("a result of a destination-passing call that is no tensor")
    if isinstance(shape, names.Tuple):
        raise Unsupported("one tensor from several shapes")
    if isinstance(shape, names.ShapeExpr) and given.ndim not in (-1, len(shape.values)):
        raise Unsupported("a rank besides the shape of the result")
    return names.TensorInfo(shape, given.dtype)


def split_dps_result(info):
    """The inverse of `dps_result`: the shape argument and what remains as `sinfo_args`."""
    if isinstance(info, names.TupleInfo):
        parts = [split_dps_result(field) for field in info.fields]
        return names.Tuple([shape for shape, _ in parts]), names.TupleInfo([rest for _, rest in parts])
    if not isinstance(info, names.TensorInfo) or info.shape is None:
        raise Unsupported("a destination-passing call without a shape")
    return info.shape, names.TensorInfo(None, info.dtype, None, info.ndim)
