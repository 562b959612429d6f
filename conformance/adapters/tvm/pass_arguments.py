"""The arguments of TVM's passes, given as JSON: a list of positional ones, or a map of named ones."""


def arguments_of(name, given):
    """The positional arguments and the named ones."""
    from trial import ARGUMENTS

    if given is None:
        return ARGUMENTS.get(name, ()), {}
    positional, keywords = ((), given) if isinstance(given, dict) else (given, {})
    return CONVERTED.get(name, lambda *args, **named: (args, named))(*positional, **keywords)


def _patterns(patterns, *rest, **named):
    """`[NAME, OPERATOR, ARITY]` for each pattern: one call of the operator on anything."""
    from tvm.relax.dpl import is_op, wildcard

    made = [(label, is_op(operator)(*(wildcard() for _ in range(arity)))) for label, operator, arity in patterns]
    return (made, *rest), named


def _params(function, params):
    """Each parameter by its name, `{"dtype": .., "values": ..}`."""
    import numpy as np

    return (function, {name: np.array(given["values"], given["dtype"]) for name, given in params.items()}), {}


def _sizes(binding, *rest, **named):
    """Each shape variable by its name, an integer."""
    import tvm

    tirx = getattr(tvm, "tirx", None) or tvm.tir
    return ({name: tirx.IntImm("int64", size) for name, size in binding.items()}, *rest), named


#: What becomes of arguments that JSON cannot hold.
CONVERTED = {"BindParams": _params, "BindSymbolicVars": _sizes, "FuseOpsByPattern": _patterns}
