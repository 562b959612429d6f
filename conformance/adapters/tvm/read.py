"""TVM objects to the JSON form of the abstract syntax."""

import tvm_ffi
from asked import NOW
from devices import Devices
from tvm import ir, relax, tirx

import dims
import names
import ops
import tensors
from faults import Unsupported

_FUNC_ATTRS = {"relax.force_pure": "force_pure"}


class Reader:
    """Reads within one scope; `identity` maps objects of the question to the identities they came from."""

    def __init__(self, identity=None, say_pure=False, devices=None, annotates=False):
        self.devices = devices or Devices()
        #: Whether bindings are annotated with what TVM knows of their values.
        self.annotates = annotates
        self.forget()
        self.identity.update(identity or {})
        #: Whether purity is written out in the structural information of functions.
        self.say_pure = say_pure
        for text in self.identity.values():
            name, _, number = text.partition("#")
            for space in self.used.values():
                space[name] = max(space.get(name, -1), int(number or 0))

    def forget(self):
        """Begins a scope of its own."""
        self.identity = {}
        self.used = {"var": {}, "shape": {}}
        self.kept = []
        #: Relax variables that something binds; the others of integer type are shape variables.
        self.bound = set()

    # Identities

    def name_of(self, var, space):
        """`name` for the first variable of a name, then `name#1` and so on."""
        key = names.ident(var)
        if key not in self.identity:
            name = names.var_name(var) or "v"
            number = self.used[space].get(name, -1) + 1
            self.used[space][name] = number
            self.identity[key] = name if number == 0 else f"{name}#{number}"
            self.kept.append(var)
        return self.identity[key]

    def shape_name(self, var):
        return self.name_of(var, "shape")

    def dim(self, expr):
        return dims.read(expr, self.shape_name)

    # Structural information

    def info(self, info):
        # The type of strings, which 0.27 has and the specification has not.
        if isinstance(info, names.ObjectInfo) or type(info).__name__ == "StringType":
            return "Object"
        if isinstance(info, names.TensorInfo):
            return {"Tensor": self._tensor_info(info)}
        if isinstance(info, names.ShapeInfo):
            if info.values is None:
                return {"Shape": {"ndim": int(info.ndim)}}
            return {"Shape": {"values": [self.dim(d) for d in names.items(info.values)], "ndim": len(info.values)}}
        if isinstance(info, names.TupleInfo):
            return {"Tuple": [self.info(field) for field in info.fields]}
        if isinstance(info, names.FuncInfo):
            return {"Func": self._func_info(info)}
        if isinstance(info, names.PrimInfo):
            out = {"dtype": names.dtype_text(info.dtype)}
            value = names.prim_info_value(info)
            if value is not None and not isinstance(value, names.FloatImm):
                out["value"] = self.dim(value)
            return {"Prim": out}
        if names.AS_TYPE and isinstance(info, relax.ty.PackedFuncType):
            return {"Func": {"ret": "Object", "derive_func": "DefaultDerive"}}
        raise Unsupported(f"structural information {type(info).__name__}")

    def _tensor_info(self, info):
        out = {"dtype": names.tensor_dtype(info), "ndim": int(info.ndim)}
        if info.shape is not None:
            out = {"shape": self._shape_of_tensor(info.shape), **out}
        # The first edition has no devices.
        if info.vdevice is not None and NOW.purity_is_declared:
            out["vdevice"] = self.devices.read(info.vdevice)
        return out

    def _shape_of_tensor(self, shape):
        if isinstance(shape, names.ShapeExpr):
            return [self.dim(d) for d in names.items(shape.values)]
        if isinstance(shape, names.DataflowVar):
            return {"DataflowVar": self.name_of(shape, "var")}
        if isinstance(shape, names.RelaxVar):
            return self.name_of(shape, "var")
        return {"Expr": self.expr(shape)}

    def _func_info(self, info):
        out = {}
        if info.params is not None:
            out["params"] = [self.info(p) for p in info.params]
            out["ret"] = self.info(info.ret)
        else:
            out["ret"] = self.info(info.ret) if info.ret is not None else "Object"
            if info.derive_func is not None:
                out["derive_func"] = read_derive(info.derive_func.name)
            else:
                out["derive_func"] = "EmptyDerive"
        if self.say_pure:
            out["pure"] = bool(info.purity)
        return out

    # Expressions

    def expr(self, expr):
        if isinstance(expr, names.DataflowVar):
            return {"DataflowVar": self.name_of(expr, "var")}
        if isinstance(expr, names.RelaxVar) and not self._is_shape_var(expr):
            return {"Var": self.name_of(expr, "var")}
        if isinstance(expr, ir.GlobalVar):
            return {"GlobalVar": expr.name_hint}
        if isinstance(expr, ir.Op):
            return {"Op": {"op_name": expr.name}}
        if isinstance(expr, names.Tuple):
            return {"Tuple": {"fields": [self.expr(field) for field in expr.fields]}}
        if isinstance(expr, names.TupleGetItem):
            return {"TupleGetItem": {"tuple_value": self.expr(expr.tuple_value), "index": int(expr.index)}}
        if isinstance(expr, names.ShapeExpr):
            return {"ShapeExpr": {"values": [self.dim(d) for d in expr.values]}}
        if isinstance(expr, names.StringImm):
            return {"StringImm": {"value": str(expr.value)}}
        if isinstance(expr, relax.ExternFunc):
            return {"ExternFunc": {"global_symbol": str(expr.global_symbol)}}
        if isinstance(expr, relax.Function):
            return {"Function": self.function(expr)}
        if isinstance(expr, relax.SeqExpr):
            return {"SeqExpr": self._seq(expr)}
        if isinstance(expr, relax.If):
            parts = {k: self.expr(getattr(expr, k)) for k in ("cond", "true_branch", "false_branch")}
            return {"If": parts}
        if isinstance(expr, names.Call) and self._is_relax_call(expr):
            return {"Call": self._call(expr)}
        return self._literal(expr)

    def _is_shape_var(self, var):
        """0.27 has one kind of variable for both; a shape variable is an integer that no binding introduces."""
        if not names.AS_TYPE or names.ident(var) in self.bound:
            return False
        info = names.info_of(var)
        return isinstance(info, names.PrimInfo)

    def _is_relax_call(self, expr):
        return not (isinstance(expr.op, ir.Op) and expr.op.name.split(".")[0] in ("tir", "tirx"))

    def _literal(self, expr):
        # From 0.27 on a constant has its tensor in another field.
        data = getattr(expr, "data", getattr(expr, "value", None))
        if names.is_tensor(data):
            return {"Constant": {"data": tensors.from_array(data.numpy())}}
        if type(expr).__name__ == "DataTypeImm" or isinstance(data, tvm_ffi.dtype):
            return {"DataTypeImm": {"value": names.dtype_text(expr.value)}}
        return {"PrimValue": self._prim_value(expr if names.AS_TYPE else expr.value)}

    def _prim_value(self, value):
        dtype = names.expr_dtype(value)
        if isinstance(value, tirx.FloatImm):
            return {"value": 0, "dtype": dtype, "float": tensors.float_bits(float(value.value))}
        return {"value": self.dim(value), "dtype": dtype}

    def _seq(self, expr):
        return {"blocks": [self._block(block) for block in expr.blocks], "body": self.expr(expr.body)}

    def _block(self, block):
        for binding in block.bindings:
            self.bound.add(names.ident(binding.var))
        out = {"bindings": [self._binding(binding) for binding in block.bindings]}
        if isinstance(block, relax.DataflowBlock):
            out = {"kind": "Dataflow", **out}
        return out

    def _binding(self, binding):
        var = self.binder(binding.var, annotate=self.annotates and not isinstance(binding, relax.MatchCast))
        if isinstance(binding, relax.MatchCast):
            info = self.info(names.match_cast_info(binding))
            out = {"var": var, "struct_info": info, "value": self.expr(binding.value)}
            return {"MatchCast": out}
        return {"VarBinding": {"var": var, "value": self.expr(binding.value)}}

    def binder(self, var, annotate):
        out = {"var": self.name_of(var, "var")}
        self.bound.add(names.ident(var))
        if isinstance(var, names.DataflowVar):
            out["kind"] = "DataflowVar"
        info = names.info_of(var)
        if annotate and info is not None:
            out["annotation"] = self.info(info)
        return out

    def function(self, func):
        out = {"params": [self.binder(p, annotate=True) for p in func.params]}
        out["body"] = self.expr(func.body)
        ret = names.ret_info(func)
        if ret is not None:
            out["ret_struct_info"] = self.info(ret)
        if self.say_pure or not func.is_pure:
            out["pure"] = bool(func.is_pure)
        attrs = {_FUNC_ATTRS.get(k, k): self.attr(v) for k, v in ops.fields(func.attrs)} if func.attrs else {}
        if attrs:
            out["attrs"] = attrs
        return out

    # Calls

    def _call(self, call):
        name = call.op.name if isinstance(call.op, ir.Op) else None
        args, infos = list(call.args), names.info_args(call)
        attrs = self._attrs(name, call.attrs)
        if name in ops.DPS:
            return self._dps_call(name, args, infos, attrs)
        if name in ops.TRAILING and len(args) == 2:
            attrs |= self._trailing(name, args.pop())
        return self._call_json(self.expr(call.op), args, infos, attrs)

    def _trailing(self, name, arg):
        key, default = ops.TRAILING[name]
        value = self.attr(arg if names.AS_TYPE else arg.value)
        return {} if value == {"Int": default} else {key: value}

    def _call_json(self, op, args, infos, attrs):
        out = {"op": op, "args": [self.expr(arg) for arg in args]}
        if infos:
            out["sinfo_args"] = [self.info(info) for info in infos]
        if attrs:
            out["attrs"] = attrs
        return out

    def _dps_call(self, name, args, infos, attrs):
        callee, inputs, *extra = args
        if not isinstance(inputs, names.Tuple):
            raise Unsupported("a destination-passing call whose inputs are a variable")
        if extra:
            attrs["tir_vars"] = {"List": [{"Prim": self.dim(d)} for d in extra[0].values]}
        shape, rest = ops.split_dps_result(infos[0])
        return self._call_json({"Op": {"op_name": name}}, [callee, *inputs.fields, shape], [rest], attrs)

    def _attrs(self, name, attrs):
        """What is not the default of the operator."""
        if attrs is None:
            return {}
        defaults = {k: self.attr(v) for k, v in ops.default_fields(name).items()} if name else {}
        return ops.without_defaults(defaults, {key: self.attr(value) for key, value in ops.fields(attrs)})

    def attr(self, value):
        if value is None:
            return "None"
        if isinstance(value, bool):
            return {"Bool": value}
        if isinstance(value, int):
            return {"Int": value}
        if isinstance(value, float):
            return {"Float": tensors.float_bits(value)}
        # It is a string, too.
        if isinstance(value, tvm_ffi.dtype) or type(value).__name__ == "DataType":
            text = names.dtype_text(value)
            return "None" if text == "void" else {"DataType": text}
        if isinstance(value, str):
            return {"Str": str(value)}
        if isinstance(value, tirx.IntImm):
            return {"Bool": bool(value.value)} if names.expr_dtype(value) == "bool" else {"Int": int(value.value)}
        if isinstance(value, tirx.FloatImm):
            return {"Float": tensors.float_bits(float(value.value))}
        if isinstance(value, (list, tuple, tvm_ffi.Array)):
            return {"List": [self.attr(item) for item in value]}
        if isinstance(value, (dict, tvm_ffi.Map)):
            return {"Dict": {str(k): self.attr(v) for k, v in value.items()}}
        if names.AS_TYPE and isinstance(value, names.PrimInfo):
            return {"DataType": names.dtype_text(value)}
        if is_info(value):
            return {"StructInfo": self.info(value)}
        if isinstance(value, names.VDevice):
            return {"Str": f"{value.target.kind.name}:{int(value.vdevice_id)}:{value.memory_scope}"}
        return {"Prim": self.dim(value)}

    # Modules

    def module(self, mod, order=(), prim_funcs=None):
        """`order` lists the names in the order wanted; `prim_funcs` has the JSON of those known."""
        by_name = {gv.name_hint: func for gv, func in mod.functions.items()}
        listed = [n for n in order if n in by_name] + sorted(n for n in by_name if n not in order)
        funcs = []
        for name in listed:
            func = by_name[name]
            if isinstance(func, relax.Function):
                funcs.append([name, {"Function": self.function(func)}])
            elif prim_funcs and name in prim_funcs:
                funcs.append([name, prim_funcs[name]])
            else:
                raise Unsupported("the AST of a PrimFunc")
        return {"version": 1, "funcs": funcs}


def is_info(value):
    kinds = (names.ObjectInfo, names.TensorInfo, names.ShapeInfo, names.TupleInfo, names.FuncInfo, names.PrimInfo)
    return isinstance(value, kinds)


def read_derive(name):
    return "DefaultDerive" if name == names.DEFAULT_DERIVE else {"Named": str(name)}


def read_type(ty, say_pure):
    """A static type: structural information whose shapes are erased. Purity that nobody spoke of is impurity."""
    kind = type(ty).__name__
    if kind in ("ObjectType", "AnyType"):
        return "Object"
    if kind == "PackedFuncType":
        return "PackedFunc"
    if kind == "TensorType":
        return {"Tensor": {"ndim": int(ty.ndim), "dtype": names.dtype_text(ty.dtype)}}
    if kind == "ShapeType":
        return {"Shape": {"ndim": int(ty.ndim)}}
    if kind == "TupleType":
        return {"Tuple": [read_type(field, say_pure) for field in ty.fields]}
    if kind == "FuncType":
        params = ty.arg_types if hasattr(ty, "arg_types") else ty.params
        ret = ty.ret_type if hasattr(ty, "ret_type") else ty.ret
        out = {"arg_types": [read_type(p, say_pure) for p in params], "ret_type": read_type(ret, say_pure)}
        out["pure"] = say_pure and bool(ty.purity)
        return {"Func": out}
    raise Unsupported(f"the type {kind}")
