"""The packed functions `relax_spec.*`, the same that the oracle provides, and the record of effects."""

import numpy as np
import tvm
import tvm_ffi

import names
from tensors import Values


class Run:
    """What is going on now: the effects so far, and the virtual machine that calls closures."""

    def __init__(self):
        self.reset(None, None)

    def reset(self, vm, some_closure):
        self.effects = []
        self.vm = vm
        self.values = Values(functions, some_closure)

    def record(self, name, args):
        read = [self.values.read(arg) for arg in args]
        if name == "relax_spec.fill_dps" and args and names.is_tensor(args[-1]):
            # What a new output holds is nobody's business; it is described as zeros.
            out = read[-1]["Tensor"]
            out["bits"] = "0" * len(out["bits"])
        self.effects.append({"Call": [name, read]})


#: The prelude: name and function.
_PRELUDE = []


def functions():
    """Pairs of function object and name."""
    return [(tvm.get_global_func(name), name) for name, _ in _PRELUDE]


NOW = Run()


class PreludeError(RuntimeError):
    """Raised by a function of the prelude."""


def packed(pure):
    def register(func):
        name = "relax_spec." + func.__name__.lstrip("_")

        def call(*args):
            if not pure:
                NOW.record(name, args)
            try:
                return func(*args)
            except Exception as error:
                # A call with the wrong arguments is an error of the program, not of the adapter.
                raise PreludeError(str(error)) from None

        _PRELUDE.append((name, call))
        return func

    return register


@packed(pure=True)
def identity(value):
    return tvm.runtime.tensor(value.numpy()) if names.is_tensor(value) else value


@packed(pure=True)
def alias(value):
    return value


@packed(pure=False)
def log(*args):
    # Unit is the empty tuple.
    return args[0] if args else tvm_ffi.Array([])


def _sum(a, b):
    with np.errstate(all="ignore"):
        x, y = a.numpy(), b.numpy()
        if x.dtype != y.dtype or (y.shape and x.shape != y.shape):
            raise PreludeError("add expects tensors of one shape and data type, or a scalar as the second")
        return np.logical_or(x, y) if x.dtype == np.bool_ else (x + y).astype(x.dtype)


@packed(pure=True)
def add(a, b):
    return tvm.runtime.tensor(_sum(a, b))


@packed(pure=False)
def add_inplace(a, b):
    a.copyfrom(_sum(a, b))
    return a


@packed(pure=False)
def fail(*_):
    raise PreludeError("relax_spec.fail was called")


@packed(pure=True)
def make_object(*_):
    return tvm.ir.SourceName("object of relax_spec.make_object")


@packed(pure=True)
def same_object(a, b):
    a, b = handle(a), handle(b)
    same = type(a) is type(b) and (a.same_as(b) if hasattr(a, "same_as") else a == b)
    return tvm.runtime.tensor(np.array(bool(same)))


def handle(value):
    """A shape is a list to Python, which keeps the object that it came from."""
    return getattr(value, "_tvm_ffi_cached_object", None) or value


@packed(pure=True)
def shape_double(shape):
    return tvm_ffi.Shape([2 * int(d) for d in shape])


@packed(pure=False)
def call_closure(closure, *args):
    return NOW.vm.invoke_closure(closure, *args)


@packed(pure=True)
def raw_int(*_):
    return 1


@packed(pure=False)
def fill_dps(*args):
    *inputs, out = args
    total = sum(int(np.prod(t.shape, dtype=np.int64)) for t in inputs if names.is_tensor(t))
    array = out.numpy()
    out.copyfrom(np.full(array.shape, total).astype(array.dtype))


@packed(pure=True)
def fill_dps_pure(*args):
    fill_dps(*args)


def _print(text, *args):
    # An empty format says nothing; any other is part of what is printed.
    printed = ([text] if str(text) else []) + list(args)
    NOW.effects.append({"Print": [NOW.values.read(arg) for arg in printed]})


def register():
    for name, func in _PRELUDE:
        tvm_ffi.register_global_func(name, func, override=True)
    # Printing is an effect to record, not something to show.
    tvm_ffi.register_global_func("relax.run.print", _print, override=True)
