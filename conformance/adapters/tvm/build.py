"""The JSON form of the abstract syntax to TVM objects, through constructors.

Variables have identity in both worlds: one identity of a function becomes one TVM variable object, created
where it is first mentioned, bound or not. A use as `Var` of what is bound as `DataflowVar` is another
variable, hence unbound.
"""

from asked import NOW
from devices import Devices
from tvm import ir, relax, tirx

import dims
import names
import ops
import tensors
from faults import Unsupported

#: The spelling of function attributes in TVM.
_FUNC_ATTRS = {"force_pure": "relax.force_pure"}


class Scope:
    """The variables of one global function, or of a free-standing judgement."""

    def __init__(self):
        self.binders = {}
        #: What is known of unannotated variables that stand as the shape of a tensor.
        self.shape_hints = {}
        self.vars = {}
        self.shape_vars = [{}]
        #: The tables of the local functions that have been left, too.
        self.all_shape_vars = [self.shape_vars[0]]
        #: Identity by object, for reading answers back.
        self.identity = {}
        self.in_progress = set()

    def collect(self, function):
        """Notes what every variable bound in the function is annotated with; the first binding counts."""
        for binder in binders(function):
            key = (binder.get("kind", "Var"), binder["var"])
            self.binders.setdefault(key, binder)
        self.shape_hints.update(shape_hints(function))


def nodes(root):
    """All maps at and below a node, in textual order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            yield node
            stack.extend(reversed(list(node.values())))


def binders(root):
    """All binders below a node, in textual order."""
    for node in nodes(root):
        if isinstance(node.get("var"), str) and not (node.keys() - {"var", "kind", "annotation"}):
            yield node


def mentions(root, identity):
    """Whether a variable is used below a node."""
    return any(identity in (node.get("Var"), node.get("DataflowVar")) for node in nodes(root))


def recursive_functions(functions):
    """The ids of the functions, global or local, that may come to call themselves by name.

    `functions` are pairs of name and function.
    """
    calls = {name: {str(node.get("GlobalVar")) for node in nodes(body)} for name, body in functions}
    found = {id(body) for name, body in functions if name in reachable(calls, name)}
    for node in nodes([body for _, body in functions]):
        literal = node.get("value", {}).get("Function") if isinstance(node.get("value"), dict) else None
        if literal is not None and mentions(literal, node["var"]["var"]):
            found.add(id(literal))
    return found


def reachable(graph, start):
    """What is reached from a node by one edge or more."""
    found, stack = set(), [start]
    while stack:
        for target in graph.get(stack.pop(), ()):
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


def shape_hints(root):
    """For variables that annotations name as the shape of a tensor: the shape they are bound to, else a rank.

    TVM wants the information of such a variable where the annotation is made.
    """
    hints, literals = {}, {}
    for node in nodes(root):
        shape = node.get("shape")
        if "dtype" in node and isinstance(shape, str):
            hints.setdefault(("Var", shape), {"ndim": node.get("ndim", -1)})
        elif "dtype" in node and isinstance(shape, dict) and "DataflowVar" in shape:
            hints.setdefault(("DataflowVar", shape["DataflowVar"]), {"ndim": node.get("ndim", -1)})
        elif isinstance(node.get("var"), dict) and "ShapeExpr" in node.get("value", {}):
            binder = node["var"]
            literals[binder.get("kind", "Var"), binder["var"]] = {"values": node["value"]["ShapeExpr"]["values"]}
    return {key: literals.get(key, hint) for key, hint in hints.items()}


class Builder:
    """Builds expressions and structural information within a scope."""

    def __init__(self, scope=None, globals_=None, inferred=None, claim_purity=True, recursive=frozenset(), devices=None):
        self.scope = scope or Scope()
        self.globals = {} if globals_ is None else globals_
        #: What an earlier round found of functions that do not say it: `{id: {"ret": .., "pure": ..}}`.
        self.inferred = {} if inferred is None else inferred
        #: Whether functions may be called pure; if not, TVM does not look for impure calls in them.
        self.claim_purity = claim_purity
        #: The ids of the functions that are recursive: what these do not say of purity is not assumed.
        self.recursive = recursive
        #: The devices of the module.
        self.devices = Devices() if devices is None else devices
        #: The functions around the place where the builder is.
        self.enclosing = []
        #: The function nodes built, in textual order, for the next round.
        self.functions = []

    # Variables

    def shape_var(self, identity):
        for table in reversed(self.scope.shape_vars):
            if identity in table:
                return table[identity]
        return self._new_shape_var(identity, self.scope.shape_vars[0])

    def _new_shape_var(self, identity, table):
        var = names.shape_var(identity.split("#")[0])
        table[identity] = var
        self.scope.identity[names.ident(var)] = identity
        return var

    def var(self, identity, kind="Var", shape_rank=None):
        """`shape_rank` is the rank that a use as the shape of a tensor tells of a variable without annotation."""
        scope, key = self.scope, (kind, identity)
        if key in scope.vars:
            return scope.vars[key]
        annotation = scope.binders.get(key, {}).get("annotation")
        if annotation is None and key in scope.shape_hints:
            annotation = {"Shape": scope.shape_hints[key]}
        info = None
        if annotation is not None and key not in scope.in_progress:
            scope.in_progress.add(key)
            info = self.info(annotation)
            scope.in_progress.discard(key)
        elif shape_rank is not None:
            info = names.ShapeInfo(None, shape_rank)
        if key not in scope.vars:
            var = names.relax_var(identity.split("#")[0], info, kind == "DataflowVar")
            scope.vars[key] = var
            scope.identity[names.ident(var)] = identity
        return scope.vars[key]

    def global_var(self, name):
        if name not in self.globals:
            self.globals[name] = ir.GlobalVar(name)
        return self.globals[name]

    def dim(self, json):
        return dims.build(json, self.shape_var)

    # Structural information

    def info(self, json):
        if json == "Object":
            return names.ObjectInfo()
        ((kind, content),) = json.items()
        match kind:
            case "Tensor":
                return self._tensor_info(content)
            case "Shape":
                return self._shape_info(content)
            case "Prim":
                value, dtype = content.get("value"), content["dtype"]
                binds = isinstance(value, str) and not any(value in table for table in self.scope.shape_vars)
                if isinstance(value, int) and NOW.op == "stages":
                    # A pass is not to blame for what it was given.
                    value = tirx.IntImm(dtype, value)
                elif value is not None:
                    # A comparison is a Boolean; a number is an int64, whatever the datatype says beside it.
                    value = dims.build(value, self.shape_var, dtype == "bool" and isinstance(value, dict))
                return names.prim_info(dtype, value, binds)
            case "Tuple":
                return names.TupleInfo([self.info(field) for field in content])
            case "Func":
                return self._func_info(content)
        raise Unsupported(f"structural information {kind}")

    def _tensor_info(self, json):
        dtype = json.get("dtype", "void")
        dtype = None if dtype == "void" else dtype
        shape, ndim = json.get("shape"), json.get("ndim")
        device = self.devices.build(json["vdevice"]) if json.get("vdevice") else None
        if shape is None:
            return names.tensor_info(None, dtype, -1 if ndim is None else ndim, device)
        if isinstance(shape, list):
            # TVM refuses a rank beside a shape; it gets to see one only where it says something else.
            odd = is_odd_rank(ndim, shape)
            return names.tensor_info([self.dim(d) for d in shape], dtype, ndim if odd else None, device)
        expr = self._shape_of_tensor(shape, -1 if ndim is None else ndim)
        return names.tensor_info(expr, dtype, ndim if contradicts_rank(ndim, expr) else None, device)

    def _shape_of_tensor(self, shape, ndim):
        if isinstance(shape, str):
            return self.var(shape, shape_rank=ndim)
        if "DataflowVar" in shape:
            return self.var(shape["DataflowVar"], "DataflowVar", shape_rank=ndim)
        return self.expr(shape["Expr"])

    def _shape_info(self, json):
        values, ndim = json.get("values"), json.get("ndim")
        if values is None:
            return names.ShapeInfo(None, -1 if ndim is None else ndim)
        if is_odd_rank(ndim, values):
            return names.ShapeInfo([self.dim(d) for d in values], ndim)
        return names.ShapeInfo([self.dim(d) for d in values])

    def _func_info(self, json):
        params, pure = json.get("params"), json.get("pure")
        ret = self.info(json.get("ret", "Object"))
        derive = json.get("derive_func")
        if params is not None:
            if derive is not None:
                raise Unsupported("structural information of a function with both params and derive_func")
            return names.FuncInfo([self.info(p) for p in params], ret, NOW.purity_is_declared if pure is None else pure)
        return names.opaque_info(ret, derive_name(derive), bool(pure))

    # Expressions

    def expr(self, json):
        ((kind, content),) = json.items()
        match kind:
            case "Var" | "DataflowVar":
                return self.var(content, kind)
            case "GlobalVar":
                return self.global_var(content)
            case "Constant":
                return names.constant(tensors.to_array(content["data"]))
            case "Tuple":
                return names.Tuple([self.expr(field) for field in content["fields"]])
            case "TupleGetItem":
                return names.TupleGetItem(self.expr(content["tuple_value"]), content["index"])
            case "ShapeExpr":
                return names.ShapeExpr([self.dim(d) for d in content["values"]])
            case "PrimValue":
                return names.prim_value(self._prim_value(content))
            case "StringImm":
                return names.StringImm(content["value"])
            case "DataTypeImm":
                return names.dtype_imm(content["value"])
            case "ExternFunc":
                # Purity is none of the criteria of a check that makes no claims of it.
                info = None if self.claim_purity else names.opaque_info(None, names.DEFAULT_DERIVE, True)
                return relax.ExternFunc(content["global_symbol"], info)
            case "Op":
                return ops.get(content["op_name"])
            case "If":
                return relax.If(*(self.expr(content[k]) for k in ("cond", "true_branch", "false_branch")))
            case "SeqExpr":
                return self._seq(content)
            case "Function":
                return self.function(content)
            case "Call":
                return self._call(content)
        raise Unsupported(f"the expression {kind}")

    def _prim_value(self, json):
        dtype = json.get("dtype", "int64")
        if json.get("float") is not None:
            return tirx.FloatImm(dtype, tensors.from_float_bits(json["float"]))
        value = json["value"]
        if isinstance(value, int):
            return tirx.IntImm(dtype, value)
        expr = dims.build(value, self.shape_var, dtype == "bool")
        return expr if dtype in ("int64", "bool") else tirx.Cast(dtype, expr)

    def _seq(self, json):
        blocks = [self._block(block) for block in json.get("blocks", [])]
        return relax.SeqExpr(blocks, self.expr(json["body"]))

    def _block(self, json):
        kind = relax.DataflowBlock if json.get("kind") == "Dataflow" else relax.BindingBlock
        return kind([self._binding(binding) for binding in json.get("bindings", [])])

    def _binding(self, json):
        ((kind, content),) = json.items()
        if kind == "VarBinding":
            var = self._binder(content["var"])
            if "Function" in content["value"]:
                # A local function may call itself, so the variable gets its information before the body is made.
                return relax.VarBinding(var, self.function(content["value"]["Function"], bound_to=var))
            return relax.VarBinding(var, self.expr(content["value"]))
        value = self.expr(content["value"])
        info = self.info(content["struct_info"])
        binder = content.get("var")
        # TVM has no MatchCast without a variable.
        var = names.relax_var("unused", info, False) if binder is None else self._binder(binder)
        return names.match_cast(var, value, info)

    def _binder(self, binder):
        return self.var(binder["var"], binder.get("kind", "Var"))

    # Functions

    def function(self, json, outer=False, bound_to=None):
        """`outer`: a global function, whose shape variables are those of the scope."""
        self.functions.append(json)
        if not outer:
            self.scope.shape_vars.append({})
            self.scope.all_shape_vars.append(self.scope.shape_vars[-1])
            for identity in self._own_shape_vars(json):
                self._new_shape_var(identity, self.scope.shape_vars[-1])
        self.enclosing.append(json)
        params = [self._binder(p) for p in json.get("params", [])]
        ret = self.ret_info(json)
        if bound_to is not None and mentions(json["body"], self.scope.identity[names.ident(bound_to)]):
            self._announce(bound_to, params, ret, json)
        body = self.expr(json["body"])
        self.enclosing.pop()
        if not outer:
            self.scope.shape_vars.pop()
        return names.function(params, body, ret, self.purity(json), func_attrs(self, json))

    def _own_shape_vars(self, json):
        """What the parameters of a local function bind: what they mention alone and no function around binds.

        TVM wants a variable of its own for each function that binds one.
        """
        outside = set()
        for function in self.enclosing:
            outside.update(bound_by_params(function))
            outside.update(bound_by_casts(function["body"], json))
        return [identity for identity in bound_by_params(json) if identity not in outside]

    def _announce(self, var, params, ret, json):
        infos = [names.info_of(p) for p in params]
        if names.info_of(var) is None and None not in infos:
            names.set_info(var, names.FuncInfo(infos, ret, self.purity(json)))

    def ret_info(self, json):
        """The annotation, what an earlier round found, or Object."""
        found = json.get("ret_struct_info")
        if found is None:
            found = self.inferred.get(id(json), {}).get("ret", "Object")
        return self.info(found)

    def purity(self, json):
        """As said, else as an earlier round found, else pure unless recursive."""
        said = json.get("pure")
        if force_pure(json):
            return said is not False
        if not self.claim_purity:
            return False
        if said is not None or NOW.purity_is_declared:
            return said is not False
        return self.inferred.get(id(json), {}).get("pure", id(json) not in self.recursive)

    def signature(self, json):
        """The structural information of a global function from its annotations, None if a parameter lacks one."""
        params = [self._binder(p) for p in json.get("params", [])]
        infos = [names.info_of(p) for p in params]
        if any(info is None for info in infos):
            return None
        return names.FuncInfo(infos, self.ret_info(json), self.purity(json))

    # Calls

    def _call(self, json):
        op, args = json["op"], json.get("args", [])
        infos = [self.info(s) for s in json.get("sinfo_args", [])]
        attrs = dict(json.get("attrs", {}))
        if attrs.get("pure", {"Bool": False}) not in ({"Bool": False}, {"Bool": True}):
            # TVM's calls have no such attribute: a call of a packed function that counts as pure is another operator.
            raise Unsupported("an attribute pure that is not a Boolean")
        if "Op" in op:
            return self._op_call(op["Op"]["op_name"], args, infos, attrs)
        if "GlobalVar" not in op and attrs.pop("pure", None) == {"Bool": True}:
            return names.call(ops.get(ops.CALL_PURE), [self.expr(op), *map(self.expr, args)], None, infos)
        callee = self.expr(op)
        values = {key: self.attr(value) for key, value in attrs.items() if key != "pure"}
        made = ir.make_node("ir.DictAttrs", **values) if values else None
        return names.call(callee, [self.expr(arg) for arg in args], made, infos)

    def _op_call(self, name, args, infos, attrs):
        op = ops.get(name)
        built = [self.expr(arg) for arg in args]
        if attrs.pop("pure", None) == {"Bool": True} and not ops.is_pure(op):
            raise Unsupported("the attribute pure on a call of an operator")
        if name in ops.DPS and len(built) >= 2:
            return self._dps_call(name, op, built, infos, attrs)
        position = ops.FORMATTED.get(name)
        if position is not None and len(built) >= position:
            built = self._with_format(built, position, attrs.pop("format", None))
        if name in ops.TRAILING and len(built) == 1:
            key, default = ops.TRAILING[name]
            value = self.attr(attrs.pop(key, {"Int": default}))
            built.append(names.prim_value(tirx.IntImm("int64", value) if isinstance(value, int) else value))
        count, last = ops.LAST.get(name, (0, None))
        if len(built) + 1 == count:
            built.append(names.prim_value(tirx.IntImm("int64", last)))
        values = {key: self.attr(value) for key, value in attrs.items()}
        if name == "relax.to_vdevice" and isinstance(values.get("dst_vdevice"), str):
            values["dst_vdevice"] = self.devices.named(values["dst_vdevice"])
        return names.call(op, built, ops.attrs(name, values, built), infos)

    def _with_format(self, built, position, attr):
        """A format that the call leaves out is empty."""
        if attr is None and len(built) > position and isinstance(built[position], names.StringImm):
            return built
        text = "" if attr is None else attr["Str"]
        return [*built[:position], names.StringImm(text), *built[position:]]

    def _dps_call(self, name, op, built, infos, attrs):
        callee, *inputs, shape = built
        # In the first edition a symbol may be written as a string; later ones look no string up.
        if isinstance(callee, names.StringImm) and not NOW.purity_is_declared:
            callee = relax.ExternFunc(callee.value)
        if is_grouped(shape, infos):
            return self._grouped_call(name, op, [callee, *built[1:]], infos, attrs)
        extra = self._tir_vars(attrs.pop("tir_vars", None))
        if extra and names.AS_TYPE:
            raise Unsupported("integers after the outputs of a destination-passing call: this version has none")
        args = [callee, names.Tuple(inputs)] + ([names.ShapeExpr(extra)] if extra else [])
        values = {key: self.attr(value) for key, value in attrs.items()}
        made = ops.attrs(name, values, args) if values else None
        return names.call(op, args, made, ops.dps_result(shape, infos))

    def _grouped_call(self, name, op, args, infos, attrs):
        """The later form, which is TVM's: the inputs as one tuple, then integers, and the whole result as `sinfo_args`."""
        if len(args) > 2 and names.AS_TYPE:
            raise Unsupported("integers after the outputs of a destination-passing call: this version has none")
        values = {key: self.attr(value) for key, value in attrs.items()}
        return names.call(op, args, ops.attrs(name, values, args) if values else None, infos)

    def _tir_vars(self, json):
        match json:
            case None | "None":
                return []
            case {"List": items}:
                return [item for entry in items for item in self._tir_vars(entry)]
            case {"Prim": value} | {"Int": value}:
                return [self.dim(value)]
        raise Unsupported("tir_vars that are no list of expressions")

    def attr(self, json):
        """The Python form of an attribute value."""
        if json == "None":
            return None
        ((kind, content),) = json.items()
        match kind:
            case "Bool":
                return bool(content)
            case "Int" | "Str" | "DataType":
                return content
            case "Float":
                return tensors.from_float_bits(content)
            case "Prim":
                return self.dim(content)
            case "List":
                return [self.attr(item) for item in content]
            case "Dict":
                return {key: self.attr(item) for key, item in content.items()}
            case "StructInfo":
                return self.info(content)
            case "IndexMap":
                return index_map(content)
        raise Unsupported(f"an attribute {kind}")


def is_grouped(last, infos):
    """Whether a destination-passing call is in the later form, by its last argument and its `sinfo_args`."""
    if NOW.purity_is_declared:
        return not infos or any(map(ops.says_shape, infos))
    # In the first edition the last argument is a shape, and for one tensor no tuple.
    whole = len(infos) == 1 and isinstance(infos[0], names.TensorInfo) and infos[0].shape is not None
    return whole and isinstance(last, names.Tuple)


def index_map(json):
    """A function from indices to indices, whose parameters are variables of its own."""
    own = {name: tirx.Var(name, "int64") for name in json["params"]}
    results = [dims.build(result, lambda name: own[name]) for result in json["results"]]
    inverse = json.get("inverse")
    return tirx.IndexMap(list(own.values()), results, index_map(inverse) if inverse else None)


def is_odd_rank(ndim, dims_):
    """Whether a rank contradicts the dimensions beside it."""
    if ndim == -1:
        raise Unsupported("an unknown rank beside dimensions: TVM counts them")
    return ndim is not None and ndim != len(dims_)


def contradicts_rank(ndim, shape):
    """Whether a rank contradicts what is known of the expression beside it."""
    info = names.info_of(shape)
    known = info.ndim if isinstance(info, names.ShapeInfo) else -1
    return ndim not in (None, -1) and known not in (-1, ndim)


def derive_name(derive):
    match derive:
        case None | "EmptyDerive":
            return None
        case "DefaultDerive":
            return names.DEFAULT_DERIVE
        case {"Named": name}:
            return name
    raise Unsupported(f"the derive_func {derive}")


def force_pure(json):
    attrs = json.get("attrs", {})
    return any(attrs.get(key) == {"Bool": True} for key in ("force_pure", "relax.force_pure"))


def func_attrs(builder, json):
    return {_FUNC_ATTRS.get(k, k): builder.attr(v) for k, v in json.get("attrs", {}).items() if k != "pure"}


def bound_by_params(json):
    """The shape variables that the parameters of a function mention alone as a dimension."""
    return lone_dims([p.get("annotation") for p in json.get("params", [])])


def bound_by_casts(node, without):
    """The shape variables that match casts below a node mention alone as a dimension, except below `without`."""
    found = []
    stack = [node]
    while stack:
        node = stack.pop()
        if node is without:
            continue
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if "MatchCast" in node:
                found.extend(lone_dims([node["MatchCast"]["struct_info"]]))
            stack.extend(node.values())
    return found


def lone_dims(infos):
    found = []
    for node in nodes(infos):
        for key in ("shape", "values"):
            if isinstance(node.get(key), list):
                found.extend(d for d in node[key] if isinstance(d, str) and d not in found)
    return found
