"""What differs between the versions of Apache TVM: 0.25 calls it `StructInfo`, 0.26 and 0.27 `Type`.

Everything else in this adapter speaks of structural information and uses only the names defined here.
"""

import functools

import tvm
import tvm_ffi
from asked import NOW
from tvm import ir, relax, tirx
from tvm.relax import analysis

from faults import Unsupported

VERSION = tvm.__version__
#: The edition of the text that every release claims to follow, as far as anything says so.
EDITION = "2024-04"
#: Structural information is called `Type` from 0.26 on.
AS_TYPE = not hasattr(relax, "TensorStructInfo")


def _of_either(name):
    """What 0.27 has moved from `relax` to `ir`."""
    return getattr(ir, name) if hasattr(ir, name) else getattr(relax, name)


VDevice = _of_either("VDevice")
IntImm = tirx.IntImm
FloatImm = tirx.FloatImm
ShapeExpr = relax.ShapeExpr

if AS_TYPE:
    ObjectInfo, TensorInfo, ShapeInfo = relax.AnyType, relax.TensorType, relax.ShapeType
    TupleInfo, FuncInfo, PrimInfo = ir.TupleType, relax.FuncType, ir.PrimType
    base_check, unify = analysis.type_base_check, analysis.type_lca
    derive_call = analysis.derive_call_ret_type
    set_info = relax._ffi_api.UpdateType
    DEFAULT_DERIVE = "tvm.relax.type.infer_by_ty_args"
    RelaxVar = ir.Var
    StringImm = _of_either("StringImm")
    Call = ir.Call
    Tuple, TupleGetItem = _of_either("Tuple"), _of_either("TupleGetItem")
    CHECK_INFO, RET_INFO, INFO_ARGS = "check_ty", "ret_ty", "ty_args"
else:
    ObjectInfo, TensorInfo, ShapeInfo = relax.ObjectStructInfo, relax.TensorStructInfo, relax.ShapeStructInfo
    TupleInfo, FuncInfo, PrimInfo = relax.TupleStructInfo, relax.FuncStructInfo, relax.PrimStructInfo
    base_check, unify = analysis.struct_info_base_check, analysis.struct_info_lca
    derive_call = analysis.derive_call_ret_struct_info
    set_info = relax._ffi_api.UpdateStructInfo
    DEFAULT_DERIVE = "tvm.relax.struct_info.infer_by_sinfo_args"
    RelaxVar = relax.Var
    StringImm = relax.StringImm
    Call = relax.Call
    Tuple, TupleGetItem = relax.Tuple, relax.TupleGetItem
    CHECK_INFO, RET_INFO, INFO_ARGS = "check_struct_info", "ret_struct_info", "sinfo_args"

if hasattr(tvm, "arith"):
    Analyzer = tvm.arith.Analyzer
else:
    Analyzer = tvm.sym.Analyzer

_ITEM = tvm_ffi.get_global_func("ffi.ArrayGetItem")
DataflowVar = relax.DataflowVar
static_type = analysis.get_static_type
erase_to_well_defined = analysis.erase_to_well_defined


def well_formed(obj, check_info):
    """Raises if `obj` is not well formed, with the first violation as reason."""
    result = analysis.well_formed(obj, **{CHECK_INFO: check_info})
    if result is False:
        raise ValueError("not well formed")


def items(array):
    """The items of an array. Its own iterator takes twice the time."""
    return [_ITEM(array, i) for i in range(len(array))]


def ident(obj):
    """The identity of an object, whatever its `==` means."""
    return obj.__chandle__()


def info_of(expr):
    """The structural information of an expression, or None where there is none yet."""
    if AS_TYPE:
        ty = expr.ty
        return None if ty is None or ty.is_missing() else ty
    return expr.struct_info_


def ret_info(func):
    return getattr(func, RET_INFO)


def info_args(call):
    return list(getattr(call, INFO_ARGS) or [])


def match_cast_info(binding):
    return binding.ty if AS_TYPE else binding.struct_info


def tensor_info(shape, dtype, ndim, device=None):
    """`shape` is None, a list of dimensions or an expression; `dtype` None is unknown; `ndim` None leaves it out."""
    extra = {} if ndim is None else {"ndim": ndim}
    extra |= {} if device is None else {"vdevice": device}
    unknown = None if AS_TYPE else ""
    return TensorInfo(shape, unknown if dtype is None else dtype, **extra)


def tensor_dtype(info):
    """The data type as text, "void" if unknown."""
    return dtype_text(info.dtype)


def dtype_text(dtype):
    if dtype is None:
        return "void"
    return str(getattr(dtype, "dtype", dtype)) or "void"


def expr_dtype(expr):
    """The data type of a TIR expression."""
    return dtype_text(expr.ty if AS_TYPE else expr.dtype)


def prim_info(dtype, value, binds=False):
    """From 0.26 on there is no value of a primitive: a parameter stands for its number, where something is derived of it.

    Passes get a program that says less: no pass can use what this version cannot say. But a shape variable that the value
    `binds` would be free.
    """
    if AS_TYPE:
        if NOW.op == "stages" and not binds:
            return PrimInfo(dtype)
        if value is not None and NOW.op != "derive_var":
            raise Unsupported("the value of a primitive in its structural information: this version has none")
        return PrimInfo(dtype)
    return PrimInfo(value=value) if value is not None else PrimInfo(dtype)


def prim_info_value(info):
    return None if AS_TYPE else info.value


@functools.cache
def env_func(name):
    """TVM takes macros for the same where they are the same object, so there is one for each name.

    A name that TVM does not know becomes a macro of which nothing is known but that its results are objects.
    """
    if tvm.get_global_func(name, allow_missing=True) is None:
        tvm_ffi.register_global_func(name, lambda _call, _context: ObjectInfo())
    return ir.EnvFunc.get(name)


def opaque_info(ret, derive_name, pure):
    """A packed function: `params` unknown."""
    if derive_name is not None:
        return FuncInfo.opaque_func(derive_func=env_func(derive_name), purity=pure)
    return FuncInfo.opaque_func(ret=ret, purity=pure)


def relax_var(name, info, dataflow):
    return (DataflowVar if dataflow else RelaxVar)(name, info)


def shape_var(name, dtype="int64"):
    return tirx.Var(name, dtype)


def var_name(var):
    if hasattr(var, "name_hint"):
        return var.name_hint
    return var.name


def prim_value(value):
    """`value` is a TIR expression."""
    return value if AS_TYPE else relax.PrimValue(value)


def constant(array):
    return relax.const(array, dtype=str(array.dtype))


def dtype_imm(dtype):
    if hasattr(ir, "GenericConst"):
        return ir.GenericConst(tvm_ffi.dtype(dtype), relax.AnyType())
    return relax.DataTypeImm(dtype)


def call(op, args, attrs, infos):
    return Call(op, args, attrs, infos)


def function(params, body, ret, pure, attrs):
    return relax.Function(params, body, ret, pure, ir.DictAttrs(attrs) if attrs else None)


def match_cast(var, value, info):
    return relax.MatchCast(var, value, info)


def is_tensor(value):
    return isinstance(value, tvm.runtime.Tensor)


def is_shape(value):
    return isinstance(value, tvm_ffi.Shape)
