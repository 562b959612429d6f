#!/usr/bin/env python3
"""Writes conformance/suite/ops: cases about the values of tensor operators, computed with NumPy.

    make_ops_cases.py OUTPUT_DIRECTORY

Exact data are small integers and dyadic fractions, chosen so that sums and products of them are exact in any order: their
cases are compared bit for bit. Wild data are drawn from a seed; their cases name the class of `spec/accuracy.ron` within
which a result must lie, and are computed in float64.

To add an operator, call `op` in the function of its family. The first case of an operator also gives a case about its
inference, and every case is a call that `relax-spec ops` varies to ask about inference.
"""

import functools
import math
import pathlib
import sys

import numpy as np

RNG = np.random.default_rng(20240229)
FAMILIES = {}
F32, F16, F64, I32, I64, I8, U8, BOOL = "float32", "float16", "float64", "int32", "int64", "int8", "uint8", "bool"
DYADIC = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -3.0, 0.25]
WHOLE = [-7, -4, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7]


class Shape(tuple):
    """A literal shape as argument."""


class Prim:
    """A literal scalar as argument."""

    def __init__(self, value):
        self.value = value


class Args(list):
    """Several tensors in a tuple."""


def exact(dtype, shape, shift=0, without_zero=False):
    """Data on which arithmetic is exact; neighbours differ, and some elements repeat."""
    count = int(np.prod(shape))
    if dtype == BOOL:
        return np.array([(i + shift) % 3 == 0 for i in range(count)]).reshape(shape)
    pool = DYADIC if dtype.startswith("float") else WHOLE
    if dtype.startswith("uint"):
        pool = [abs(x) for x in pool]
    if without_zero:
        pool = [x for x in pool if x != 0]
    return np.array([pool[(5 * i + 3 * shift) % len(pool)] for i in range(count)], dtype=dtype).reshape(shape)


def wild(dtype, shape, low=-3.0, high=3.0):
    return RNG.uniform(low, high, size=shape).astype(dtype)


def dtype_name(array):
    return "bool" if array.dtype == np.bool_ else array.dtype.name


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    x = float(x)
    return str(int(x)) if x == int(x) and abs(x) < 2**53 and not (x == 0 and math.copysign(1, x) < 0) else repr(x)


def value(array):
    if isinstance(array, Shape):
        return f"Shape({list(array)})"
    if isinstance(array, (tuple, list)):
        return "Tuple([" + ", ".join(value(x) for x in array) + "])"
    array = np.asarray(array)
    dims = ", ".join(str(d) for d in array.shape)
    head = f'Tensor(dtype: "{dtype_name(array)}", shape: [{dims}], '
    flat = array.reshape(-1)
    large = array.dtype.kind in "iu" and any(abs(int(x)) >= 2**53 for x in flat)
    if large or (array.dtype.kind == "f" and not np.isfinite(flat).all()):
        return head + f'bits: "{np.ascontiguousarray(array).tobytes().hex()}")'
    return head + "values: [" + ", ".join(number(x) for x in flat) + "])"


def info(array):
    if isinstance(array, (tuple, list)):
        return "Tuple([" + ", ".join(info(x) for x in array) + "])"
    array = np.asarray(array)
    dims = ", ".join(str(d) for d in array.shape)
    return f'Tensor(shape: [{dims}], dtype: "{dtype_name(array)}")'


def annotation(array):
    dims = ", ".join(str(d) for d in array.shape) + ("," if array.ndim == 1 else "")
    return f'R.Tensor(({dims}), "{dtype_name(array)}")'


def attr(x):
    if isinstance(x, str):
        return f'"{x}"'
    return repr(x)


def program(name, args, attrs):
    """The text of the program, and its arguments."""
    params, values, actual = [], [], []

    def tensor(array):
        params.append(f"x{len(params)}: {annotation(array)}")
        values.append(array)
        return f"x{len(params) - 1}"

    for arg in args:
        if isinstance(arg, Args):
            names = [tensor(np.asarray(a)) for a in arg]
            actual.append("(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")")
        elif isinstance(arg, Shape):
            actual.append("R.shape([" + ", ".join(str(d) for d in arg) + "])")
        elif isinstance(arg, Prim):
            actual.append(str(arg.value))
        else:
            actual.append(tensor(np.asarray(arg)))
    actual += [f"{key}={attr(x)}" for key, x in attrs.items()]
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main({", ".join(params)}) -> R.Object:
        y = R.{name}({", ".join(actual)})
        return y
"""
    return text, values


def described(arg):
    """An argument as the reason of a case names it: its datatype and shape, or what is written in its place."""
    if isinstance(arg, Args):
        return "a tuple of " + " and ".join(described(a) for a in arg)
    if isinstance(arg, Shape):
        return f"the shape {list(arg)}"
    if isinstance(arg, Prim):
        return f"the literal {arg.value}"
    array = np.asarray(arg)
    return f"{dtype_name(array)} of shape {list(array.shape)}" if array.ndim else f"a scalar of {dtype_name(array)}"


#: What the three kinds of data are there for.
DATA = {"exact": "data on which no rounding shows", "wild": "data drawn from a seed", "special": "what lies at the ends of the type"}


def particular(args, attrs):
    """What tells a call from the others of its operator: what it is called with, and the attributes that are given."""
    given = ", ".join(described(arg) for arg in args) or "nothing"
    named = ", ".join(f"{key}={x!r}" for key, x in attrs.items()).replace('"', "'")
    return given + (f"; {named}" if named else "")


def ask(kind, text, rest):
    return f'{kind}(Script(r#"{text}"#), "main", {rest})'


class Op:
    """The cases of one operator. `reference` takes the arguments and the attributes."""

    def __init__(self, out, name, reference, has_attrs=False):
        self.out, self.name, self.reference, self.has_attrs = out, name, reference, has_attrs
        self.count = 0
        self.inferred = False

    def rules(self, clause):
        clauses = [clause] + (["attrs"] if self.has_attrs else [])
        return "[" + ", ".join(f'"OPS.{self.name}.{c}"' for c in clauses) + "]"

    def case(self, kind, args, attrs=None, within=None, why=None, expected=None, also=(), known=None, allow=None, literal=None, unknown="the size depends on the values"):
        """`within` is the class and its measures as text; without it the result must be the same bits.

        `allow` is an outcome as text, where there is no result. `literal` is an erratum and what is computed in its
        literal reading.
        """
        attrs = attrs or {}
        self.count += 1
        text, values = program(self.name, args, attrs)
        if expected is None and allow is None:
            plain = [a.value if isinstance(a, Prim) else a for a in args]
            with np.errstate(all="ignore"):
                expected = self.reference(*plain, **attrs)
        allow = allow or ", ".join(f"Returns({value(x)})" for x in (expected, *also))
        why = why or f"by NumPy, on {DATA[kind]}: {particular(args, attrs)}"
        bound = f"\n        within: {within}," if within else ""
        if literal is not None:
            erratum, result = literal
            bound += f'\n        literal: Returns({value(result)}),\n        erratum: "{erratum}",'
        arguments = "[" + ", ".join(value(v) for v in values) + "]"
        self.out.append(
            f"""    Case(
        id: "ops/{self.name}-{self.count}-{kind}",
        rules: {self.rules("value")},
        ask: {ask("Evaluate", text, arguments)},
        allow: [{allow}],{bound}
        why: "{why}",
    ),"""
        )
        if not self.inferred:
            self.inferred = True
            inferred_why = unknown if known else f"the shape and the datatype of what NumPy computes: {particular(args, attrs)}"
            self.out.append(
                f"""    Case(
        id: "ops/{self.name}-infer",
        rules: {self.rules("infer")},{FIRST_EDITION if self.name in PLACED else ""}
        ask: {ask("DeriveVar", text, '"y"')},
        allow: [{known or info(expected)}],
        why: "{inferred_why}",
    ),"""
            )
        return self


#: Operators whose result lies on a device, of which later editions say on which.
PLACED = ("to_vdevice",)
FIRST_EDITION = '\n        editions: ["2023-02"],'


def family(function):
    FAMILIES[function.__name__] = function
    return function


def cast(dtype):
    return lambda x: np.asarray(x).astype(dtype)


ELEMENTARY = "(class: Elementary)"
ROUNDED = "(class: Rounded)"


def in_extended(f):
    """Computed in the widest floats and rounded once.

    NumPy's elementary functions of float32 and float64 differ in the last place from processor to processor; that of
    the C library for wider floats, rounded, is the same on all of them.
    """
    return lambda *xs, **kw: np.asarray(f(*[np.asarray(x).astype(np.longdouble) for x in xs], **kw)).astype(np.asarray(xs[0]).dtype)


ERF = np.vectorize(math.erf, otypes=[F64])
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 1.0, -1.0], dtype=F32)
#: Elementary functions: formula, a point where it is exact, the range of wild data.
FUNCTIONS = {
    "acos": (np.arccos, 1.0, (-1, 1)),
    "acosh": (np.arccosh, 1.0, (1, 9)),
    "asin": (np.arcsin, 0.0, (-1, 1)),
    "asinh": (np.arcsinh, 0.0, (-5, 5)),
    "atan": (np.arctan, 0.0, (-5, 5)),
    "atanh": (np.arctanh, 0.0, (-0.95, 0.95)),
    "cos": (np.cos, 0.0, (-3, 3)),
    "cosh": (np.cosh, 0.0, (-4, 4)),
    "erf": (ERF, 0.0, (-2, 2)),
    "exp": (np.exp, 0.0, (-5, 5)),
    "log": (np.log, 1.0, (0.05, 9)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1.0, (0.1, 9)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 0.0, (-5, 5)),
    "sin": (np.sin, 0.0, (-3, 3)),
    "sinh": (np.sinh, 0.0, (-4, 4)),
    "tan": (np.tan, 0.0, (-1.2, 1.2)),
    "tanh": (np.tanh, 0.0, (-4, 4)),
}


@family
def unary(op):
    for name, (f, point, (low, high)) in FUNCTIONS.items():
        o = op(name, in_extended(f))
        o.case("exact", [np.full((2, 3), point, F32)])
        o.case("exact", [np.full((4,), point, F64)])
        o.case("wild", [wild(F32, (2, 5), low, high)], within=ELEMENTARY)
        o.case("wild", [wild(F64, (2, 1, 3), low, high)], within=ELEMENTARY)
        o.case("wild", [wild(F16, (7,), low, high)], within=ELEMENTARY)
        o.case("special", [SPECIAL], within=ELEMENTARY)
    o = op("sqrt", np.sqrt)
    o.case("exact", [np.array([[0, 0.25, 1], [4, 2.25, 9]], F32)])
    o.case("wild", [wild(F32, (2, 5), 0, 100)], within=ROUNDED)
    o.case("wild", [wild(F64, (5,), 0, 100)], within=ROUNDED)
    o.case("special", [SPECIAL])
    for name, f, dtypes in [
        ("abs", np.abs, (F32, F16, I32, I8, U8)),
        ("negative", np.negative, (F32, F16, I32, I8)),
        ("sign", np.sign, (F32, I32)),
        ("square", np.square, (F32, I32, I8, U8)),
    ]:
        o = op(name, f)
        for dtype in dtypes:
            o.case("exact", [exact(dtype, (2, 3))])
        o.case("exact", [np.array([-128, 127, -1], I8)], why="integers wrap")
        if name != "sign":
            o.case("special", [SPECIAL])
        o.case("wild", [wild(F32, (2, 5))], within=ROUNDED)
    halves = np.array([[-2.5, -1.5, -0.5, 0.5], [1.5, 2.5, 0.75, -3.25]], F32)
    for name, f in [("ceil", np.ceil), ("floor", np.floor), ("round", np.round), ("trunc", np.trunc)]:
        o = op(name, f)
        o.case("exact", [halves])
        o.case("exact", [halves.astype(F64)])
        o.case("wild", [wild(F32, (2, 5), -100, 100)])
        o.case("special", [SPECIAL])
    for name, f in [("isfinite", np.isfinite), ("isinf", np.isinf), ("isnan", np.isnan)]:
        o = op(name, f)
        o.case("exact", [exact(F32, (2, 3))])
        o.case("special", [SPECIAL])
        o.case("special", [SPECIAL.astype(F64)])
    o = op("bitwise_not", np.bitwise_not)
    for dtype in (I32, U8, I8):
        o.case("exact", [exact(dtype, (2, 3))])
    o = op("logical_not", np.logical_not)
    o.case("exact", [exact(BOOL, (2, 3))])
    o.case("exact", [exact(BOOL, (4,), 1)])
    o = op("clip", lambda x, a, b: np.clip(x, x.dtype.type(a), x.dtype.type(b)))
    o.case("exact", [exact(F32, (2, 3)), Prim(-1), Prim(2)])
    o.case("exact", [exact(I32, (2, 3)), Prim(-2), Prim(4)])
    o.case("wild", [wild(F32, (7,)), Prim(-1), Prim(2)])


@family
def activation(op):
    o = op("nn.relu", lambda x: np.maximum(x, np.zeros_like(x)))
    for dtype in (F32, F16, I32):
        o.case("exact", [exact(dtype, (2, 3))])
    o.case("wild", [wild(F32, (2, 5))])
    tanh_gelu = lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    selu = lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))
    absolute = "(class: Absolute, magnitude: 4.0)"
    for name, f in [
        ("nn.gelu", lambda x: 0.5 * x * (1 + ERF(x / np.sqrt(2)))),
        ("nn.gelu_tanh", tanh_gelu),
        ("nn.silu", lambda x: x / (1 + np.exp(-x))),
        ("nn.selu", selu),
    ]:
        o = op(name, in_extended(f))
        o.case("exact", [np.zeros((2, 3), F32)])
        o.case("wild", [wild(F32, (2, 5))], within=absolute)
        o.case("wild", [wild(F64, (5,))], within=absolute)
    leaky = lambda x, alpha=0.01: np.where(x > 0, x, x.dtype.type(alpha) * x)
    o = op("nn.leakyrelu", leaky, True)
    o.case("exact", [exact(F32, (2, 3))], {"alpha": 0.25})
    o.case("wild", [wild(F32, (2, 5))], within=ELEMENTARY)
    o.case("wild", [wild(F64, (5,))], {"alpha": 0.3}, within=ELEMENTARY)
    o = op("nn.prelu", lambda x, a, axis=1: np.where(x > 0, x, x * np.expand_dims(a, tuple(range(1, x.ndim - axis)))), True)
    o.case("exact", [exact(F32, (2, 3)), np.array([0.5, 0.25, 2.0], F32)])
    o.case("exact", [exact(F32, (2, 3, 2)), np.array([0.5, 0.25, 2.0], F32)], {"axis": 1})
    softplus = lambda x, beta=1.0, threshold=20.0: np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)
    o = op("nn.softplus", in_extended(softplus), True)
    o.case("wild", [wild(F32, (2, 5))], within=ELEMENTARY)
    o.case("wild", [wild(F32, (4,))], {"beta": 2.0, "threshold": 3.0}, within=ELEMENTARY)
    o.case("exact", [np.array([[30.0, 64.0]], F32)])
    o.case("exact", [np.array([1.5, 2.0, 3.0], F32)], {"threshold": 1.0}, why="elements above the threshold are themselves")


def wrapped(f):
    """On integers, without promotion."""
    return lambda x, y: f(x, y).astype(x.dtype)


def binary_cases(o, dtypes, without_zero=False):
    for dtype in dtypes:
        o.case("exact", [exact(dtype, (2, 3)), exact(dtype, (2, 3), 1, without_zero)])
    dtype = dtypes[0]
    o.case("exact", [exact(dtype, (2, 1)), exact(dtype, (3,), 2, without_zero)], why="the shapes are broadcast")
    o.case("exact", [exact(dtype, (2, 1, 3)), exact(dtype, (4, 1), 1, without_zero)], why="the shapes are broadcast")


def truncated(x, y):
    if x.dtype.kind == "f":
        return x / y
    return np.trunc(x.astype(F64) / y.astype(F64)).astype(x.dtype)


@family
def binary(op):
    for name, f in [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply)]:
        o = op(name, f)
        binary_cases(o, (F32, F16, F64, I32, I64, I8, U8))
        o.case("exact", [np.array([127, -128, 100], I8), np.array([1, -1, 100], I8)], why="integers wrap")
        o.case("wild", [wild(F32, (2, 5)), wild(F32, (2, 5))], within=ROUNDED)
        o.case("wild", [wild(F16, (5,)), wild(F16, (5,))], within=ROUNDED)
        o.case("special", [SPECIAL, np.full((8,), 2.0, F32)])
    o = op("divide", truncated)
    o.case("exact", [exact(F32, (2, 3)), np.array([0.5, 2.0, -4.0], F32)])
    o.case("exact", [exact(I32, (2, 3)), exact(I32, (2, 3), 1, True)])
    o.case("wild", [wild(F32, (2, 5)), wild(F32, (2, 5), 0.5, 4)], within=ROUNDED)
    o.case("special", [SPECIAL, np.zeros((8,), F32)])
    zero = [np.array([7, -7], I32), np.array([2, 0], I32)]
    o.case("special", zero, allow='Fails("PURE.ERR.OP")', why="an integer divided by zero is an error")
    o = op("floor_divide", np.floor_divide)
    o.case("exact", [exact(F32, (2, 3)), np.array([0.5, 2.0, -4.0], F32)])
    binary_cases(o, (I32, I64), True)
    o = op("mod", np.fmod)
    o.case("exact", [exact(F32, (2, 3)), np.array([0.75, 2.0, 4.0], F32)])
    binary_cases(o, (I32, I64), True)
    o = op("floor_mod", np.mod)
    o.case("exact", [exact(F32, (2, 3)), np.array([0.75, 2.0, 4.0], F32)])
    binary_cases(o, (I32, I64), True)
    o = op("power", in_extended(np.power))
    o.case("exact", [np.array([[1, 2, 4], [0.5, 3, 1.5]], F32), np.array([2, 3, 1], F32)])
    o.case("wild", [wild(F32, (2, 5), 0.2, 4), wild(F32, (5,))], within=ELEMENTARY)
    o.case("wild", [wild(F64, (2, 1), 0.2, 4), wild(F64, (5,))], within=ELEMENTARY)
    for name, f in [("maximum", np.maximum), ("minimum", np.minimum)]:
        o = op(name, f)
        binary_cases(o, (F32, F16, I32, I64, I8, U8))
        o.case("wild", [wild(F32, (2, 5)), wild(F32, (2, 5))])
        # NaN or the number: neither the documentation nor the wheels prefer one.
        x, y = np.array([np.nan, 1.0], F32), np.array([1.0, 2.0], F32)
        o.case("special", [x, y], also=[np.array([1.0, f(1.0, 2.0)], F32)], why="NaN, or the other element")
    o = op("atan2", in_extended(np.arctan2))
    o.case("exact", [np.zeros((2, 3), F32), np.ones((2, 3), F32)])
    o.case("wild", [wild(F32, (2, 5)), wild(F32, (2, 5))], within=ELEMENTARY)
    o.case("wild", [wild(F64, (2, 1)), wild(F64, (5,))], within=ELEMENTARY)
    o = op("log_add_exp", in_extended(np.logaddexp))
    o.case("wild", [wild(F32, (2, 5)), wild(F32, (2, 5))], within="(class: Absolute, magnitude: 4.0)")
    o.case("wild", [wild(F64, (2, 1)), wild(F64, (5,))], within="(class: Absolute, magnitude: 4.0)")


@family
def comparison(op):
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        o = op(name, getattr(np, name))
        binary_cases(o, (F32, F16, I32, I64, U8))
        o.case("special", [SPECIAL, SPECIAL[::-1].copy()])


@family
def logical(op):
    for name in ("logical_and", "logical_or", "logical_xor"):
        binary_cases(op(name, getattr(np, name)), (BOOL,))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        binary_cases(op(name, getattr(np, name)), (I32, I64, U8, BOOL))
    for name in ("left_shift", "right_shift"):
        o = op(name, getattr(np, name))
        for dtype in (I32, I64, U8):
            o.case("exact", [exact(dtype, (2, 3)), np.array([0, 1, 3], dtype)])
        o.case("exact", [np.array([[1 << 30], [-5]], I32), np.array([1, 2, 31], I32)])
        far = [exact(I32, (3,)), np.array([1, 32, 2], I32)]
        o.case("special", far, allow="Unspecified", why="a shift by as many bits as there are is left open")


@family
def creation(op):
    zeros = lambda shape, dtype=None: np.zeros(shape, dtype)
    ones = lambda shape, dtype=None: np.ones(shape, dtype)
    for name, f in [("zeros", zeros), ("ones", ones)]:
        o = op(name, f, True)
        for dtype, shape in [(F32, (2, 3)), (I64, (4,)), (BOOL, ()), (F16, (2, 0))]:
            o.case("exact", [Shape(shape)], {"dtype": dtype})
    fill = lambda shape, x, dtype=None: np.full(shape, x, dtype or x.dtype)
    o = op("full", fill, True)
    o.case("exact", [Shape((2, 3)), np.array(1.5, F32)])
    o.case("exact", [Shape((2, 3)), np.array(3, I32)], {"dtype": F32})
    for name, f in [("zeros_like", np.zeros_like), ("ones_like", np.ones_like)]:
        o = op(name, lambda x, dtype=None, f=f: f(x, dtype=dtype or x.dtype), True)
        o.case("exact", [exact(F32, (2, 3))])
        o.case("exact", [exact(I32, (4,))], {"dtype": F16})
    o = op("full_like", lambda x, v, dtype=None: np.full(x.shape, v, dtype or x.dtype), True)
    o.case("exact", [exact(F32, (2, 3)), np.array(1.5, F32)])
    o.case("exact", [exact(I32, (4,)), np.array(2, I32)], {"dtype": F32})
    o = op("arange", lambda a, b, c, dtype=None: np.arange(a, b, c).astype(dtype), True)
    o.case("exact", [Prim(1), Prim(8), Prim(3)], {"dtype": I64})
    o.case("exact", [Prim(0), Prim(5), Prim(1)], {"dtype": F32})
    o.case("exact", [Prim(5), Prim(-1), Prim(-3)], {"dtype": I32})
    eye = lambda n, m, k, dtype=F32: np.eye(n, m, k, dtype)
    o = op("eye", eye, True)
    o.case("exact", [Prim(3), Prim(4), Prim(0)], {"dtype": F32})
    o.case("exact", [Prim(3), Prim(4), Prim(1)], {"dtype": I32})
    o.case("exact", [Prim(4), Prim(3), Prim(-2)], {"dtype": F32})
    o = op("eye_like", lambda x, k, dtype=None: np.eye(*x.shape, k, dtype or x.dtype), True)
    o.case("exact", [exact(F32, (2, 3)), Prim(0)])
    o.case("exact", [exact(I32, (4, 3)), Prim(1)], {"dtype": F32})

    def one_hot(x, on, off, depth, axis=-1):
        hot = np.moveaxis(np.arange(depth) == x[..., None], -1, axis)
        return np.where(hot, on, off).astype(I64)

    o = op("one_hot", one_hot, True)
    o.case("exact", [np.array([[0, 2, 1], [3, 0, 0]], I64), Prim(1), Prim(0)], {"depth": 4})
    o.case("exact", [np.array([1, 2], I32), Prim(5), Prim(-1)], {"depth": 3, "axis": 0})
    for name, f in [("tril", np.tril), ("triu", np.triu)]:
        o = op(name, lambda x, k=0, f=f: f(x, k), True)
        o.case("exact", [exact(F32, (3, 4))])
        o.case("exact", [exact(F32, (3, 4))], {"k": 1})
        o.case("exact", [exact(I32, (2, 3, 3))], {"k": -1})


def coded(dtype, codes):
    """The outcome of a case: elements of a type that NumPy does not have."""
    return f'Returns(Tensor(dtype: "{dtype}", shape: [{len(codes)}], bits: "{bytes(codes).hex()}"))'


@family
def conversion(op):
    o = op("astype", lambda x, dtype: x.astype(dtype), True)
    o.case("exact", [exact(F32, (2, 3))], {"dtype": I32}, why="towards zero")
    o.case("exact", [exact(I32, (2, 3))], {"dtype": F16})
    o.case("exact", [np.array([300, -129, 127], I32)], {"dtype": I8}, why="integers wrap")
    o.case("exact", [exact(F32, (2, 3))], {"dtype": BOOL})
    o.case("exact", [exact(BOOL, (2, 3))], {"dtype": F32})
    o.case("wild", [wild(F64, (5,))], {"dtype": F32})
    o.case("wild", [wild(F32, (5,))], {"dtype": F16})
    beyond = np.array([np.nan, 1e20, -3.5], F32)
    o.case("special", [beyond], {"dtype": I32}, allow="Unspecified", why="int32 holds neither NaN nor 1e20")
    # With 3 bits of fraction 16 is followed by 18, 448 is the last, and from 464, half way to 480, there is only NaN.
    near = np.array([17, 19, -0.3, 464, 465, 1e9, 1 / 1024, 3 / 1024], F32)
    o.case("narrow", [near], {"dtype": "float8_e4m3fn"}, allow=coded("float8_e4m3fn", [0x58, 0x5A, 0xAA, 0x7E, 0x7F, 0x7F, 0, 2]),
           why="17 and 19 lie half way, 0.3 nearest to 0.3125; the least number is 1 / 512, so that 1 / 1024 and 3 / 1024 lie half way")
    # With 2 bits 57344 is the last, and 61440 half way to what would follow.
    near = np.array([9, 11, 61439, 61440, -1e9, np.inf], F32)
    o.case("narrow", [near], {"dtype": "float8_e5m2"}, allow=coded("float8_e5m2", [0x48, 0x4A, 0x7B, 0x7C, 0xFC, 0x7C]),
           why="9 and 11 lie half way; what rounds to more than 57344 is infinite")
    o.case("narrow", [np.array([2.5, -5, 7, 0.25, -1e9], F32)], {"dtype": "float4_e2m1fn"},
           allow=coded("float4_e2m1fn", [4, 0xE, 7, 0, 0xF]), why="the numbers are 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their opposites")
    o.case("narrow", [np.array([9, -9, 3, -1], I32)], {"dtype": "int4"}, allow=coded("int4", [0xF9, 7, 3, 0xFF]), why="integers wrap")
    o.case("narrow", [np.array([8.9, -9, -0.5, 200], F32)], {"dtype": "uint4"}, allow=coded("uint4", [8, 7, 0, 8]),
           why="towards zero, then the lowest 4 bits")
    o.case("narrow", [np.array([5, -1, 3], I32)], {"dtype": "uint2"}, allow=coded("uint2", [1, 3, 3]), why="integers wrap")


def splits(x, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int):
        size = x.shape[axis]
        step = -(-size // indices_or_sections)
        indices_or_sections = [min(step * i, size) for i in range(1, indices_or_sections)]
    return tuple(np.split(x, indices_or_sections, axis))


@family
def manipulation(op):
    o = op("reshape", lambda x, shape: x.reshape(shape))
    o.case("exact", [exact(F32, (2, 3)), Shape((3, 2))])
    o.case("exact", [exact(I32, (2, 3, 2)), Shape((12,))])
    o = op("flatten", lambda x: x.reshape(-1))
    o.case("exact", [exact(F32, (2, 3))])
    o.case("exact", [exact(I32, ())])
    o.case("exact", [exact(F32, (2, 1, 3))])
    o = op("permute_dims", lambda x, axes=None: np.transpose(x, axes), True)
    o.case("exact", [exact(F32, (2, 3))])
    o.case("exact", [exact(I32, (2, 3, 4))], {"axes": [1, 2, 0]})
    o.case("exact", [exact(F32, (2, 3, 4))], {"axes": [-1, 0, 1]})
    o = op("expand_dims", lambda x, axis: np.expand_dims(x, tuple(axis)), True)
    o.case("exact", [exact(F32, (2, 3))], {"axis": [1]})
    o.case("exact", [exact(F32, (2, 3))], {"axis": [0, -1]})
    o = op("squeeze", lambda x, axis=None: np.squeeze(x, axis if axis is None else tuple(axis)), True)
    o.case("exact", [exact(F32, (1, 3, 1))])
    o.case("exact", [exact(F32, (1, 3, 1))], {"axis": [0]})
    o.case("exact", [exact(I32, (2, 1, 3))], {"axis": [-2]})
    o = op("concat", lambda xs, axis=0: np.concatenate(xs, axis), True)
    o.case("exact", [Args([exact(F32, (2, 3)), exact(F32, (1, 3), 1)])])
    o.case("exact", [Args([exact(I32, (2, 3)), exact(I32, (2, 1), 1), exact(I32, (2, 2), 2)])], {"axis": -1})
    o = op("split", splits, True)
    o.case("exact", [exact(F32, (2, 5))], {"indices_or_sections": 2, "axis": 1})
    o.case("exact", [exact(F32, (6, 2))], {"indices_or_sections": 3})
    o.case("exact", [exact(I32, (2, 6))], {"indices_or_sections": [1, 4], "axis": -1})
    o = op("broadcast_to", lambda x, shape: np.broadcast_to(x, shape).copy())
    o.case("exact", [exact(F32, (2, 1)), Shape((4, 2, 3))])
    o.case("exact", [exact(I32, (3,)), Shape((2, 3))])
    o = op("tile", lambda x, repeats: np.tile(x, repeats), True)
    o.case("exact", [exact(F32, (2, 3))], {"repeats": [2, 1]})
    o.case("exact", [exact(I32, (3,))], {"repeats": [2, 2]})
    o.case("exact", [exact(F32, (2, 1, 3))], {"repeats": [2]})
    o = op("repeat", lambda x, repeats, axis=None: np.repeat(x, repeats, axis), True)
    o.case("exact", [exact(F32, (2, 3))], {"repeats": 2, "axis": 1})
    o.case("exact", [exact(I32, (2, 3))], {"repeats": 3})
    o = op("flip", lambda x, axis: np.flip(x, axis).copy(), True)
    o.case("exact", [exact(F32, (2, 3))], {"axis": 1})
    o.case("exact", [exact(I32, (2, 3, 2))], {"axis": -2})
    o = op("stack", lambda xs, axis=0: np.stack(xs, axis), True)
    o.case("exact", [Args([exact(F32, (2, 3)), exact(F32, (2, 3), 1)])])
    o.case("exact", [Args([exact(I32, (2,)), exact(I32, (2,), 1), exact(I32, (2,), 2)])], {"axis": -1})
    o = op("size", lambda x: np.array(x.size, I64))
    o.case("exact", [exact(F32, (2, 3))])
    o.case("exact", [exact(F32, ())])
    o.case("exact", [exact(I32, (2, 0, 4))])
    o = op("shape_to_tensor", lambda shape: np.array(shape, I64))
    o.case("exact", [Shape((2, 3))])
    o.case("exact", [Shape((5,))])
    o.case("exact", [Shape((4, 1, 2, 7))])
    o = op("tensor_to_shape", lambda x: Shape(int(d) for d in x))
    o.case("exact", [np.array([2, 3], I64)], known="Shape(ndim: 2)")
    o.case("exact", [np.array([7], I64)])
    o.case("exact", [np.array([4, 1, 0], I64)])


def axes(axis):
    return None if axis is None else tuple(axis) if isinstance(axis, list) else axis


def accumulated(length, magnitude):
    return f"(class: Accumulated, length: {length}, magnitude: {magnitude!r})"


@family
def reductions(op):
    def reduction(f, dtype=None):
        def run(x, axis=None, keepdims=False):
            wide = x.astype(F64) if x.dtype.kind == "f" else x
            return np.asarray(f(wide, axis=axes(axis), keepdims=keepdims)).astype(dtype or x.dtype)

        return run

    for name, f, dtypes in [
        ("sum", np.sum, (F32, I32, I64)),
        ("mean", np.mean, (F32,)),
        ("max", np.max, (F32, F16, I32, U8)),
        ("min", np.min, (F32, F16, I32, U8)),
        ("prod", np.prod, (F32, I32)),
        ("variance", np.var, (F32,)),
        ("std", np.std, (F32,)),
    ]:
        o = op(name, reduction(f), True)
        statistics = name in ("mean", "variance", "std")
        for dtype in dtypes:
            x = np.array([[1, -3], [5, 1], [2, 4], [-2, 8]], dtype) if statistics else exact(dtype, (4, 3), 1, name == "prod")
            if name in ("std", "variance"):
                x = np.array([[1, 3], [5, 3], [1, 3], [5, 3]], dtype)
            o.case("exact", [x], {"axis": [0]})
            o.case("exact", [x], {"axis": [-2], "keepdims": True})
            if name not in ("prod", "std"):
                o.case("exact", [x[:2]], {})
                o.case("exact", [np.stack([x[:2], x[2:]])], {"axis": [0, 1]})
        x = wild(F32, (8, 4))
        if name in ("max", "min"):
            o.case("wild", [x], {"axis": [1]})
        else:
            spread = {"mean": 12.0, "sum": 24.0, "prod": float(np.abs(np.prod(x.astype(F64), 0)).max())}.get(name, 40.0)
            o.case("wild", [x], {"axis": [0]}, within=accumulated(16, spread))
    for name, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
        o = op(name, lambda x, axis=None, keepdims=False, f=f: np.asarray(f(x, axis=axis, keepdims=keepdims), I64), True)
        o.case("exact", [exact(F32, (4, 3))], {"axis": 0})
        o.case("exact", [exact(I32, (4, 3))], {"axis": -1, "keepdims": True})
        o.case("exact", [exact(F32, (2, 3))])
        o.case("exact", [np.array([2, 5, 5, -1, -1], F32)], {"axis": 0}, why="the first of several")
        o.case("wild", [wild(F32, (3, 7))], {"axis": 1})

    def scan(f, neutral):
        def run(x, axis=None, dtype=None, exclusive=False):
            dtype = dtype or x.dtype
            out = f(x.astype(dtype), axis=axis).astype(dtype)
            if exclusive:
                axis = 0 if axis is None else axis
                first = np.full_like(np.take(out, [0], axis), neutral)
                out = np.concatenate([first, np.delete(out, -1, axis)], axis)
            return out

        return run

    for name, f, neutral in [("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)]:
        o = op(name, scan(f, neutral), True)
        x = np.array([[1, 2, -1, 3], [0.5, 2, 2, -1]], F32)
        o.case("exact", [x], {"axis": 1})
        first = np.concatenate([np.full_like(x[:1], neutral), x[1:]])
        o.case("exact", [x], {"axis": 0, "exclusive": True}, literal=("A67", f(first, axis=0)))
        o.case("exact", [exact(I32, (2, 3), 1, True)])
        o.case("exact", [exact(I32, (2, 3), 1, True)], {"axis": -1, "dtype": F32})
        o.case("wild", [wild(F32, (3, 6), 0.5, 1.5)], {"axis": 1}, within=accumulated(6, 9.0))


def places(x, axis, descending):
    keys = -x if descending else x
    return np.argsort(keys, axis=axis, kind="stable")


@family
def search(op):
    o = op("where", lambda c, x, y: np.where(c, x, y))
    o.case("exact", [exact(BOOL, (2, 3)), exact(F32, (2, 3)), exact(F32, (2, 3), 1)])
    o.case("exact", [exact(BOOL, (2, 1)), exact(I32, (3,)), exact(I32, (4, 1, 1), 1)])
    o = op("sort", lambda x, axis=-1, descending=False: np.take_along_axis(x, places(x, axis, descending), axis), True)
    for dtype in (F32, I32):
        o.case("exact", [exact(dtype, (3, 4))])
        o.case("exact", [exact(dtype, (3, 4))], {"axis": 0, "descending": True})
    o.case("wild", [wild(F32, (2, 9))], {"axis": 1})
    argsort = lambda x, axis=-1, descending=False, dtype=I32: places(x, axis, descending).astype(dtype)
    o = op("argsort", argsort, True)
    o.case("exact", [exact(F32, (3, 4))])
    o.case("exact", [exact(I32, (3, 4))], {"axis": 0, "descending": True, "dtype": I64})
    o.case("exact", [np.array([2, 1, 2, 1, 2], F32)], why="equal elements stay in their order")

    def topk(x, k=1, axis=-1, ret_type="both", largest=True, dtype=I32):
        where = places(x, axis, largest)
        if k > 0:
            where = np.take(where, range(min(k, x.shape[axis])), axis)
        values, where = np.take_along_axis(x, where, axis), where.astype(dtype)
        return {"both": (values, where), "values": values, "indices": where}[ret_type]

    o = op("topk", topk, True)
    o.case("exact", [exact(F32, (3, 5))], {"k": 2})
    o.case("exact", [exact(I32, (3, 5))], {"k": 3, "axis": 0, "largest": False, "dtype": I64})
    o.case("exact", [exact(F32, (2, 6))], {"k": 4, "ret_type": "values"})
    o.case("exact", [exact(F32, (2, 6))], {"k": 4, "ret_type": "indices"})

    def bucketize(x, bounds, out_int32=False, right=False):
        return np.searchsorted(bounds, x, side="right" if right else "left").astype(I32 if out_int32 else I64)

    o = op("bucketize", bucketize, True)
    bounds = np.array([-1, 0.5, 2], F32)
    o.case("exact", [exact(F32, (2, 4)), bounds])
    o.case("exact", [exact(F32, (2, 4)), bounds], {"right": True})
    o.case("exact", [exact(F32, (5,)), bounds], {"out_int32": True})


@family
def data_dependent(op):
    def unique(x, ordered=True, index=False, inverse=False, counts=False, axis=None):
        found = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
        values, first, back, count = found
        if not ordered:
            order = np.argsort(first)
            values, first, count = np.take(values, order, axis or 0), first[order], count[order]
            back = np.argsort(order)[back]
        parts = [values] + [p.reshape(-1).astype(I64) for p, asked in [(first, index), (back, inverse), (count, counts)] if asked]
        return parts[0] if len(parts) == 1 else tuple(parts)

    yes, no = Prim("T.bool(True)"), Prim("T.bool(False)")
    yes.value, no.value = "True", "False"
    truth = lambda *xs, **kw: unique(*[x == "True" if isinstance(x, str) else x for x in xs], **kw)
    o = op("unique", truth)
    x = np.array([[3, 1, 1], [2, 3, 1]], F32)
    o.case("exact", [x, yes, no, no, no], known='Tensor(ndim: 1, dtype: "float32")')
    o.case("exact", [x, yes, yes, yes, yes])
    o.case("exact", [x, no, yes, no, yes])
    o.case("exact", [np.array([[1, 2], [1, 2], [0, 5]], I32), yes, no, yes, no, Prim(0)])
    o = op("nonzero", lambda x: np.stack(np.nonzero(x)).astype(I64))
    o.case("exact", [exact(F32, (2, 4))], known='Tensor(ndim: 2, dtype: "int64")')
    o.case("exact", [exact(I32, (5,))])
    o.case("exact", [exact(BOOL, (2, 2, 2))])


HEAD = "// Written by tools/make_ops_cases.py with NumPy.\n"


def main(directory):
    for name, function in FAMILIES.items():
        out = []
        function(functools.partial(Op, out))
        path = pathlib.Path(directory) / f"{name}.ron"
        path.write_text(HEAD + "[\n" + "\n".join(out) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
