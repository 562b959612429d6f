#!/usr/bin/env python3
"""Writes conformance/suite/ops: cases about networks' operators, indexing and products, computed with NumPy.

    make_nn_cases.py OUTPUT_DIRECTORY

The forms are those of `make_ops_cases.py`.
"""

import itertools
import math
import sys

import make_ops_cases as cases
import numpy as np
from make_ops_cases import ELEMENTARY, F16, F32, F64, I8, I32, I64, Args, Prim, Shape, in_extended, wild

FAMILIES = cases.FAMILIES
FAMILIES.clear()
family = cases.family


def small(dtype, shape, shift=0):
    """Integers from -3 to 3."""
    count = math.prod(shape)
    return np.array([(5 * i + 3 * shift) % 7 - 3 for i in range(count)]).reshape(shape).astype(dtype)


def accumulated(length, magnitude):
    return f"(class: Accumulated, length: {length}, magnitude: {float(magnitude)!r})"


def absolute(magnitude):
    return f"(class: Absolute, magnitude: {float(magnitude)!r})"


def axes_of(axes):
    return tuple(axes) if isinstance(axes, (list, tuple)) else (axes,)


# Softmax and normalization


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def standardized(x, axes, epsilon):
    centered = x - x.mean(axis=axes, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=axes, keepdims=True) + epsilon)


def along(parameter, rank, axes):
    """The parameter with its dimensions at the axes."""
    axes = [axis % rank for axis in axes]
    order = np.argsort(axes)
    parameter = np.transpose(parameter, order)
    return np.expand_dims(parameter, tuple(i for i in range(rank) if i not in axes))


def layer_norm(x, gamma, beta, axes, epsilon=1e-5, center=True, scale=True):
    gamma, beta = along(gamma, x.ndim, axes_of(axes)), along(beta, x.ndim, axes_of(axes))
    y = standardized(x, axes_of(axes), epsilon)
    y = y * gamma if scale else y
    return y + beta if center else y


def rms_norm(x, weight, axes=-1, epsilon=1e-5):
    square = (x * x).mean(axis=axes_of(axes), keepdims=True)
    return x / np.sqrt(square + epsilon) * along(weight, x.ndim, axes_of(axes))


def group_norm(x, gamma, beta, num_groups, channel_axis, axes, epsilon=1e-5):
    channel = channel_axis % x.ndim
    shape = list(x.shape)
    shape[channel : channel + 1] = [num_groups, x.shape[channel] // num_groups]
    inner = (channel + 1, *(axis + 1 if axis > channel else axis for axis in (a % x.ndim for a in axes)))
    y = standardized(x.reshape(shape), inner, epsilon).reshape(x.shape)
    return y * along(gamma, x.ndim, [channel]) + along(beta, x.ndim, [channel])


def instance_norm(x, gamma, beta, channel_axis, axes, epsilon=1e-5):
    y = standardized(x, tuple(axes), epsilon)
    return y * along(gamma, x.ndim, [channel_axis]) + along(beta, x.ndim, [channel_axis])


def batch_norm(x, gamma, beta, mean, var, axis, epsilon=1e-5, center=True, scale=True, momentum=0.1, training=True):
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    used, spread = (x.mean(axis=others), x.var(axis=others)) if training else (mean, var)
    y = (x - along(used, x.ndim, [axis])) / np.sqrt(along(spread, x.ndim, [axis]) + epsilon)
    y = y * along(gamma, x.ndim, [axis]) if scale else y
    y = y + along(beta, x.ndim, [axis]) if center else y
    if training:
        mean, var = momentum * mean + (1 - momentum) * used, momentum * var + (1 - momentum) * spread
    return y, mean, var


def all_float64(f):
    """As `in_extended`, for functions of several results."""

    def rounded(*xs, **kw):
        found = f(*[np.asarray(x).astype(F64) for x in xs], **kw)
        dtype = np.asarray(xs[0]).dtype
        return tuple(y.astype(dtype) for y in found) if isinstance(found, tuple) else found.astype(dtype)

    return rounded


#: Mean 0 and variance 2**20 along the last axis, and over all: with it the usual epsilon does not show in float32.
BALANCED = np.array([[[1024, -1024, 1024, -1024], [-1024, -1024, 1024, 1024]]], F32)
#: Added so that no sum is 0, where the last place of epsilon would show.
F32_HALF = np.float32(0.5)
#: Added so that no coordinate lies half-way between two elements.
F32_EIGHTH = np.float32(0.125)
#: The mean of each row is 1 or -1, and the variance 3.
SPARSE = np.array([[[0, 4, 0, 0], [0, 0, 0, -4]]], F32)
SHOWN = "exact data: the variance and epsilon add to a power of 4"
NORMAL = "exact data: the mean is 0, the variance a power of 4 in whose last place epsilon is lost"


@family
def normalization(op):
    o = op("nn.softmax", in_extended(softmax), True)
    o.case("exact", [np.full((2, 4), 7, F32)])
    o.case("exact", [np.array([[0, 0, -1000], [-2000, 5, -1000]], F32)], why="weights that vanish")
    o.case("exact", [np.full((2, 3), 1, F16)], {"axis": 0})
    o.case("wild", [wild(F32, (2, 5))], within=ELEMENTARY)
    o.case("wild", [wild(F64, (3, 2, 2))], {"axis": 1}, within=ELEMENTARY)
    o = op("nn.log_softmax", in_extended(log_softmax), True)
    o.case("wild", [wild(F32, (2, 5))], within=absolute(8))
    o.case("wild", [wild(F64, (3, 2, 2))], {"axis": 1}, within=absolute(8))
    o.case("exact", [np.array([[0, -1000], [-2000, 5]], F32)], {"axis": -1}, why="the sum is 1")
    o = op("nn.layer_norm", in_extended(layer_norm), True)
    o.case("exact", [BALANCED, small(F32, (4,)), small(F32, (4,), 1)], {"axes": [-1]}, why=NORMAL)
    o.case("exact", [BALANCED, small(F32, (2, 4)), small(F32, (2, 4), 1)], {"axes": [1, 2]}, why=NORMAL)
    o.case("wild", [wild(F32, (2, 5)), wild(F32, (5,)), wild(F32, (5,))], {"axes": [-1]}, within=accumulated(10, 8))
    o.case("wild", [wild(F32, (2, 3, 2)), wild(F32, (3, 2)), wild(F32, (3, 2))], {"axes": [1, 2], "epsilon": 1e-3}, within=accumulated(12, 8))
    o = op("nn.rms_norm", in_extended(rms_norm), True)
    o.case("exact", [BALANCED, small(F32, (4,))], {"axes": [-1]}, why=NORMAL)
    o.case("exact", [BALANCED, small(F32, (2, 4))], {"axes": [1, 2]}, why=NORMAL)
    o.case("wild", [wild(F32, (2, 5)), wild(F32, (5,))], {"axes": [-1]}, within=accumulated(10, 6))
    o.case("wild", [wild(F32, (2, 3, 2)), wild(F32, (2,))], {"axes": [2], "epsilon": 1e-2}, within=accumulated(12, 6))
    o = op("nn.group_norm", in_extended(group_norm), True)
    image = np.concatenate([BALANCED.reshape(1, 2, 2, 2), -BALANCED.reshape(1, 2, 2, 2)], axis=1)
    grouped = {"num_groups": 2, "channel_axis": 1, "axes": [2, 3]}
    o.case("exact", [image, small(F32, (4,)), small(F32, (4,), 1) + F32_HALF], grouped, why=NORMAL)
    o.case("wild", [wild(F32, (1, 4, 3, 2)), wild(F32, (4,)), wild(F32, (4,))], grouped, within=accumulated(20, 8))
    o.case("wild", [wild(F32, (2, 3, 6)), wild(F32, (6,)), wild(F32, (6,))], {"num_groups": 3, "channel_axis": -1, "axes": [1]}, within=accumulated(20, 8))
    o.case("exact", [SPARSE, small(F32, (2,)), small(F32, (2,), 1)], {"num_groups": 2, "channel_axis": 1, "axes": [2], "epsilon": 1.0}, why=SHOWN)
    o.case("exact", [SPARSE / 2, small(F32, (4,)), small(F32, (4,), 1)], {"num_groups": 1, "channel_axis": 2, "axes": [1], "epsilon": 0.25}, why=SHOWN)
    o = op("nn.instance_norm", in_extended(instance_norm), True)
    o.case("exact", [image, small(F32, (4,)), small(F32, (4,), 1) + F32_HALF], {"channel_axis": 1, "axes": [2, 3]}, why=NORMAL)
    o.case("wild", [wild(F32, (2, 3, 4)), wild(F32, (3,)), wild(F32, (3,))], {"channel_axis": 1, "axes": [2]}, within=accumulated(20, 8))
    o.case("exact", [SPARSE, small(F32, (2,)), small(F32, (2,), 1)], {"channel_axis": 1, "axes": [2], "epsilon": 1.0}, why=SHOWN)
    o.case("exact", [SPARSE / 2, small(F32, (1,), 1), small(F32, (1,), 2)], {"channel_axis": 0, "axes": [2], "epsilon": 0.25}, why=SHOWN)
    o = op("nn.batch_norm", all_float64(batch_norm), True)
    still = {"axis": 1, "training": False}
    data = [small(F32, (2, 3, 2)), small(F32, (3,), 1), small(F32, (3,), 2), small(F32, (3,), 3), np.array([2**20, 2**22, 2**18], F32)]
    o.case("exact", [data[0] * 1024, *data[1:]], still, why="exact data: the variances are powers of 4")
    o.case("wild", [wild(F32, (2, 3, 2)), *[wild(F32, (3,)) for _ in range(3)], wild(F32, (3,), 0.5, 2)], still, within=accumulated(8, 16))
    o.case("wild", [wild(F32, (4, 3, 2)), *[wild(F32, (3,)) for _ in range(3)], wild(F32, (3,), 0.5, 2)], {"axis": 1}, within=accumulated(20, 8))
    o.case("wild", [wild(F64, (4, 3)), *[wild(F64, (3,)) for _ in range(3)], wild(F64, (3,), 0.5, 2)], {"axis": 1, "momentum": 0.25, "center": False}, within=accumulated(20, 8))
    data = [small(F32, (2, 3, 2)), small(F32, (3,), 1), small(F32, (3,), 2), small(F32, (3,), 3), np.array([3, 15, 0], F32)]
    o.case("exact", data, {**still, "epsilon": 1.0}, why=SHOWN)
    o.case("exact", [SPARSE / 2, *[small(F32, (2,), i) for i in range(1, 4)], np.array([1, 2], F32)], {"axis": 1, "momentum": 0.5, "epsilon": 0.25}, why=SHOWN)


# Windows


def expand(x, n):
    x = list(x) if isinstance(x, (list, tuple)) else [x]
    return x * n if len(x) == 1 else x


def pads(padding, n):
    padding = expand(padding, n)
    return list(zip(padding[:n], padding[n:] if len(padding) == 2 * n else padding))


def to_canonical(x, layout, canonical):
    return np.transpose(x, [layout.index(axis) for axis in canonical])


def from_canonical(x, layout, canonical):
    return np.transpose(x, [canonical.index(axis) for axis in layout])


def conv(n):
    data_axes = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]

    def f(x, w, strides=1, padding=0, dilation=1, groups=1, data_layout=data_axes, kernel_layout="OI" + data_axes[2:], out_layout=None, out_dtype=None):
        dtype = out_dtype or x.dtype
        wide = F64 if np.dtype(dtype).kind == "f" else I64
        x = to_canonical(x, data_layout, data_axes).astype(wide)
        w = to_canonical(w, kernel_layout, "OI" + data_axes[2:]).astype(wide)
        strides, dilation = expand(strides, n), expand(dilation, n)
        x = np.pad(x, [(0, 0), (0, 0), *pads(padding, n)])
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:])]
        sizes = [(s - r) // t + 1 for s, r, t in zip(x.shape[2:], reach, strides)]
        out = np.zeros((x.shape[0], w.shape[0], *sizes), wide)
        inputs, outputs = w.shape[1], w.shape[0] // groups
        for o in range(w.shape[0]):
            group = slice(o // outputs * inputs, (o // outputs + 1) * inputs)
            for place in itertools.product(*map(range, sizes)):
                window = tuple(slice(p * t, p * t + r, d) for p, t, r, d in zip(place, strides, reach, dilation))
                out[(slice(None), o, *place)] = (x[(slice(None), group, *window)] * w[o]).reshape(len(x), -1).sum(axis=1)
        return from_canonical(out, out_layout or data_layout, data_axes).astype(dtype)

    return f


def conv_transpose(n):
    data_axes = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]

    def f(x, w, strides=1, padding=0, output_padding=0, dilation=1, groups=1, data_layout=data_axes, kernel_layout="IO" + data_axes[2:], out_layout=None, out_dtype=None):
        dtype = out_dtype or x.dtype
        wide = F64 if np.dtype(dtype).kind == "f" else I64
        x = to_canonical(x, data_layout, data_axes).astype(wide)
        w = to_canonical(w, kernel_layout, "IO" + data_axes[2:]).astype(wide)
        strides, dilation, extra = expand(strides, n), expand(dilation, n), expand(output_padding, n)
        full = [(s - 1) * t + d * (k - 1) + 1 + e for s, t, d, k, e in zip(x.shape[2:], strides, dilation, w.shape[2:], extra)]
        out = np.zeros((x.shape[0], w.shape[1] * groups, *full), wide)
        inputs, outputs = w.shape[0] // groups, w.shape[1]
        for i in range(w.shape[0]):
            group = slice(i // inputs * outputs, (i // inputs + 1) * outputs)
            for place in itertools.product(*map(range, x.shape[2:])):
                window = tuple(slice(p * t, p * t + d * (k - 1) + 1, d) for p, t, d, k in zip(place, strides, dilation, w.shape[2:]))
                element = x[(slice(None), i, *place)].reshape(-1, *[1] * (n + 1))
                out[(slice(None), group, *window)] += element * w[i]
        cut = tuple(slice(before, size - after) for (before, after), size in zip(pads(padding, n), full))
        return from_canonical(out[(slice(None), slice(None), *cut)], out_layout or data_layout, data_axes).astype(dtype)

    return f


def layout_cases(o, spatial, given, kernels):
    """Layouts of which each can be read in the usual order too, and gives another result then."""
    usual, last = "NC" + spatial, "N" + spatial + "C"
    layouts = [(last, usual), ("CN" + spatial, last)]
    for (data_shape, weight_shape), kernel, (data_layout, out_layout) in zip(given, kernels, layouts):
        attrs = {"data_layout": data_layout, "kernel_layout": kernel, "out_layout": out_layout}
        o.case("exact", [small(F32, data_shape), small(F32, weight_shape, 1)], attrs)


@family
def convolution(op):
    o = op("nn.conv2d", conv(2), True)
    x, w = small(F32, (1, 2, 4, 5)), small(F32, (3, 2, 3, 3), 1)
    o.case("exact", [x, w])
    o.case("exact", [x, w], {"padding": [1, 1]})
    o.case("exact", [x, w], {"padding": [1, 0, 2, 1], "strides": [2, 1]})
    o.case("exact", [small(F32, (2, 4, 5, 5)), small(F32, (4, 2, 2, 2), 1)], {"groups": 2, "dilation": [2, 2]})
    o.case("exact", [small(F32, (1, 4, 5, 2)), small(F32, (2, 3, 2, 3), 1)], {"data_layout": "NHWC", "kernel_layout": "HWIO"})
    o.case("exact", [small(I8, (1, 2, 3, 3)), small(I8, (2, 2, 2, 2), 1)], {"out_dtype": "int32"})
    o.case("wild", [wild(F32, (1, 2, 4, 4)), wild(F32, (2, 2, 3, 3))], within=accumulated(18, 9 * 18))
    o = op("nn.conv1d", conv(1), True)
    x, w = small(F32, (2, 3, 6)), small(F32, (2, 3, 3), 1)
    o.case("exact", [x, w])
    o.case("exact", [x, w], {"padding": [1, 2], "strides": [2]})
    o.case("exact", [small(F32, (1, 4, 6)), small(F32, (4, 2, 2), 1)], {"groups": 2, "dilation": [3]})
    o.case("exact", [small(F32, (1, 6, 3)), w], {"data_layout": "NWC"})
    o.case("wild", [wild(F32, (1, 2, 7)), wild(F32, (2, 2, 3))], {"padding": [1, 1]}, within=accumulated(6, 9 * 6))
    layout_cases(o, "W", [((1, 3, 3), (2, 3, 3)), ((2, 2, 3), (2, 2, 2))], ["WIO", "IOW"])
    o = op("nn.conv3d", conv(3), True)
    x, w = small(F32, (1, 2, 3, 3, 4)), small(F32, (2, 2, 2, 2, 2), 1)
    o.case("exact", [x, w])
    o.case("exact", [x, w], {"padding": [1, 0, 1, 0, 1, 0], "strides": [2, 1, 1]})
    o.case("wild", [wild(F32, (1, 1, 3, 3, 3)), wild(F32, (2, 1, 2, 2, 2))], within=accumulated(8, 9 * 8))
    w = small(F32, (1, 2, 1, 2, 2), 1)
    o.case("exact", [x, w], {"dilation": [2, 1, 3]})
    o.case("exact", [x, w], {"dilation": [1, 2, 2], "padding": [0, 1, 0]})
    layout_cases(o, "DHW", [((1, 2, 2, 2, 2), (1, 2, 1, 2, 2)), ((2, 2, 2, 1, 2), (2, 2, 1, 1, 2))], ["DHWIO", "IODHW"])
    o = op("nn.conv1d_transpose", conv_transpose(1), True)
    x, w = small(F32, (2, 2, 4)), small(F32, (2, 3, 3), 1)
    o.case("exact", [x, w])
    o.case("exact", [x, w], {"strides": [2], "padding": [1, 1], "output_padding": [1]})
    o.case("wild", [wild(F32, (1, 2, 5)), wild(F32, (2, 2, 3))], {"strides": [2]}, within=accumulated(6, 9 * 6))
    o.case("exact", [x, w], {"dilation": [2]})
    o.case("exact", [x, w], {"dilation": [3], "strides": [2], "padding": [0, 1]})
    layout_cases(o, "W", [((1, 3, 3), (3, 2, 3)), ((2, 2, 3), (2, 2, 2))], ["WOI", "OIW"])
    o = op("nn.conv2d_transpose", conv_transpose(2), True)
    x, w = small(F32, (1, 2, 3, 3)), small(F32, (2, 3, 2, 3), 1)
    o.case("exact", [x, w])
    o.case("exact", [x, w], {"strides": [2, 3], "padding": [1, 0, 0, 1], "output_padding": [1, 2]})
    o.case("exact", [small(F32, (1, 4, 3, 3)), small(F32, (4, 1, 2, 2), 1)], {"groups": 2})
    o.case("wild", [wild(F32, (1, 2, 3, 3)), wild(F32, (2, 2, 2, 2))], {"strides": [2, 2]}, within=accumulated(8, 9 * 8))
    o.case("exact", [small(F32, (1, 2, 3, 3)), w], {"dilation": [2, 1]})
    o.case("exact", [small(F32, (1, 2, 2, 2)), w], {"dilation": [3, 2], "strides": [1, 2]})
    layout_cases(o, "HW", [((1, 2, 2, 2), (2, 1, 3, 2)), ((2, 2, 2, 1), (2, 2, 1, 2))], ["HWOI", "OIHW"])
    o = op("nn.conv3d_transpose", conv_transpose(3), True)
    x, w = small(F32, (1, 2, 2, 2, 2)), small(F32, (2, 1, 2, 2, 2), 1)
    o.case("exact", [x, w], {"strides": [2, 1, 1]})
    o.case("exact", [x, w], {"strides": [2, 1, 2], "padding": [1, 0, 1], "output_padding": [1, 0, 0]})
    o.case("exact", [x, w], {"strides": [1, 1, 3], "padding": [0, 1, 1, 1, 0, 2], "output_padding": [0, 0, 2]})
    o.case("exact", [x, w], {"dilation": [1, 2, 1], "padding": [1, 1, 0]})
    o.case("exact", [x[:, :, :1], w], {"dilation": [3, 1, 2]})
    layout_cases(o, "DHW", [((1, 2, 2, 2, 2), (2, 1, 1, 1, 2)), ((2, 2, 1, 2, 1), (2, 2, 1, 1, 2))], ["DHWOI", "OIDHW"])


def pool(n, kind, include):
    data_axes = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]

    def f(x, pool_size=1, strides=1, padding=0, dilation=1, ceil_mode=False, count_include_pad=include, layout=data_axes, out_layout=None):
        y = to_canonical(x, layout, data_axes).astype(F64)
        size, strides, dilation, padding = expand(pool_size, n), expand(strides, n), expand(dilation, n), pads(padding, n)
        sizes = []
        for s, k, t, d, (before, after) in zip(y.shape[2:], size, strides, dilation, padding):
            room = s + before + after - d * (k - 1) - 1
            count = (room + t - 1) // t + 1 if ceil_mode else room // t + 1
            sizes.append(count - 1 if ceil_mode and (count - 1) * t >= s + before else count)
        out = np.zeros((*y.shape[:2], *sizes))
        for place in itertools.product(*map(range, sizes)):
            inside, counted = [], 0
            for element in itertools.product(*map(range, size)):
                at = [p * t - before + e * d for p, t, e, d, (before, _) in zip(place, strides, element, dilation, padding)]
                counted += all(i < s + after for i, s, (_, after) in zip(at, y.shape[2:], padding))
                if all(0 <= i < s for i, s in zip(at, y.shape[2:])):
                    inside.append(y[(slice(None), slice(None), *at)])
            out[(slice(None), slice(None), *place)] = (
                np.max(inside, axis=0) if kind == "max" else np.sum(inside, axis=0) / (counted if count_include_pad else len(inside))
            )
        return from_canonical(out, out_layout or layout, data_axes).astype(x.dtype)

    return f


def adaptive(n):
    data_axes = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]

    def f(x, output_size=None, layout=data_axes, out_layout=None):
        y = to_canonical(x, layout, data_axes).astype(F64)
        sizes = expand(output_size, n) if output_size is not None else y.shape[2:]
        out = np.zeros((*y.shape[:2], *sizes))
        for place in itertools.product(*map(range, sizes)):
            region = tuple(slice(i * s // m, -(-(i + 1) * s // m)) for i, s, m in zip(place, y.shape[2:], sizes))
            out[(slice(None), slice(None), *place)] = y[(slice(None), slice(None), *region)].mean(axis=tuple(range(2, n + 2)))
        return from_canonical(out, out_layout or layout, data_axes).astype(x.dtype)

    return f


@family
def pooling(op):
    for n, sizes in ((1, (6,)), (2, (4, 5)), (3, (3, 4, 3))):
        x = small(F32, (1, 2, *sizes))
        last = np.moveaxis(x, 1, -1)
        layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
        usual = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]
        for kind in ("max", "avg"):
            o = op(f"nn.{kind}_pool{n}d", pool(n, kind, n != 2), True)
            o.case("exact", [x], {"pool_size": [2] * n, "strides": [2] * n})
            o.case("exact", [x], {"pool_size": [2] * n, "padding": [1] * n + [0] * n, "strides": [1] * n, "count_include_pad": True})
            o.case("exact", [np.ascontiguousarray(last)], {"pool_size": [2] * n, "layout": layout})
            o.case("exact", [x * 64], {"pool_size": [2] * n, "strides": [2] * n, "ceil_mode": True})
            if kind == "max":
                o.case("exact", [x], {"pool_size": [2] * n, "dilation": [2] * n})
            else:
                o.case("wild", [wild(F32, x.shape)], {"pool_size": [3] * n, "padding": [1] * 2 * n, "count_include_pad": False}, within=accumulated(3**n, 3))
                o.case("exact", [x], {"pool_size": [2] * n, "dilation": [2] * n, "strides": [2] * n})
                o.case("exact", [x], {"pool_size": [1] * (n - 1) + [2], "dilation": [1] * (n - 1) + [2], "padding": [0] * (n - 1) + [1]})
            o.case("exact", [np.ascontiguousarray(last)], {"pool_size": [2] * n, "strides": [2] * n, "layout": layout, "out_layout": usual})
            o.case("exact", [x], {"pool_size": [2] * n, "strides": [2] * n, "out_layout": layout})
            if n == 1:
                o.case("exact", [small(F32, (1, 2, 5))], {"pool_size": [2], "strides": [2], "ceil_mode": True})
                o.case("exact", [small(F32, (1, 2, 6))], {"pool_size": [2], "strides": [2], "dilation": [2], "ceil_mode": True})
        o = op(f"nn.adaptive_avg_pool{n}d", adaptive(n), True)
        o.case("exact", [small(F32, (1, 2, *[4] * n))], {"output_size": [2] * n})
        o.case("exact", [small(F32, (1, 2, *[2] * n))], {"output_size": [2] * n})
        o.case("wild", [wild(F32, (1, 2, *sizes))], {"output_size": [3] * n}, within=accumulated(3**n, 3))
        x = small(F32, (1, 2, *{1: (4,), 2: (2, 4), 3: (2, 2, 2)}[n]))
        last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        o.case("exact", [last], {"output_size": [1] * n, "layout": layout})
        o.case("exact", [last], {"output_size": [2] + [1] * (n - 1), "layout": layout, "out_layout": usual})
        o.case("exact", [x], {"output_size": [1] * n, "out_layout": layout})


# Attention


def attention(q, k, v, bias=None, scale=None, causal_mask=None):
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = np.einsum("bsnh,btnh->bnst", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = scores if bias is None else scores + bias
    if causal_mask:
        shift = k.shape[1] - q.shape[1] if causal_mask == "BottomRight" else 0
        scores = np.where(np.arange(k.shape[1])[None] > np.arange(q.shape[1])[:, None] + shift, -np.inf, scores)
    return np.einsum("bnst,btnv->bsnv", softmax(scores), v)


@family
def attention_family(op):
    heads = lambda *shape: [wild(F32, (shape[0], n, shape[3], h)) for n, h in ((shape[1], 4), (shape[2], 4), (shape[2], 3))]
    same = [np.ones((1, 2, 2, 4), F32), np.ones((1, 4, 2, 4), F32), small(F32, (1, 4, 2, 2))]
    o = op("nn.attention", in_extended(attention), True)
    o.case("exact", same, why="all weights are a quarter")
    o.case("wild", heads(2, 3, 5, 2), within=accumulated(40, 30))
    o.case("wild", heads(1, 3, 5, 2), {"scale": 0.25, "causal_mask": "TopLeft"}, within=accumulated(40, 30))
    o.case("wild", heads(1, 3, 5, 2), {"causal_mask": "BottomRight"}, within=accumulated(40, 30))
    sliding = "attention in a window that slides is not specified"
    o.case("special", same, {"window_size": 2}, allow="Unspecified", why=sliding)
    o.case("special", same, {"window_size": 1, "causal_mask": "TopLeft"}, allow="Unspecified", why=sliding)
    o = op("nn.attention_bias", in_extended(attention), True)
    o.case("exact", [*same, np.array([[0, -1000, 0, -1000], [-1000, 5, -1000, -1000]], F32).reshape(1, 1, 2, 4)], why="weights of a half, of 1 and of 0")
    o.case("wild", [*heads(1, 3, 5, 2), wild(F32, (1, 2, 3, 5))], within=accumulated(40, 30))
    o.case("wild", [*heads(1, 3, 5, 2), wild(F32, (1, 1, 1, 5))], {"causal_mask": "TopLeft"}, within=accumulated(40, 30))
    key = np.zeros((1, 4, 2, 4), F32)
    key[0, :2, :, 0] = [[1, 0], [0, 1]]
    far = np.array([[0, 512, -1024, -1024], [0, 0, 512, -1024]], F32).reshape(1, 1, 2, 4)
    o.case("exact", [same[0], key, same[2], far], {"scale": 512.0}, why="scores that are equal, and others of which the weight vanishes")
    none = np.array([[0, -1000, 0, -1000], [0, 0, 0, 0]], F32).reshape(1, 1, 2, 4)
    o.case("exact", [same[0], key, same[2], none], {"scale": 0.0}, why="only the bias counts: weights of a half, and of a quarter")


# Indexing


def take(x, indices, axis=0, mode="fast"):
    return np.take(x, indices, axis=axis, mode="raise" if mode == "fast" else mode)


def gather_nd(x, indices, batch_dims=0):
    if batch_dims:
        return np.stack([gather_nd(a, i, batch_dims - 1) for a, i in zip(x, indices)])
    return x[tuple(np.moveaxis(indices, -1, 0))]


REDUCTIONS = {"update": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "min": min, "max": max}


def scatter_elements(x, indices, updates, axis=0, reduction="update", added=False):
    out, arrived = x.copy(), np.ones(x.shape)
    for place in np.ndindex(*indices.shape):
        at = list(place)
        at[axis] = indices[place]
        new = REDUCTIONS["add" if reduction == "mean" else reduction](out[tuple(at)], updates[place])
        out[tuple(at)] = out[tuple(at)] + new if added else new
        arrived[tuple(at)] += 1
    return (out / arrived).astype(x.dtype) if reduction == "mean" else out


def scatter_nd(x, indices, updates, reduction="update"):
    out = x.copy()
    for row in np.ndindex(*indices.shape[:-1]):
        at = tuple(indices[row])
        for rest in np.ndindex(*x.shape[len(at) :]):
            out[at + rest] = REDUCTIONS[reduction](out[at + rest], updates[row + rest])
    return out


def index_put(x, indices, values, accumulate=False):
    out = x.copy()
    places = np.broadcast_arrays(*indices, values)
    for *at, v in zip(*[p.reshape(-1) for p in places]):
        out[tuple(at)] = out[tuple(at)] + v if accumulate else v
    return out


def slice_scatter(x, src, start, end, step, axis=0):
    out = x.copy()
    out[tuple(slice(start, end, step) if i == axis else slice(None) for i in range(x.ndim))] = src
    return out


def strided_slice(x, axes, begin, end, strides=None):
    chosen = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        chosen[axis] = slice(begin[i], end[i], strides[i] if strides else None)
    return x[tuple(chosen)]


def dynamic_strided_slice(x, begin, end, strides):
    return x[tuple(slice(int(b), int(e), int(s)) for b, e, s in zip(begin, end, strides))]


class Ints(Prim):
    """A tuple of integers as argument."""

    def __init__(self, *items):
        self.items = items
        super().__init__("(" + "".join(f"{i}, " for i in items) + ")")


def with_items(f):
    return lambda *args, **kw: f(*[tuple(eval(a)) if isinstance(a, str) else a for a in args], **kw)


@family
def indexing(op):
    ints = lambda *items: np.array(items, I64)
    x = small(F32, (4, 3))
    o = op("take", take, True)
    o.case("exact", [x, ints(2, 0)], {"axis": 0})
    o.case("exact", [x, np.array([[0, 2, 1]], I32)], {"axis": 1})
    o.case("exact", [x, ints(-1, 7)], {"axis": 0, "mode": "wrap"})
    o.case("exact", [x, ints(-1, 7)], {"axis": -1, "mode": "clip"})
    o.case("exact", [small(I32, (5,)), ints(4, 4, 0)], {})
    o = op("gather_elements", lambda x, i, axis=0: np.take_along_axis(x, i, axis), True)
    o.case("exact", [x, np.array([[0, 1, 2], [3, 0, 1]], I64)], {"axis": 0})
    o.case("exact", [x, np.array([[0], [2], [1], [0]], I64)], {"axis": 1})
    o.case("exact", [small(I32, (3, 2)), np.array([[2, 1]], I32)], {})
    o = op("gather_nd", gather_nd, True)
    o.case("exact", [x, np.array([[0, 2], [3, 1]], I64)])
    o.case("exact", [x, np.array([[2], [0], [1]], I64)])
    o.case("exact", [small(F32, (2, 3, 2)), np.array([[1], [2]], I64)], {"batch_dims": 1})
    o = op("index_tensor", lambda x, i: x[tuple(i)])
    o.case("exact", [x, Args([ints(3, 0)])])
    o.case("exact", [x, Args([ints(3, 0), np.array([[1], [2]], I64)])])
    o = op("scatter_elements", scatter_elements, True)
    places, updates = np.array([[0, 1, 3], [2, 0, 1]], I64), small(F32, (2, 3), 2)
    for reduction in ("update", "add", "mul", "min", "max"):
        added = ("A66", scatter_elements(x, places, updates, 0, reduction, True)) if reduction != "update" else None
        o.case("exact", [x, places, updates], {"reduction": reduction}, literal=added)
    o.case("exact", [x, np.array([[0], [2], [1], [0]], I64), small(F32, (4, 1), 1)], {"axis": 1})
    o = op("scatter_nd", scatter_nd, True)
    o.case("exact", [x, np.array([[0, 2], [3, 1]], I64), small(F32, (2,))])
    for reduction in ("add", "mul", "min", "max"):
        o.case("exact", [x, np.array([[2], [0]], I64), small(F32, (2, 3), 1)], {"reduction": reduction})
    o = op("index_put", index_put, True)
    o.case("exact", [x, Args([ints(3, 0), ints(1, 2)]), small(F32, (2,), 1)])
    o.case("exact", [x, Args([ints(3, 0, 3), ints(1, 2, 1)]), small(F32, (3,), 1)], {"accumulate": True})
    o.case("exact", [small(I32, (6,)), Args([ints(5, 0)]), small(I32, (2,), 1)])
    o = op("slice_scatter", slice_scatter, True)
    o.case("exact", [x, small(F32, (2, 3), 1), Prim(0), Prim(4), Prim(2)], {"axis": 0})
    o.case("exact", [x, small(F32, (4, 2), 1), Prim(1), Prim(3), Prim(1)], {"axis": 1})
    o = op("strided_slice", with_items(strided_slice), True)
    y = small(F32, (5, 4))
    o.case("exact", [y, Ints(0), Ints(1), Ints(4)])
    o.case("exact", [y, Ints(0, 1), Ints(0, 1), Ints(5, 4), Ints(2, 3)])
    o.case("exact", [y, Ints(-1), Ints(-3), Ints(100)], literal=("A64", y))
    o.case("exact", [y, Ints(0), Ints(4), Ints(0), Ints(-1)])
    o.case("exact", [small(I32, (6,)), Ints(0), Ints(-5), Ints(-1), Ints(2)], literal=("A64", small(I32, (6,))[:0]))
    o = op("dynamic_strided_slice", dynamic_strided_slice)
    o.case("exact", [y, ints(1, 0), ints(4, 4), ints(1, 2)], known='Tensor(ndim: 2, dtype: "float32")')
    o.case("exact", [y, ints(4, 1), ints(0, 9), ints(-2, 2)])


# Products


@family
def linear_algebra(op):
    o = op("matmul", lambda x, y, out_dtype=None: np.matmul(x.astype(F64), y.astype(F64)).astype(out_dtype or x.dtype), True)
    o.case("exact", [small(F32, (3, 4)), small(F32, (4, 2), 1)])
    o.case("exact", [small(F32, (4,)), small(F32, (4,), 1)])
    o.case("exact", [small(F32, (2, 3, 4)), small(F32, (4,), 1)])
    o.case("exact", [small(F32, (2, 1, 3, 4)), small(F32, (3, 4, 2), 1)])
    o.case("exact", [small(I8, (3, 4)), small(I8, (4, 2), 1)], {"out_dtype": "int32"})
    o.case("exact", [small(F16, (2, 3)), small(F16, (3, 2), 1)])
    o.case("wild", [wild(F32, (3, 5)), wild(F32, (5, 2))], within=accumulated(5, 45))
    o.case("wild", [wild(F64, (2, 3, 5)), wild(F64, (2, 5, 2))], within=accumulated(5, 45))
    o = op("outer", np.outer)
    o.case("exact", [small(F32, (3,)), small(F32, (4,), 1)])
    o.case("exact", [small(I32, (2,)), small(I32, (3,), 1)])
    o.case("wild", [wild(F32, (2,)), wild(F32, (3,))], within="(class: Rounded)")
    o = op("einsum", lambda xs, subscripts: np.asarray(np.einsum(subscripts, *xs)), True)
    two = [small(F32, (2, 3)), small(F32, (3, 4), 1)]
    o.case("exact", [Args(two)], {"subscripts": "ij,jk->ki"})
    o.case("exact", [Args(two)], {"subscripts": "ij,jk"})
    o.case("exact", [Args([small(F32, (3, 3))])], {"subscripts": "ii->i"})
    o.case("exact", [Args([small(F32, (2, 2, 3)), small(F32, (3, 2), 1)])], {"subscripts": "...ij,jk->...ik"})
    o.case("wild", [Args([wild(F32, (2, 3)), wild(F32, (3, 4))])], {"subscripts": "ij,jk->ik"}, within=accumulated(3, 27))


# Padding and the like


def pad(x, pad_width, pad_mode="constant", pad_value=0.0):
    mode = {"replicate": "edge", "circular": "wrap"}.get(pad_mode, pad_mode)
    widths = list(zip(pad_width[::2], pad_width[1::2]))
    return np.pad(x, widths, mode, **({"constant_values": x.dtype.type(pad_value)} if mode == "constant" else {}))


def pixel_shuffle(x, upscale_factor):
    r = upscale_factor
    *outer, c, h, w = x.shape
    y = x.reshape(*outer, c // r**2, r, r, h, w)
    n = len(outer)
    return np.transpose(y, [*range(n + 1), n + 3, n + 1, n + 4, n + 2]).reshape(*outer, c // r**2, h * r, w * r)


@family
def padding(op):
    x = small(F32, (3, 4))
    o = op("nn.pad", pad, True)
    o.case("exact", [x], {"pad_width": [1, 1, 0, 2]})
    o.case("exact", [x], {"pad_width": [0, 1, 2, 0], "pad_value": 2.0})
    for mode in ("reflect", "replicate", "circular"):
        o.case("exact", [x], {"pad_width": [1, 1, 0, 2], "pad_mode": mode})
    o.case("exact", [small(I32, (3,))], {"pad_width": [1, 1], "pad_value": 3.0})
    o = op("nn.pixel_shuffle", pixel_shuffle, True)
    o.case("exact", [small(F32, (1, 8, 2, 3))], {"upscale_factor": 2})
    o.case("exact", [small(I32, (9, 1, 2))], {"upscale_factor": 3})
    o = op("nn.batch_flatten", lambda x: x.reshape(x.shape[0], -1))
    o.case("exact", [small(F32, (2, 3, 2))])
    o.case("exact", [small(I32, (2, 3))])
    o = op("meshgrid", lambda xs, indexing="ij": tuple(np.meshgrid(*xs, indexing=indexing)), True)
    o.case("exact", [Args([small(F32, (3,)), small(F32, (2,), 1)])])
    o.case("exact", [Args([small(I32, (3,)), small(I32, (2,), 1), small(I32, (2,), 2)])], {"indexing": "ij"})


# Losses


def cross_entropy(x, y):
    return np.asarray(-(x * y).sum() / (x.shape[0] if x.ndim > 1 else 1))


def nll_loss(x, t, w=None, reduction="mean", ignore_index=-100):
    classes = x.shape[0] if x.ndim == 1 else x.shape[1]
    w = np.ones(classes) if w is None else w
    x = np.moveaxis(x, 0 if x.ndim == 1 else 1, -1)
    counts = t != ignore_index
    safe = np.where(counts, t, 0)
    weights = np.where(counts, w[safe], 0.0)
    losses = (0 - np.take_along_axis(x, safe[..., None], -1)[..., 0]) * weights
    if reduction == "none":
        return losses
    return np.asarray(losses.sum() / (weights.sum() if reduction == "mean" else 1.0))


@family
def loss(op):
    o = op("nn.cross_entropy_with_logits", in_extended(cross_entropy))
    o.case("exact", [small(F32, (4, 3)), small(F32, (4, 3), 1)])
    o.case("exact", [small(F32, (5,)), small(F32, (5,), 1)])
    o.case("wild", [wild(F32, (3, 4)), wild(F32, (3, 4))], within=accumulated(12, 108))
    targets = lambda f: lambda x, t, *w, **kw: np.asarray(f(x.astype(F64), t, *[v.astype(F64) for v in w], **kw)).astype(x.dtype)
    o = op("nn.nll_loss", targets(nll_loss), True)
    x, t, w = small(F32, (4, 3)), np.array([0, 2, 1, 0], I64), np.array([1, 2, 4], F32)
    o.case("exact", [x, t, w], {"reduction": "none"})
    o.case("exact", [x, t, w], {})
    o.case("exact", [x, t], {"reduction": "sum"})
    o.case("exact", [x, np.array([0, 2, -100, 1], I64)], {"reduction": "sum"})
    o.case("exact", [small(F32, (2, 3, 2)), np.array([[0, 2], [1, 1]], I64)], {"reduction": "mean"})
    o.case("wild", [wild(F32, (4, 3)), t, wild(F32, (3,), 0.5, 2)], {}, within=accumulated(8, 24))
    o.case("exact", [x, t, w], {"ignore_index": 2}, why="what is ignored has no weight in the mean: those of the others add to 4")
    o.case("exact", [x, t, w], {"ignore_index": 1, "reduction": "none"}, why="what is ignored has no loss")


# Images


NEAREST = {
    "round": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
}


def coordinates(new, old, mode, start=0.0, end=0.0):
    """Where the places of an axis lie in the data."""
    p = np.arange(new, dtype=F64)
    if mode == "align_corners":
        return np.linspace(0, old - 1, new) if new > 1 else np.zeros(1)
    if mode == "tf_crop_and_resize":
        return (start + p * (end - start) / (new - 1) if new > 1 else np.full(1, (start + end) / 2)) * (old - 1)
    if mode == "pytorch_half_pixel" and new == 1:
        return np.zeros(1)
    shift = {"asymmetric": (0, 0), "tf_half_pixel_for_nn": (0.5, 0)}.get(mode, (0.5, 0.5))
    return (p + shift[0]) * old / new - shift[1]


def cubic_weight(distance, a):
    """The kernel of cubic convolution at a distance."""
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * (d**3 - 5 * d**2 + 8 * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def axis_weights(x, size, method, rounding, a, exclude):
    """A matrix that takes an axis of the data to one of the result."""
    if method == "nearest_neighbor":
        found = np.zeros((len(x), size))
        found[np.arange(len(x)), np.clip(NEAREST[rounding](x), 0, size - 1).astype(int)] = 1
        return found
    around = np.arange(-4, size + 4)
    distance = x[:, None] - around[None]
    weights = np.maximum(0, 1 - np.abs(distance)) if method == "linear" else cubic_weight(distance, a)
    if method == "cubic" and exclude:
        weights = weights * ((around >= 0) & (around < size))
        weights = weights / weights.sum(axis=1, keepdims=True)
    found = np.zeros((len(x), size))
    for place, column in zip(np.clip(around, 0, size - 1), weights.T):
        found[:, place] += column
    return found


def resize(spatial, rounding):
    def f(x, size, roi=0.0, layout="NC" + spatial, method="linear", coordinate_transformation_mode="half_pixel", rounding_method=rounding, cubic_alpha=-0.75, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
        n, mode = len(spatial), coordinate_transformation_mode
        rounding = rounding_method or ("round" if mode == "align_corners" else "floor")
        roi = [roi] * 2 * n if isinstance(roi, float) else roi
        places = [[c for c in layout if not c.isdigit()].index(axis) for axis in spatial]
        y, outside = x.astype(F64), np.zeros([1] * x.ndim, bool)
        for i, (axis, new) in enumerate(zip(places, size)):
            old = x.shape[axis]
            at = coordinates(new, old, mode, roi[i], roi[i + n])
            weights = axis_weights(at, old, method, rounding, cubic_alpha, cubic_exclude)
            y = np.moveaxis(np.tensordot(weights, y, (1, axis)), 0, axis)
            if mode == "tf_crop_and_resize":
                beyond = (at < 0) | (at > old - 1)
                outside = outside | beyond.reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        return np.where(outside, extrapolation_value, y).astype(out_dtype or x.dtype)

    return f


def mirrored(x, low, high):
    """Reflected at both borders, as a wave."""
    width = high - low
    if width <= 0:
        return low
    phase = (x - low) % (2 * width)
    return low + (phase if phase <= width else 2 * width - phase)


def sample_weights(g, size, method, padding, aligned):
    """The weight of each element along an axis for a normalized coordinate."""
    x = (g + 1) / 2 * (size - 1) if aligned else ((g + 1) * size - 1) / 2
    low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
    x = float(np.rint(x)) if method == "nearest" else x
    if padding == "border" and not low <= x <= high:
        x = min(max(x, 0), size - 1)
    if padding == "reflection":
        x = mirrored(x, low, high)
    weights = np.zeros(size)
    for place in range(int(np.floor(x)) - 2, int(np.floor(x)) + 4):
        d = x - place
        kernel = {"nearest": float(d == 0), "bilinear": max(0, 1 - abs(d)), "bicubic": float(cubic_weight(d, -0.75))}[method]
        if padding == "border":
            place = min(max(place, 0), size - 1)
        if padding == "reflection":
            place = int(mirrored(place, low, high))
        if 0 <= place < size:
            weights[place] += kernel
    return weights


def grid_sample(x, grid, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=False):
    canonical = "NCHW" if len(layout) == 4 else "NCDHW"
    y = to_canonical(x, layout, canonical).astype(F64)
    out = np.zeros((*y.shape[:2], *grid.shape[2:]))
    for b, *place in np.ndindex(grid.shape[0], *grid.shape[2:]):
        value = y[b]
        for axis, g in reversed(list(enumerate(reversed(grid[(b, slice(None), *place)])))):
            value = np.tensordot(value, sample_weights(float(g), y.shape[axis + 2], method, padding_mode, align_corners), (axis + 1, 0))
        out[(b, slice(None), *place)] = value
    return from_canonical(out, layout, canonical).astype(x.dtype)


def affine_grid(theta, size, align_corners=True):
    lines = [np.linspace(-1, 1, s) if align_corners else np.linspace(1 / s - 1, 1 - 1 / s, s) for s in size]
    axes = np.meshgrid(*lines, indexing="ij")
    points = np.stack([*reversed(axes), np.ones(tuple(size))])
    return np.tensordot(theta.astype(F64), points, (2, 0)).astype(theta.dtype)


CROP = "tf_crop_and_resize"


@family
def image(op):
    o = op("image.resize2d", resize("HW", "round"), True)
    x = small(F32, (1, 2, 4, 2))
    o.case("exact", [x, Shape((8, 4))])
    o.case("exact", [x, Shape((2, 8))], {"coordinate_transformation_mode": "asymmetric"})
    o.case("exact", [small(F32, (1, 1, 3, 5)), Shape((5, 3))], {"coordinate_transformation_mode": "align_corners"})
    o.case("exact", [small(F32, (1, 4, 2, 3)), Shape((8, 4))], {"layout": "NHWC"})
    o.case("exact", [small(F32, (1, 1, 2, 2, 4)), Shape((4, 1))], {"layout": "NCHW4c", "coordinate_transformation_mode": "pytorch_half_pixel"})
    o.case("exact", [small(F32, (1, 1, 4, 4)), Shape((1, 1))], {"coordinate_transformation_mode": "align_corners"}, why="of one place the first element")
    o.case("exact", [small(F32, (1, 1, 4, 4)), Shape((2, 8))], {"method": "cubic"})
    o.case("exact", [small(F32, (1, 1, 4, 4)), Shape((8, 2))], {"method": "cubic", "cubic_alpha": -0.5, "coordinate_transformation_mode": "tf_half_pixel_for_nn"})
    for rounding in ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil", ""):
        mode = {"floor": "tf_half_pixel_for_nn", "ceil": "half_pixel", "": "align_corners"}.get(rounding, "asymmetric")
        o.case("exact", [small(F32, (1, 1, 4, 5)), Shape((8, 3))], {"method": "nearest_neighbor", "rounding_method": rounding, "coordinate_transformation_mode": mode})
    o.case("exact", [small(I32, (1, 1, 4, 2)), Shape((2, 4))], {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"})
    o.case("exact", [small(F32, (1, 1, 5, 5)), Shape((3, 5))], {"roi": [0.25, 0.5, 0.75, 1.5], "coordinate_transformation_mode": CROP, "extrapolation_value": 9.0})
    o.case("exact", [small(F32, (1, 1, 5, 5)), Shape((3, 2))], {"roi": [-0.5, 0.0, 0.5, 1.0], "coordinate_transformation_mode": CROP, "method": "nearest_neighbor"})
    o.case("exact", [small(F32, (1, 1, 4, 2)), Shape((8, 4))], {"out_dtype": "float16"})
    o.case("exact", [small(I8, (1, 1, 4, 2)), Shape((8, 4))], {"out_dtype": "float32"})
    o.case("wild", [wild(F32, (1, 2, 3, 5)), Shape((7, 4))], within=accumulated(16, 16))
    o.case("wild", [wild(F32, (1, 1, 5, 4)), Shape((3, 7))], {"method": "cubic"}, within=accumulated(40, 16))
    o.case("wild", [wild(F32, (1, 1, 5, 4)), Shape((8, 9))], {"method": "cubic", "cubic_exclude": 1}, within=accumulated(40, 16))
    o = op("image.resize3d", resize("DHW", ""), True)
    o.case("exact", [small(F32, (1, 2, 2, 2, 4)), Shape((4, 1, 8))])
    o.case("exact", [small(F32, (1, 2, 2, 4, 2)), Shape((3, 3, 3))], {"layout": "NDHWC", "coordinate_transformation_mode": "asymmetric", "method": "nearest_neighbor", "rounding_method": "ceil"})
    o.case("exact", [small(F32, (1, 1, 3, 2, 5)), Shape((5, 3, 3))], {"coordinate_transformation_mode": "align_corners"})
    o.case("exact", [small(F32, (1, 1, 3, 5, 5)), Shape((3, 3, 3))], {"roi": [0.0, 0.25, 0.5, 1.0, 0.75, 1.5], "coordinate_transformation_mode": CROP, "extrapolation_value": 9.0})
    o.case("exact", [small(F32, (1, 1, 2, 2, 2, 2)), Shape((4, 2, 1))], {"layout": "NCDHW2c", "coordinate_transformation_mode": "pytorch_half_pixel", "method": "cubic"})
    o.case("wild", [wild(F32, (1, 1, 3, 4, 2)), Shape((5, 3, 3))], within=accumulated(32, 16))
    o.case("wild", [wild(F32, (1, 1, 3, 4, 2)), Shape((4, 3, 3))], {"method": "cubic", "cubic_exclude": 1}, within=accumulated(128, 32))
    o.case("exact", [small(F32, (1, 1, 4, 2, 2)), Shape((2, 2, 2))], {"method": "cubic", "cubic_alpha": -0.5})
    o.case("exact", [small(F32, (1, 1, 1, 2, 4)), Shape((1, 2, 8))], {"method": "cubic", "cubic_alpha": -1.0, "coordinate_transformation_mode": "asymmetric"})
    o.case("exact", [small(F32, (1, 1, 1, 3, 3)), Shape((2, 3, 2))], {"roi": [0.5, 0.5, 0.5, 1.5, 1.5, 1.5], "coordinate_transformation_mode": CROP, "extrapolation_value": -5.0})
    o.case("exact", [small(F32, (1, 1, 2, 4, 3)), Shape((4, 2, 2))], {"method": "nearest_neighbor", "rounding_method": "round_prefer_ceil"})
    o = op("image.grid_sample", grid_sample, True)
    x = small(F32, (1, 2, 3, 5))
    inner = np.array([[[-1, -0.5, 0, 0.75], [1, 0.25, 0.5, -0.25]], [[-1, 0.5, 0, 1], [-0.5, 0.25, 0.75, -0.75]]], F32)[None]
    outer = np.array([[[-2, -0.5, 0, 1.75], [3, 1.25, -1.5, -4.25]], [[-1.5, 0.5, 2.5, 1], [-0.5, -3.25, 0.75, 1.75]]], F32)[None]
    o.case("exact", [x, inner], {"align_corners": True})
    for padding in ("zeros", "border", "reflection"):
        for aligned in (False, True):
            o.case("exact", [small(F32, (1, 2, 3, 5)), outer], {"padding_mode": padding, "align_corners": aligned})
        o.case("exact", [small(F32, (1, 1, 4, 4)), outer], {"padding_mode": padding, "method": "bicubic"})
        o.case("exact", [small(F32, (1, 1, 4, 4)), np.full((1, 2, 1, 1), -1.125, F32)], {"padding_mode": padding, "method": "bicubic"}, why="a place a quarter of an element beyond the border")
        o.case("exact", [small(F32, (1, 1, 3, 3)), outer + F32_EIGHTH], {"padding_mode": padding, "method": "nearest"})
    o.case("exact", [small(F32, (1, 3, 5, 2)), inner], {"layout": "NHWC", "align_corners": True})
    deep = np.concatenate([inner, inner[:, :1] / 2], axis=1)[:, :, None]
    o.case("exact", [small(F32, (1, 2, 3, 3, 5)), deep], {"layout": "NCDHW", "align_corners": True})
    o.case("exact", [small(F32, (1, 2, 3, 3, 5)), deep * 2 + F32_EIGHTH], {"layout": "NCDHW", "method": "nearest", "padding_mode": "reflection"})
    o.case("wild", [wild(F32, (2, 2, 3, 4)), wild(F32, (2, 2, 2, 3), -1.5, 1.5)], within=accumulated(40, 12))
    o.case("wild", [wild(F32, (1, 2, 4, 5)), wild(F32, (1, 2, 2, 3), -1, 1)], {"method": "bicubic", "padding_mode": "border"}, within=accumulated(80, 24))
    o = op("image.affine_grid", affine_grid, True)
    theta = np.array([[[1, 0, 0.5], [-2, 0.5, 0]], [[0, 1, 0], [0.25, 0, -1]]], F32)
    o.case("exact", [theta, Shape((3, 5))])
    o.case("exact", [theta, Shape((2, 4))], {"align_corners": False})
    volume = np.array([[[1, 0, 0, 0.5], [0, -2, 0.5, 0], [0.25, 0, 1, -1]]], F32)
    o.case("exact", [volume, Shape((2, 3, 5))])
    o.case("exact", [volume, Shape((2, 1, 4))], {"align_corners": False})
    o.case("wild", [wild(F32, (2, 2, 3)), Shape((4, 3))], within=accumulated(8, 12))
    o.case("wild", [wild(F32, (1, 3, 4)), Shape((4, 3, 2))], {"align_corners": False}, within=accumulated(10, 16))


# Detection


def bilinear(plane, y, x):
    """Between the elements of a plane; 0 more than one place outside."""
    height, width = plane.shape
    if y < -1 or x < -1 or y > height or x > width:
        return 0.0
    y, x = min(max(y, 0.0), height - 1), min(max(x, 0.0), width - 1)
    rows = np.maximum(0, 1 - np.abs(np.arange(height) - y))
    columns = np.maximum(0, 1 - np.abs(np.arange(width) - x))
    return rows @ plane @ columns


def pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


def roi_align(x, rois, pooled_size, spatial_scale, sample_ratio=-1, aligned=False, layout="NCHW", mode="avg"):
    y = to_canonical(x, layout, "NCHW").astype(F64)
    bins = pair(pooled_size)
    out = np.zeros((len(rois), y.shape[1], *bins))
    for r, (image, *corners) in enumerate(rois.astype(F64)):
        left, top, right, bottom = (c * spatial_scale for c in corners)
        extent = [bottom - top, right - left]
        extent = extent if aligned else [max(e, 1.0) for e in extent]
        steps = [e / n for e, n in zip(extent, bins)]
        counts = [sample_ratio if sample_ratio > 0 else math.ceil(s) for s in steps]
        for c, i, j in np.ndindex(*out.shape[1:]):
            samples = [
                bilinear(y[int(image), c], top + (i + (a + 0.5) / counts[0]) * steps[0], left + (j + (b + 0.5) / counts[1]) * steps[1])
                for a in range(counts[0])
                for b in range(counts[1])
            ]
            out[r, c, i, j] = max(samples) if mode == "max" else sum(samples) / max(len(samples), 1)
    return from_canonical(out, layout, "NCHW").astype(x.dtype)


def roi_pool(x, rois, pooled_size, spatial_scale):
    bins = pair(pooled_size)
    out = np.zeros((len(rois), x.shape[1], *bins), x.dtype)
    for r, (image, *corners) in enumerate(rois.astype(F64)):
        left, top, right, bottom = (math.floor(c * spatial_scale + 0.5) for c in corners)
        spans = []
        for start, end, n, size in ((top, bottom, bins[0], x.shape[2]), (left, right, bins[1], x.shape[3])):
            length = max(end - start + 1, 1)
            edges = [(p * length // n + start, -(-(p + 1) * length // n) + start) for p in range(n)]
            spans.append([slice(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges])
        for i, j in np.ndindex(*bins):
            part = x[int(image), :, spans[0][i], spans[1][j]]
            out[r, :, i, j] = part.max(axis=(1, 2)) if part.size else 0
    return out


def get_valid_counts(x, score_threshold=0.0, id_index=0, score_index=1):
    keep = x[:, :, score_index] > score_threshold
    if id_index >= 0:
        keep = keep & (x[:, :, id_index] >= 0)
    rows, places = np.full_like(x, -1), np.full(x.shape[:2], -1, I32)
    for b, kept in enumerate(keep):
        found = np.flatnonzero(kept)
        rows[b, : len(found)], places[b, : len(found)] = x[b, found], found
    return keep.sum(axis=1).astype(I32), rows, places


def iou(a, b):
    (p, t), (r, d) = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    (m, u), (s, e) = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    shared = max(0.0, min(r, s) - max(p, m)) * max(0.0, min(d, e) - max(t, u))
    both = (r - p) * (d - t) + (s - m) * (e - u) - shared
    return shared / both if both > 0 else 0.0


def non_max_suppression(
    x, valid_count, indices, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1,
    id_index=0, return_indices=True, invalid_to_bottom=False, soft_nms_sigma=0.0, score_threshold=0.0,
):  # fmt: skip
    data, places = np.full_like(x, -1), np.full(x.shape[:2], -1, I32)
    counts = np.zeros((len(x), 1), I32)
    soft = soft_nms_sigma > 0
    for b, rows in enumerate(x.astype(F64)):
        order = sorted(range(int(valid_count[b])), key=lambda i: -rows[i, score_index])
        order = order if top_k < 0 else order[:top_k]
        left, chosen = list(order), []
        while max_output_size < 0 or len(chosen) < max_output_size:
            left = [i for i in left if rows[i, score_index] > (score_threshold if soft else 0)]
            if not left:
                break
            best = max(left, key=lambda i: rows[i, score_index])
            chosen.append(best)
            left.remove(best)
            for i in list(left):
                if id_index >= 0 and not force_suppress and rows[i, id_index] != rows[best, id_index]:
                    continue
                u = iou(rows[best, coord_start : coord_start + 4], rows[i, coord_start : coord_start + 4])
                if u >= iou_threshold:
                    left.remove(i)
                elif soft:
                    rows[i, score_index] *= np.exp(-(u**2) / (2 * soft_nms_sigma))
        counts[b] = len(chosen)
        places[b, : len(chosen)] = indices[b, chosen]
        if soft or invalid_to_bottom:
            data[b, : len(chosen)] = rows[chosen]
        else:
            for slot, i in enumerate(order):
                if i in chosen:
                    data[b, slot] = rows[i]
    if not return_indices:
        return data
    return (data, places, counts) if soft else (places, counts)


def all_class_nms(boxes, scores, most, threshold, least, output_format="onnx"):
    most, threshold, least = (np.asarray(limit).item() for limit in (most, threshold, least))
    found = [[] for _ in boxes]
    for b, c in np.ndindex(*scores.shape[:2]):
        chosen = []
        for i in sorted(range(scores.shape[2]), key=lambda i: -scores[b, c, i]):
            fits = all(iou(boxes[b, i].astype(F64), boxes[b, j].astype(F64)) <= threshold for j in chosen)
            if scores[b, c, i] > least and fits and len(chosen) < most:
                chosen.append(i)
        found[b] += [(c, i) for i in chosen]
    if output_format == "onnx":
        rows = [(b, c, i) for b, some in enumerate(found) for c, i in some]
        return np.array(rows, I64).reshape(-1, 3), np.array([len(rows)], I64)
    rows = np.zeros((len(boxes), scores.shape[1] * scores.shape[2], 2), I64)
    told = np.zeros(rows.shape[:2], scores.dtype)
    for b, some in enumerate(found):
        for slot, (c, i) in enumerate(some):
            rows[b, slot], told[b, slot] = (c, i), scores[b, c, i]
    return rows, told, np.array([len(some) for some in found], I64)


def multibox_transform_loc(scores, places, anchors, clip=False, threshold=0.0, variances=(1.0, 1.0, 1.0, 1.0), keep_background=True, apply_softmax=True):
    s, p, a = (v.astype(F64) for v in (scores, places, anchors))
    x, y, w, h = np.moveaxis(p.reshape(len(p), -1, 4) * np.array(variances), -1, 0)
    (left, top, right, bottom) = np.moveaxis(a, -1, 0)
    cx, cy = (left + right) / 2 + x * (right - left), (top + bottom) / 2 + y * (bottom - top)
    w, h = np.exp(w) * (right - left), np.exp(h) * (bottom - top)
    boxes = np.stack([cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2], axis=-1)
    s = softmax(s, 1) if apply_softmax else s
    s = s * (s >= threshold)
    s = s if keep_background else np.concatenate([np.zeros_like(s[:, :1]), s[:, 1:]], axis=1)
    return (np.clip(boxes, 0, 1) if clip else boxes).astype(scores.dtype), s.astype(scores.dtype)


ALL_CHOSEN = 'Tuple([Tensor(ndim: 2, dtype: "int64"), Tensor(shape: [1], dtype: "int64")])'
#: Class, score, and two corners, of six boxes: the first two overlap by more than half, the third is far away.
BOXES = np.array(
    [
        [[0, 0.75, 0, 0, 4, 4], [0, 0.5, 0, 0, 4, 3], [0, 0.875, 8, 8, 9, 10], [1, 0.625, 0, 0, 4, 4], [-1, 0.25, 1, 1, 2, 2], [0, 0.125, 4, 4, 2, 0]],
        [[2, 0.25, 0, 0, 2, 2], [2, 0.5, 2, 2, 1, 0], [1, 0.25, 0, 0, 2, 2], [2, 0.375, 5, 5, 6, 6], [2, 0, 5, 5, 7, 7], [2, 0.75, 5, 6, 6, 5]],
    ],
    F32,
)  # fmt: skip


@family
def vision(op):
    rois = np.array([[0, 0, 0, 4, 4], [1, 1, 2, 7, 6], [0, 6, 4, 5, 12]], F32)
    o = op("vision.roi_align", roi_align, True)
    x = small(F32, (2, 2, 6, 6))
    o.case("exact", [x, rois], {"pooled_size": [2, 2], "spatial_scale": 1.0, "sample_ratio": 2})
    o.case("exact", [x, rois], {"pooled_size": [2, 4], "spatial_scale": 0.5})
    o.case("exact", [x, rois[:2]], {"pooled_size": 2, "spatial_scale": 0.25, "aligned": True, "sample_ratio": 1})
    o.case("exact", [x, rois], {"pooled_size": [4, 2], "spatial_scale": 1.0, "mode": "max", "sample_ratio": 2})
    o.case("exact", [small(F32, (2, 5, 6, 3)), rois[:1]], {"pooled_size": [2, 2], "spatial_scale": 1.0, "layout": "NHWC"})
    o.case("wild", [wild(F32, (2, 1, 6, 6)), np.array([[1, 0.3, 0.7, 4.9, 5.2]], F32)], {"pooled_size": [3, 2], "spatial_scale": 0.9}, within=accumulated(40, 12))
    o = op("vision.roi_pool", roi_pool, True)
    o.case("exact", [x, rois], {"pooled_size": [2, 2], "spatial_scale": 1.0})
    o.case("exact", [x, rois], {"pooled_size": [3, 2], "spatial_scale": 0.5})
    o.case("exact", [x, np.array([[1, 8, 9, 12, 10], [0, 2.5, 0.5, 3.5, 7.0]], F32)], {"pooled_size": 3, "spatial_scale": 1.0}, why="a region outside of the image, and corners between elements")
    o = op("vision.get_valid_counts", get_valid_counts, True)
    o.case("exact", [BOXES], {"score_threshold": 0.25})
    o.case("exact", [BOXES], {"score_threshold": 0.25, "id_index": -1})
    o.case("exact", [small(F32, (2, 3, 4))], {"id_index": 2, "score_index": 3})
    o.case("exact", [small(I32, (1, 5, 3))], {"score_threshold": 1.0, "id_index": -1, "score_index": 0})
    o.case("exact", [np.array([[[-1, 2, 3, 0], [0, 1, 2, -1], [1, 1, -2, 2]]], F32)], {"id_index": 3})
    o = op("vision.non_max_suppression", non_max_suppression, True)
    counted = [BOXES, np.array([6, 6], I32), np.array([[10, 11, 12, 13, 14, 15], [5, 4, 3, 2, 1, 0]], I32)]
    o.case("exact", counted)
    o.case("exact", [counted[0], np.array([2, 0], I32), counted[2]], {"return_indices": False})
    o.case("exact", counted, {"return_indices": False, "force_suppress": True})
    o.case("exact", counted, {"return_indices": False, "invalid_to_bottom": True, "iou_threshold": 0.25})
    o.case("exact", counted, {"id_index": -1, "top_k": 3})
    o.case("exact", counted, {"max_output_size": 2})
    o.case("exact", counted, {"max_output_size": 0}, why="none is asked for")
    o.case("exact", [np.ascontiguousarray(BOXES[:, :, [2, 3, 4, 5, 1, 0]]), *counted[1:]], {"coord_start": 0, "score_index": 4, "id_index": 5})
    decayed = "(class: Absolute, magnitude: 10.0)"
    o.case("exact", counted, {"soft_nms_sigma": 0.5, "iou_threshold": 0.9, "score_threshold": 0.3}, within=decayed)
    o.case("exact", counted, {"soft_nms_sigma": 0.25, "iou_threshold": 1.5, "return_indices": False, "id_index": -1}, within=decayed)
    o = op("vision.all_class_non_max_suppression", all_class_nms, True)
    boxes = np.array([[[0, 0, 4, 4], [0, 0, 4, 3], [8, 8, 9, 10], [4, 3, 0, 0.5]], [[0, 0, 1, 1], [0, 1, 1, 2], [0, 0, 1, 1], [2, 2, 3, 3]]], F32)
    scores = np.array([[[0.75, 0.5, 0.875, 0.25], [0.25, 0.75, 0.5, 0.625]], [[0.5, 0.5, 0.25, 0.125], [0.25, 0.5, 0.75, 0.25]]], F32)
    limits = lambda most, threshold, least: [np.array(most, I64), np.array(threshold, F32), np.array(least, F32)]
    literal = lambda *given: [Prim(f'R.const({x}, "{dtype}")') for x, dtype in zip(given, (I64, F32, F32))]
    o.case("exact", [boxes, scores, *limits(4, 0.5, 0.0)], known=ALL_CHOSEN)
    o.case("exact", [boxes, scores, *limits(1, 0.5, 0.5)])
    o.case("exact", [boxes, scores, *limits([2], [0.8], [0.3])])
    for most, threshold, least, why in (
        (2, 0.5, 0.25, "as many as are asked for, and no lower scores"),
        (0, 0.5, 0.0, "none is asked for"),
        (4, 0.75, 0.0, "an overlap of exactly the threshold is not more than it"),
    ):
        expected = all_class_nms(boxes, scores, most, threshold, least)
        o.case("exact", [boxes, scores, *literal(most, threshold, least)], expected=expected, why=why)
    o.case("exact", [boxes, scores, *limits(4, 0.5, 0.3)], {"output_format": "tensorflow"})
    o = op("vision.multibox_transform_loc", multibox_transform_loc, True)
    zeros = np.zeros((2, 12), F32)
    zeros[:, ::4], zeros[:, 1::4] = 0.5, -0.25
    anchors = np.array([[[0, 0, 2, 4], [0.25, 0.5, 0.75, 1], [-1, -2, 3, 2]]], F32)
    o.case("exact", [np.zeros((2, 2, 3), F32), zeros, anchors], why="exp(0) is 1, and all classes weigh a half")
    o.case("exact", [np.zeros((2, 4, 3), F32), zeros, anchors], {"clip": True, "keep_background": False, "variances": [0.5, 2.0, 1.0, 1.0]}, why="exp(0) is 1, and all classes weigh a quarter")
    o.case("exact", [small(F32, (2, 3, 3)), zeros, anchors], {"apply_softmax": False, "threshold": 1.0}, why="scores as they are, if they are not small")
    o.case("wild", [wild(F32, (2, 3, 4)), wild(F32, (2, 16), -1, 1), wild(F32, (1, 4, 4), 0, 1)], {"threshold": 0.2, "variances": [0.1, 0.1, 0.2, 0.2]}, within=absolute(4))


FAMILIES["attention"] = FAMILIES.pop("attention_family")
# After the others, so that their wild data stay as they are.
FAMILIES["image"] = FAMILIES.pop("image")
FAMILIES["vision"] = FAMILIES.pop("vision")

if __name__ == "__main__":
    cases.main(sys.argv[1])
