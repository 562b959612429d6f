#!/usr/bin/env python3
"""Writes conformance/suite/ops: cases about gradients, quantization, samples, layouts and marks, computed with NumPy.

    make_math_cases.py OUTPUT_DIRECTORY

The forms are those of `make_ops_cases.py`. Where NumPy has no function the definition in the clause is written out here.
"""

import itertools
import math
import sys

import make_nn_cases as nn
import make_ops_cases as cases
import numpy as np
from make_ops_cases import BOOL, F16, F32, F64, I8, I32, I64, ROUNDED, U8, Prim, Shape, exact, wild

cases.FAMILIES.clear()
family = cases.family
small, accumulated, absolute = nn.small, nn.accumulated, nn.absolute


class Text:
    """An attribute as it is written."""

    def __init__(self, text, value=None):
        self.text, self.value = text, value

    def __repr__(self):
        return self.text


def plain(f):
    """The attributes as values."""
    return lambda *xs, **kw: f(*xs, **{k: v.value if isinstance(v, Text) else v for k, v in kw.items()})


# Arithmetic


def fused(x, y, z):
    """Rounded once: of float16 and of exact data float64 holds the exact result."""
    if x.dtype.kind != "f":
        return x * y + z
    return (x.astype(F64) * y.astype(F64) + z.astype(F64)).astype(x.dtype)


@family
def ternary(op):
    o = op("ewise_fma", fused)
    for dtype in (F32, F64, I32, I8, U8):
        o.case("exact", [exact(dtype, (2, 3)), exact(dtype, (2, 3), 1), exact(dtype, (2, 3), 2)])
    o.case("exact", [np.array([100, -128, 127], I8), np.array([2, 1, 127], I8), np.array([0, -1, 1], I8)], why="integers wrap")
    x = np.array([1 + 2**-23, 1 - 2**-24, 3.0], F32)
    why = "the product has more digits than float32, and all of them count: what is left of the subtraction is its error"
    o.case("exact", [x, x, -(x * x)], why=why)
    half = np.array([1 + 2**-12], F32)
    tie = "the exact sum is next to a tie between two floats, on the side of its least digit, which float64 rounds away"
    o.case("exact", [half, half, np.array([2.0**-60], F32)], expected=np.array([1 + 2**-11 + 2**-23], F32), why=tie)
    o.case("wild", [wild(F16, (7,)), wild(F16, (7,)), wild(F16, (7,))], within=ROUNDED)
    below = "the exact sum is next to a tie between two floats, on the other side of it"
    o.case("exact", [half, half, np.array([-(2.0**-60)], F32)], expected=np.array([1 + 2**-11], F32), why=below)
    long = np.array([1 + 2.0**-52], F64)
    left = "the square is 1 + 2^-51 + 2^-104, of which float64 has no more than the first two"
    o.case("exact", [long, long, np.array([-(1 + 2.0**-51)], F64)], expected=np.array([2.0**-104], F64), why=left)


# Reductions


def collapse(x, shape):
    extra = x.ndim - len(shape)
    x = x.sum(axis=tuple(range(extra)), dtype=x.dtype)
    ones = tuple(i for i, size in enumerate(shape) if size == 1)
    return np.asarray(x.sum(axis=ones, keepdims=True, dtype=x.dtype)).astype(x.dtype)


def median(x, axis=None, keepdims=False):
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in (axis if isinstance(axis, list) else [axis]))
    kept = [i for i in range(x.ndim) if i not in axes]
    lines = np.transpose(x, [*kept, *sorted(axes)]).reshape(*[x.shape[i] for i in kept], -1)
    order = np.argsort(lines, axis=-1, kind="stable")
    place = order[..., (lines.shape[-1] - 1) // 2]
    value = np.take_along_axis(lines, place[..., None], -1)[..., 0]
    if keepdims:
        place, value = np.expand_dims(place, axes), np.expand_dims(value, axes)
    return (value, np.asarray(place, I64)) if axis is not None and len(axes) == 1 else np.asarray(value)


@family
def collapsing(op):
    o = op("collapse_sum_to", collapse)
    o.case("exact", [exact(F32, (2, 3)), Shape((3,))])
    o.case("exact", [exact(F32, (4, 2, 3)), Shape((2, 1))])
    o.case("exact", [exact(I32, (2, 3)), Shape((2, 3))], why="nothing is summed")
    o.case("exact", [np.full((3, 2), 100, I8), Shape((1, 2))], why="integers wrap")
    o.case("exact", [exact(F32, (2, 1, 3)), Shape(())], why="all is summed")
    o.case("exact", [np.zeros((0, 2), F32), Shape((1, 2))], why="the sum of nothing is zero")
    o.case("wild", [wild(F32, (3, 5)), Shape((1, 5))], within=accumulated(3, 9))
    o = op("collapse_sum_like", lambda x, y: collapse(x, y.shape))
    o.case("exact", [exact(F32, (2, 3)), exact(F32, (3,), 1)])
    o.case("exact", [exact(F32, (4, 2, 3)), exact(F32, (2, 1), 1)])
    o.case("exact", [exact(I32, (2, 3)), exact(F32, (1, 1), 1)], why="the datatype of the second does not matter")
    o.case("wild", [wild(F32, (3, 5)), wild(F32, (1, 5))], within=accumulated(3, 9))
    o = op("median", median, True)
    o.case("exact", [exact(F32, (4, 3))], {"axis": [0]}, why="of four elements the lower one in the middle, and its place")
    o.case("exact", [exact(I32, (2, 5))], {"axis": [-1], "keepdims": True})
    o.case("exact", [exact(F32, (3, 3))], why="of all elements, without a place")
    o.case("exact", [exact(F32, (2, 3))], {"keepdims": True})
    o.case("exact", [exact(I32, (3, 5, 2))], {"axis": [1]})
    o.case("exact", [np.array([2, 1, 2, 1, 1], F32)], {"axis": [0]}, why="of equal elements the one that sorting puts there")
    o.case("exact", [exact(F32, (2, 3, 5))], {"axis": [0, 2]}, why="over two axes, without places")


@family
def windows(op):
    def hamming(size, periodic, alpha, beta, dtype):
        size, alpha, beta = int(size), float(alpha), float(beta)
        steps = size if periodic == "True" else size - 1
        window = [alpha - beta * math.cos(2 * math.pi * i / steps) if size > 1 else 1.0 for i in range(size)]
        return np.array(window).astype(dtype)

    o = op("hamming_window", hamming, True)
    number = lambda x: Prim(f"{x}")
    yes, no = Prim("True"), Prim("False")
    for size, periodic, alpha, beta, dtype in [
        (5, yes, 0.54, 0.46, F32),
        (8, no, 0.54, 0.46, F32),
        (6, yes, 0.5, 0.5, F64),
        (7, no, 0.25, 0.75, F16),
        (2, no, 0.75, 0.25, F32),
    ]:
        o.case("wild", [number(size), periodic, number(alpha), number(beta)], {"dtype": dtype}, within=absolute(1))
    o.case("exact", [number(1), yes, number(0.5), number(0.25)], {"dtype": F32}, why="a window of one place is 1")
    o.case("exact", [number(1), no, number(0.5), number(0.25)], {"dtype": F32}, why="a window of one place is 1")


# Samples


def multinomial(prob, sample, rows, dtype=I64):
    sums = np.cumsum(prob.astype(F64), axis=1)
    found = [min(np.searchsorted(sums[row], x, side="right"), prob.shape[1] - 1) for x, row in zip(sample[:, 0], rows[:, 0])]
    return np.array(found, dtype).reshape(-1, 1)


@family
def sampling(op):
    o = op("multinomial_from_uniform", multinomial, True)
    prob = np.array([[0.25, 0.25, 0.5], [0.125, 0.5, 0.375]], F32)
    column = lambda *xs, dtype=F32: np.array(xs, dtype).reshape(-1, 1)
    o.case("exact", [prob, column(0.4, 0.9), column(0, 1, dtype=I64)])
    o.case("exact", [prob, column(0.1, 0.3, 0.6, 0.05), column(1, 0, 0, 1, dtype=I64)], {"dtype": I32})
    tie = "a sample that equals a sum is drawn behind it"
    o.case("exact", [prob, column(0.0, 0.25, 0.5), column(0, 0, 0, dtype=I64)], why=tie)
    o.case("exact", [prob[:1], column(0.75), column(0, dtype=I64)])
    o = op("nn.dropout", lambda x, rate=0.5: (x, np.ones_like(x)), True)
    why = "outside of training nothing is dropped"
    o.case("exact", [exact(F32, (2, 3))], why=why)
    o.case("exact", [exact(F16, (4,))], {"rate": 0.25}, why=why)
    o.case("exact", [exact(F64, (2, 1, 3))], {"rate": 0.0}, why=why)
    o.case("exact", [exact(F32, ())], {"rate": 0.75}, why=why)


# Layouts


def transformed(x, index_map, pad_value=None):
    rule, sizes = index_map
    out = np.full(sizes, 0 if pad_value is None else pad_value, x.dtype)
    for index in np.ndindex(*x.shape):
        out[rule(*index)] = x[index]
    return out


def index_map(text, *sizes):
    """The map as text, and the sizes that the clause gives."""
    return Text(f"T.index_map(lambda {text})", (eval(f"lambda {text}"), sizes))


def reverse_sequence(x, lengths, seq_axis=1, batch_axis=0):
    out = x.copy()
    for i, length in enumerate(lengths):
        sequence = np.moveaxis(out.take(i, batch_axis), seq_axis - (seq_axis > batch_axis), 0).copy()
        sequence[:length] = sequence[:length][::-1].copy()
        place = [slice(None)] * x.ndim
        place[batch_axis] = i
        out[tuple(place)] = np.moveaxis(sequence, 0, seq_axis - (seq_axis > batch_axis))
    return out


@family
def layouts(op):
    o = op("layout_transform", plain(transformed), True)
    x = exact(F32, (2, 3))
    o.case("exact", [x], {"index_map": index_map("i, j: (j, i)", 3, 2)}, why="the axes change places")
    o.case("exact", [exact(F32, (8,))], {"index_map": index_map("i: (i // 4, i % 4)", 2, 4)}, why="whole blocks")
    padded = {"index_map": index_map("i: (i // 4, i % 4)", 4, 4), "pad_value": 2.0}
    o.case("exact", [exact(F32, (14,))], padded, why="the last block has two places more than elements")
    o.case("exact", [exact(I32, (3,))], {"index_map": index_map("i: (i // 4, i % 4)", 1, 4), "pad_value": 7}, why="a block is there as a whole")
    packed = {"index_map": index_map("n, c, h, w: (n, c // 2, h, w, c % 2)", 1, 2, 2, 2, 2)}
    o.case("exact", [exact(F32, (1, 4, 2, 2))], packed, why="channels in blocks of 2")
    o.case("exact", [exact(F32, (2, 4))], {"index_map": index_map("i, j: (i * 4 + j,)", 8)}, why="both axes in one")
    open_ = {"index_map": index_map("i: (i // 4, i % 4)", 2, 4)}
    o.case("special", [exact(F32, (7,))], open_, allow="Unspecified", why="padding without a value may be anything")
    o = op("reverse_sequence", reverse_sequence, True)
    o.case("exact", [exact(F32, (3, 4)), np.array([2, 0, 4], I64)])
    o.case("exact", [exact(F32, (4, 3)), np.array([4, 1, 3], I32)], {"seq_axis": 0, "batch_axis": 1})
    o.case("exact", [exact(I32, (2, 3, 2)), np.array([2, 3], I64)], {"seq_axis": 1, "batch_axis": 0})
    o.case("exact", [exact(F32, (2, 2, 3)), np.array([1, 2], I64)], {"seq_axis": -1, "batch_axis": 1})
    far = [exact(F32, (2, 3)), np.array([4, 1], I64)]
    o.case("special", far, allow="Unspecified", why="a length beyond the axis is left open")


# Quantization


def per_channel(parameter, x, axis):
    return parameter.reshape(()) if parameter.size == 1 else np.expand_dims(parameter, tuple(range(1, x.ndim - axis % x.ndim)))


def quantize(x, scale, zero, axis=-1, out_dtype=I8):
    whole = np.rint(x / per_channel(scale, x, axis)).astype(F64) + per_channel(zero, x, axis)
    limits = np.iinfo(out_dtype)
    return np.clip(whole, limits.min, limits.max).astype(out_dtype)


def dequantize(x, scale, zero, axis=-1, out_dtype=F32):
    steps = x.astype(F64) - per_channel(zero, x, axis).astype(F64)
    limits = np.finfo(out_dtype)
    return np.clip(steps * per_channel(scale, x, axis), float(limits.min), float(limits.max)).astype(out_dtype)


@family
def quantization(op):
    scalar = lambda x, dtype=F32: np.array(x, dtype)
    o = op("quantize", quantize, True)
    o.case("exact", [exact(F32, (2, 3)), scalar(0.5), scalar(1, I8)])
    o.case("exact", [np.array([0.25, 0.75, 1.25, -0.25, -0.75], F32), scalar(0.5), scalar(0, I8)], why="ties go to the even number")
    o.case("exact", [np.array([[100, -100, 3]], F32), scalar(0.5), scalar(10, U8)], {"out_dtype": U8}, why="brought into the range of uint8")
    o.case("exact", [exact(F32, (2, 3)), np.array([0.5, 0.25, 2], F32), np.array([0, 3, -2], I8)], {"axis": 1})
    o.case("exact", [exact(F32, (3, 2, 2)), np.array([0.5, 0.25, 2], F32), scalar(1, I8)], {"axis": 0})
    o.case("exact", [exact(F16, (2, 3)), scalar(0.5, F16), scalar(1, I8)])
    o.case("wild", [wild(F32, (2, 5), -20, 20), scalar(0.3), scalar(-3, I8)])
    o.case("special", [np.array([np.inf, -np.inf, 1e30], F32), scalar(0.5), scalar(0, I8)], expected=np.array([127, -128, 127], I8), why="infinity is brought into the range too")
    o = op("dequantize", dequantize, True)
    o.case("exact", [exact(I8, (2, 3)), scalar(0.5), scalar(1, I8)])
    o.case("exact", [exact(U8, (2, 3)), np.array([0.5, 0.25, 2], F32), np.array([0, 3, 1], U8)], {"axis": 1})
    o.case("exact", [exact(I8, (3, 2)), np.array([0.5, 0.25, 2], F32), np.array([0, 3, -2], I8)], {"axis": 0})
    o.case("exact", [exact(I32, (4,)), scalar(0.25), scalar(3, I32)])
    o.case("exact", [np.array([127, -128, 1], I8), scalar(1024.0), scalar(0, I8)], {"out_dtype": F16}, why="brought into the range of float16")
    o.case("wild", [exact(I8, (2, 3)), scalar(0.3), scalar(2, I8)], within=ROUNDED)


# Attention


# The arguments are in the order of the function, which is not that of the operator.
def var_len(q, k, v, starts_q, longest_q, starts_k, longest_k, **kw):
    out = np.zeros((*q.shape[:3], v.shape[3]), q.dtype)
    for i in range(len(starts_q) - 1):
        rows, columns = slice(starts_q[i], starts_q[i + 1]), slice(starts_k[i], starts_k[i + 1])
        found = nn.attention(*[x.astype(F64) for x in (q[:, rows], k[:, columns], v[:, columns])], **kw)
        out[:, rows] = found.astype(q.dtype)
    return out


@family
def attention_var_len(op):
    o = op("nn.attention_var_len", var_len, True)
    starts, longest = lambda *xs: np.array(xs, I32), lambda x: np.array(x, I32)
    ones = lambda n: np.ones((1, n, 2, 4), F32)
    own = [starts(0, 2, 4), longest(2), starts(0, 4, 6), longest(4)]
    why = "all weights are equal: a quarter in the first sequence, a half in the second"
    o.case("exact", [ones(4), ones(6), small(F32, (1, 6, 2, 2)), *own], why=why)
    rows = lambda n, size: wild(F32, (1, n, 2, size))
    o.case("wild", [rows(5, 4), rows(7, 4), rows(7, 3), starts(0, 2, 5), longest(3), starts(0, 4, 7), longest(4)], within=accumulated(40, 30))
    masked = {"scale": 0.25, "causal_mask": "BottomRight"}
    o.case("wild", [rows(5, 4), rows(7, 4), rows(7, 3), starts(0, 2, 5), longest(3), starts(0, 4, 7), longest(4)], masked, within=accumulated(40, 30))
    o.case("wild", [rows(6, 4), rows(6, 4), rows(6, 4), starts(0, 1, 3, 6), longest(3), starts(0, 1, 3, 6), longest(3)], {"causal_mask": "TopLeft"}, within=accumulated(40, 30))
    gap = [starts(0, 2, 3), longest(2), starts(0, 4, 6), longest(4)]
    o.case("special", [ones(4), ones(6), ones(6), *gap], allow="Unspecified", why="the last row belongs to no sequence")


# Gradients


def nll_backward(g, x, t, w=None, reduction="mean", ignore_index=-100):
    classes = x.shape[0] if x.ndim == 1 else x.shape[1]
    w = np.ones(classes) if w is None else w.astype(F64)
    out, total = np.zeros(x.shape), 0.0
    for place in np.ndindex(*t.shape):
        target = int(t[place])
        if target == ignore_index:
            continue
        total += w[target]
        at = (target,) if x.ndim == 1 else (place[0], target, *place[1:])
        out[at] = -w[target] * (g[place] if reduction == "none" else g[()])
    return (out / (total if reduction == "mean" else 1)).astype(x.dtype)


def pool_backward(kind):
    def f(g, x, pool_size=1, strides=1, padding=0, dilation=1, ceil_mode=False, count_include_pad=False, layout="NCHW", out_layout=None):
        y, g = nn.to_canonical(x, layout, "NCHW").astype(F64), nn.to_canonical(g, out_layout or layout, "NCHW").astype(F64)
        size, strides, dilation, padding = nn.expand(pool_size, 2), nn.expand(strides, 2), nn.expand(dilation, 2), nn.pads(padding, 2)
        out = np.zeros(y.shape)
        for n, c, *place in np.ndindex(*g.shape):
            inside, counted = [], 0
            for element in itertools.product(*map(range, size)):
                at = [p * t - before + e * d for p, t, e, d, (before, _) in zip(place, strides, element, dilation, padding)]
                counted += all(i < s + after for i, s, (_, after) in zip(at, y.shape[2:], padding))
                if all(0 <= i < s for i, s in zip(at, y.shape[2:])):
                    inside.append((n, c, *at))
            of_result = g[(n, c, *place)]
            if kind == "max":
                out[inside[int(np.argmax([y[at] for at in inside]))]] += of_result
            else:
                for at in inside:
                    out[at] += of_result / (counted if count_include_pad else len(inside))
        return nn.from_canonical(out, layout, "NCHW").astype(x.dtype)

    return f


def take_backward(g, x, indices, axis=None, mode="fast"):
    axis = 0 if axis is None else axis % x.ndim
    out = np.zeros_like(x)
    for place in np.ndindex(*g.shape):
        index = indices[place[axis : axis + indices.ndim]] % x.shape[axis]
        out[(*place[:axis], index, *place[axis + indices.ndim :])] += g[place]
    return out


@family
def gradient(op):
    tensors = [exact(F32, (2, 3)), exact(I32, (4,)), exact(F64, (2, 1, 3)), exact(BOOL, ())]
    for name in ("grad.no_grad", "grad.start_checkpoint", "grad.end_checkpoint"):
        o = op(name, lambda x: x)
        for x in tensors:
            o.case("exact", [x], why="the argument itself")
    o = op("grad.nll_loss_backward", nll_backward, True)
    x, t, w = small(F32, (4, 3)), np.array([0, 2, 1, 0], I64), np.array([1, 2, 4], F32)
    one = np.array(2, F32)
    o.case("exact", [one, x, t, w], {}, why="the weights of the targets add to 8")
    o.case("exact", [small(F32, (4,), 1), x, t, w], {"reduction": "none"})
    o.case("exact", [one, x, t], {"reduction": "sum"})
    o.case("wild", [one, x, np.array([0, 2, 1, 0], I64), w], {"reduction": "sum", "ignore_index": 2}, within=accumulated(1, 4))
    o.case("exact", [one, small(F32, (2, 3, 2)), np.array([[0, 2], [1, 1]], I64)], {"reduction": "mean"})
    o.case("exact", [one, small(F32, (3,)), np.array(1, I64)], {"reduction": "sum"}, why="the classes alone")
    o.case("exact", [one, x, np.array([0, -100, 0, 0], I64), np.array([0.5, 2, 4], F32)], {"reduction": "sum"}, why="what is ignored gives nothing")
    ignored = "what is ignored has no weight in the mean: those of the others add to 4"
    o.case("exact", [one, x, np.array([0, 2, 1, 0], I64), w], {"ignore_index": 2}, within=accumulated(1, 4), why=ignored)
    for kind in ("max", "avg"):
        o = op(f"grad.{kind}_pool2d_backward", pool_backward(kind), True)
        # No two elements are equal.
        data = np.array([(7 * i) % 41 - 20 for i in range(40)], F32).reshape(1, 2, 4, 5)
        outside = "the last column is in no window"
        o.case("exact", [small(F32, (1, 2, 2, 2), 1), data], {"pool_size": [2, 2], "strides": [2, 2]}, why=outside)
        o.case("exact", [small(F32, (1, 2, 3, 4), 1), data], {"pool_size": [2, 2]}, why="windows overlap, and what they give is added")
        padded = {"pool_size": [2, 2], "strides": [2, 2], "padding": [1, 1, 1, 1], "count_include_pad": True}
        o.case("exact", [small(F32, (1, 2, 3, 3), 1), data], padded)
        last = np.ascontiguousarray(np.moveaxis(data[..., :4], 1, -1))
        o.case("exact", [small(F32, (1, 2, 2, 2), 1), last], {"pool_size": [2, 2], "strides": [2, 2], "layout": "NHWC"})
        o.case("exact", [small(F32, (1, 2, 2, 3), 1) * 64, data], {"pool_size": [2, 2], "strides": [2, 2], "ceil_mode": True})
        o.case("exact", [small(F32, (1, 2, 2, 3), 1), data], {"pool_size": [2, 2], "dilation": [2, 2]})
        if kind == "max":
            tied, why = np.array([[[[1, 1], [0, 1]]]], F32), "of several that are the largest it is one, here the first"
            others = [np.array([[[[0, 4], [0, 0]]]], F32), np.array([[[[0, 0], [0, 4]]]], F32)]
            o.case("special", [np.array([[[[4]]]], F32), tied], {"pool_size": [2, 2]}, also=others, why=why)
        own = {"pool_size": [2, 2], "strides": [2, 2]}
        o.case("exact", [small(F32, (1, 2, 2, 2), 1), last], {**own, "layout": "NHWC", "out_layout": "NCHW"}, why="the gradient lies as the result does")
        o.case("exact", [small(F32, (1, 2, 2, 2), 1), data[..., :4]], {**own, "out_layout": "NHWC"}, why="the gradient lies as the result does")
    o = op("grad.take_backward", take_backward, True)
    x = small(F32, (4, 3))
    ints = lambda *items: np.array(items, I64)
    o.case("exact", [small(F32, (2, 3), 1), x, ints(2, 0)], {"axis": 0})
    o.case("exact", [small(F32, (4, 3), 1), x, np.array([1, 1, 0], I32)], {"axis": 1}, why="what is taken twice gives back twice")
    o.case("exact", [small(F32, (3,), 1), small(F32, (5,)), ints(4, 4, 0)], {})
    o.case("exact", [small(F32, (4, 1, 2), 1), x, np.array([[0, 2]], I64)], {"axis": -1}, why="indices of two axes")
    o.case("exact", [small(I32, (2, 3), 1), small(I32, (4, 3)), ints(1, 3)], {"axis": 0})


# Marks


@family
def marks(op):
    o = op("builtin.stop_lift_params", lambda x: x)
    for x in (exact(F32, (2, 3)), exact(I32, (4,)), exact(F64, (2, 1, 3)), exact(BOOL, ())):
        o.case("exact", [x], why="the argument itself")
    o = op("wrap_param", lambda x, dtype=F32: x.astype(dtype), True)
    o.case("exact", [exact(F32, (2, 3))], {"dtype": F16})
    o.case("exact", [exact(I32, (4,))], {}, why="by default to float32")
    o.case("exact", [exact(F16, (2, 1, 3))], {"dtype": F32})
    o.case("exact", [exact(F32, (2, 3))], {"dtype": F32}, why="already of the datatype")
    cpu = Text('"llvm:0:global"')
    o = op("to_vdevice", lambda x, dst_vdevice: x, True)
    for x in (exact(F32, (2, 3)), exact(I32, (4,)), exact(F64, (2, 1, 3)), exact(BOOL, ())):
        o.case("exact", [x], {"dst_vdevice": cpu}, why="a copy has the same elements")
    o = op("hint_on_device", lambda x, **_: x, True)
    device = {"dst_vdevice": Text("R.device(device_type=1, index=0)")}
    o.case("exact", [exact(F32, (2, 3))], device, why="a hint changes nothing")
    o.case("exact", [exact(I32, (4,))], {**device, "memory_scope": "global"}, why="a hint changes nothing")
    o.case("exact", [exact(F64, (2, 1, 3))], device, why="a hint changes nothing")
    o.case("exact", [exact(BOOL, ())], device, why="a hint changes nothing")
    o = op("null_value", lambda: None)
    why = "an object that stands for none"
    o.case("exact", [], allow="Returns(Object)", known="Object", unknown="no more is known of it", why=why)


cases.HEAD = "// Written by tools/make_math_cases.py with NumPy.\n"

if __name__ == "__main__":
    cases.main(sys.argv[1])
