"""The judgements on types, structural information and dimensions."""

from asked import NOW
from tvm import relax

import dims
import names
from build import Builder
from faults import Unsupported, stage
from read import Reader, read_type

#: The levels of TVM's base check, from no intersection to subsumption.
COMPATIBILITY = ("Incompatible", "Incompatible", "Possibly", "Compatible")
_POSSIBLY, _PASS = 2, 3


def infos(*jsons):
    """Builds several in one scope, so that equal names are the same variable."""
    builder = Builder()
    with stage("construct"):
        return builder, [builder.info(json) for json in jsons]


def reader(builder, *jsons):
    say_pure = any(mentions_purity(json) for json in jsons)
    return Reader(builder.scope.identity, say_pure, builder.devices)


def mentions_purity(json):
    """Whether some function in the question says whether it is pure."""
    stack = [json]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node.get("pure"), bool):
                return True
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return False


def base_check(s1, s2):
    """How `s1` fits where `s2` is expected."""
    with stage("check"):
        return int(names.base_check(s2, s1))


def compatibility(json1, json2):
    _, (s1, s2) = infos(json1, json2)
    return COMPATIBILITY[base_check(s1, s2)]


def more_specific(json1, json2):
    _, (s1, s2) = infos(json1, json2)
    return base_check(s1, s2) == _PASS


def possibly_more_specific(json1, json2):
    _, (s1, s2) = infos(json1, json2)
    return base_check(s1, s2) >= _POSSIBLY


def unify(json1, json2):
    builder, (s1, s2) = infos(json1, json2)
    with stage("check"):
        result = names.unify(s1, s2)
    return reader(builder, json1, json2).info(result)


def erase(json):
    _, (info,) = infos(json)
    with stage("check"):
        erased = names.static_type(info)
    # From 2023-12 on types have no purity.
    if NOW.purity_is_declared or not mentions_purity(json):
        return read_type(erased, say_pure=False)
    if not names.AS_TYPE:
        raise Unsupported("purity in an erased type: the types of this version have none")
    return read_type(erased, say_pure=True)


def as_info(ty):
    """A type as structural information without shapes: TVM judges types only as such."""
    if ty == "Object":
        return "Object"
    if ty == "PackedFunc":
        return {"Func": {"ret": "Object", "derive_func": "DefaultDerive"}}
    ((kind, content),) = ty.items()
    match kind:
        case "Tensor" | "Shape":
            return {kind: dict(content)}
        case "Tuple":
            return {"Tuple": [as_info(field) for field in content]}
        case "Func":
            params = [as_info(p) for p in content["arg_types"]]
            ret = as_info(content["ret_type"])
            return {"Func": {"params": params, "ret": ret, "pure": bool(content.get("pure"))}}
    raise Unsupported(f"the type {kind}")


def as_type(info):
    """The inverse of `as_info`."""
    if info == "Object":
        return "Object"
    ((kind, content),) = info.items()
    match kind:
        case "Tensor":
            return {"Tensor": {"ndim": content["ndim"], "dtype": content["dtype"]}}
        case "Shape":
            return {"Shape": {"ndim": content["ndim"]}}
        case "Tuple":
            return {"Tuple": [as_type(field) for field in content]}
        case "Func" if "params" not in content:
            return "PackedFunc"
        case "Func":
            params, ret = [as_type(p) for p in content["params"]], as_type(content["ret"])
            return {"Func": {"arg_types": params, "ret_type": ret, "pure": content["pure"]}}
    raise Unsupported(f"{kind} as a type")


def subtype(ty1, ty2):
    return more_specific(as_info(ty1), as_info(ty2))


def lub(ty1, ty2):
    builder, (s1, s2) = infos(as_info(ty1), as_info(ty2))
    with stage("check"):
        result = names.unify(s1, s2)
    return as_type(Reader(builder.scope.identity, say_pure=True).info(result))


def erase_to_well_defined(json, variables, shape_variables):
    builder, (info,) = infos(json)
    with stage("check"):
        scope = {var: var for var in (builder.shape_var(v) for v in shape_variables)}
        mentioned = [var for (_, v), var in builder.scope.vars.items() if v in variables]
        result = names.erase_to_well_defined(info, scope, {var: var for var in mentioned})
    return reader(builder, json).info(result)


def derive_call(callee, args, sinfo_args):
    builder = Builder()
    with stage("construct"):
        func = builder.info(callee)
        arg_vars = [names.relax_var(f"a{i}", builder.info(arg), False) for i, arg in enumerate(args)]
        infos_ = [builder.info(s) for s in sinfo_args]
        call = names.call(names.relax_var("f", func, False), arg_vars, None, infos_)
        scope = names.relax_var("scope", names.ShapeInfo(free_dims(builder)), False)
    with stage("check"):
        block_builder = relax.BlockBuilder()
        block_builder.begin_scope([scope])
        if isinstance(func, names.FuncInfo):
            result = names.derive_call(func, call, block_builder)
        else:
            # Only functions may be handed to the derivation; the normalizer looks at calls of anything.
            result = names.info_of(block_builder.normalize(call))
        block_builder.end_scope()
    return {"Is": reader(builder, callee, args, sinfo_args).info(result)}


def free_dims(builder):
    return list(builder.scope.shape_vars[0].values())


def prove_equal(a, b):
    with stage("check"):
        return dims.prove_equal(a, b)
