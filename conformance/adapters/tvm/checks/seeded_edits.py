"""Edits of a function, for the passes of `seeded_passes.py` whose result has no text that TVM's parser reads as it is."""


def with_calls(change):
    """A function with other arguments in its calls: `change` gives those of a call, by what is called."""

    def edit(func):
        from tvm import relax

        import names

        @relax.expr_functor.mutator
        class Calls(relax.PyExprMutator):
            def visit_call_(self, call):
                name = getattr(call.op, "global_symbol", None) or getattr(call.op, "name", "")
                args = change(str(name), list(call.args))
                return names.call(call.op, args, call.attrs, names.info_args(call))

        return Calls().visit_expr(func)

    return edit


def with_bindings(change):
    """A function with other bindings: `change` gives those of a block of its body. Nothing is normalized."""

    def edit(func):
        from tvm import relax

        import names

        blocks = [type(block)(change(list(block.bindings))) for block in func.body.blocks]
        body = relax.SeqExpr(blocks, func.body.body)
        attrs = dict(func.attrs.items()) if func.attrs else None
        return names.function(list(func.params), body, names.ret_info(func), func.is_pure, attrs)

    return edit


def storage_of(size):
    """Storages of so many bytes."""

    def change(name, args):
        from tvm import relax

        return [relax.ShapeExpr([size]), *args[1:]] if name == "relax.memory.alloc_storage" else args

    return with_calls(change)


def one_storage(func):
    """All tensors in the first storage."""
    first = []

    def change(name, args):
        if name == "relax.memory.alloc_tensor":
            first.append(args[0])
            return [first[0], *args[1:]]
        return args

    return with_calls(change)(func)


def another_size(name, args):
    """A shape of one size that was computed is that of the place behind."""
    import names

    if name != "vm.builtin.make_shape" or len(args) != 4:
        return args
    place = int(getattr(args[-1], "value", args[-1]))
    return [*args[:-1], names.prim_value(names.IntImm("int64", place + 1))]


def killed(binding, what):
    """The name of the variable that a binding kills, if it is one of this kind."""
    import names

    return names.var_name(binding.value.args[0]) if of_operator(binding, f"memory.kill_{what}") else None


@with_bindings
def kill_too_early(bindings):
    """A tensor is killed behind its allocation."""
    import names

    at, kill = next((at, binding) for at, binding in enumerate(bindings) if killed(binding, "tensor"))
    made = next(at for at, binding in enumerate(bindings) if names.var_name(binding.var) == killed(kill, "tensor"))
    return [*bindings[: made + 1], kill, *bindings[made + 1 : at], *bindings[at + 1 :]]


@with_bindings
def kill_later(bindings):
    """All storages and tensors are killed at the end."""
    return sorted(bindings, key=lambda binding: bool(killed(binding, "tensor") or killed(binding, "storage")))


def kill_the_result(func):
    """The tensor that the function returns is killed, as others are."""
    from tvm import relax

    import names

    def change(bindings):
        kill = next(binding for binding in bindings if killed(binding, "tensor"))
        call = names.call(kill.value.op, [func.body.body], kill.value.attrs, names.info_args(kill.value))
        var = names.relax_var("_", names.info_of(kill.var), False)
        return [*bindings, relax.VarBinding(var, call)]

    return with_bindings(change)(func)


def of_operator(binding, name):
    return getattr(getattr(binding.value, "op", None), "name", "") == f"relax.{name}"


@with_bindings
def free_a_variable(bindings):
    """The product is that of a variable that is bound nowhere."""
    from tvm import relax

    import names

    def freed(binding):
        if not of_operator(binding, "multiply"):
            return binding
        first, *rest = binding.value.args
        first = names.relax_var("gone", names.info_of(first), False)
        call = names.call(binding.value.op, [first, *rest], binding.value.attrs, [])
        names.set_info(call, names.info_of(binding.value))
        return relax.VarBinding(binding.var, call)

    return [freed(binding) for binding in bindings]


@with_bindings
def nest_a_call(bindings):
    """The value of the product stands where it is used, and is not bound."""
    from tvm import relax

    import names

    product = next((binding for binding in bindings if of_operator(binding, "multiply")), None)

    def nested(binding):
        if product is None or not of_operator(binding, "maximum"):
            return binding
        _, *rest = binding.value.args
        call = names.call(binding.value.op, [product.value, *rest], binding.value.attrs, [])
        names.set_info(call, names.info_of(binding.value))
        return relax.VarBinding(binding.var, call)

    return [nested(binding) for binding in bindings if binding is not product]
