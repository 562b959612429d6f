"""The least structural information, for a module of which only the scopes are to be checked."""

from tvm import ir, relax

import names


class NoFill(Exception):
    """Something is called of which TVM knows that it is no function; its check would crash on that."""


def module(mod):
    for func in mod.functions.values():
        if isinstance(func, relax.Function):
            _expr(func)


def _set(expr, info):
    if names.info_of(expr) is None:
        names.set_info(expr, info)


def _callable(callee):
    """TVM's check looks up the purity of every callee."""
    if isinstance(callee, ir.Op):
        return
    _set(callee, names.opaque_info(names.ObjectInfo(), None, True))
    if not isinstance(names.info_of(callee), names.FuncInfo):
        raise NoFill


def _expr(expr):
    """Iterative over bindings, recursive over nesting."""
    if isinstance(expr, relax.Function):
        for param in expr.params:
            _set(param, names.ObjectInfo())
        _expr(expr.body)
    elif isinstance(expr, relax.SeqExpr):
        for block in expr.blocks:
            for binding in block.bindings:
                _binding(binding)
        _expr(expr.body)
        _set(expr, names.ObjectInfo())
    elif isinstance(expr, relax.If):
        for part in (expr.cond, expr.true_branch, expr.false_branch):
            _expr(part)
        _set(expr, names.ObjectInfo())
    elif isinstance(expr, names.Call):
        _callable(expr.op)
        _expr(expr.op)
        for arg in expr.args:
            _expr(arg)
        _set(expr, names.ObjectInfo())
    elif isinstance(expr, names.Tuple):
        for field in expr.fields:
            _expr(field)
        _set(expr, names.ObjectInfo())
    elif isinstance(expr, names.TupleGetItem):
        _expr(expr.tuple_value)
        _set(expr, names.ObjectInfo())
    elif isinstance(expr, (names.RelaxVar, ir.GlobalVar)):
        _set(expr, names.ObjectInfo())


def _binding(binding):
    if isinstance(binding.value, relax.Function):
        # Known before its body, which may call it.
        _set(binding.var, names.info_of(binding.value) or names.ObjectInfo())
    _expr(binding.value)
    if isinstance(binding, relax.VarBinding):
        info = names.info_of(binding.value)
        _set(binding.var, info if isinstance(info, names.FuncInfo) else names.ObjectInfo())
    else:
        _set(binding.var, names.match_cast_info(binding))
