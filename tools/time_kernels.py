#!/usr/bin/env python3
"""Compares the times of operators with those of NumPy on one thread, on the same shapes, in one run.

    time_kernels.py XTASK [OPERATOR..]

XTASK is the program `xtask`, whose task `kernel-times --fast` measures the operators. For a convolution, NumPy gathers the
elements under the window and multiplies matrices. Each time is the least of several. It counts only what the thread itself
computes, so other programs on the machine matter less. The limits are those of large arguments and of small ones.
"""

import os

# Before NumPy is loaded.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import ast
import subprocess
import sys
import time

import numpy as np

LARGE_LIMIT, SMALL_LIMIT, SMALL = 4, 5, 1000


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def log_softmax(x):
    lowered = x - x.max(-1, keepdims=True)
    return lowered - np.log(np.exp(lowered).sum(-1, keepdims=True))


def layer_norm(x, gamma, beta):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(-1, keepdims=True) + np.float32(1e-5)) * gamma + beta


def rms_norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * weight


def convolution(x, w):
    """Of one batch, with stride 1 and the padding that keeps the size."""
    size, (_, channels, height, width) = w.shape[2], x.shape
    padded = np.pad(x[0], ((0, 0), (size // 2,) * 2, (size // 2,) * 2))
    under = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))
    columns = under.transpose(0, 3, 4, 1, 2).reshape(channels * size * size, height * width)
    return (w.reshape(len(w), -1) @ columns).reshape(1, -1, height, width)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x):
    return x * sigmoid(np.float32(1.5957691) * (x + np.float32(0.044715) * x * x * x))


NUMPY = {
    "nn.conv2d": convolution,
    "nn.gelu_tanh": gelu_tanh,
    "nn.layer_norm": layer_norm,
    "nn.log_softmax": log_softmax,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.rms_norm": rms_norm,
    "nn.silu": lambda x: x * sigmoid(x),
    "nn.softmax": softmax,
    "astype": lambda x: x.astype("float16"),
    "permute_dims": lambda x: np.ascontiguousarray(x.T),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": sigmoid,
    "variance": np.var,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
}
#: The axes that the large reductions have in MEASURED of xtask/src/kernels.rs.
AXES = {"sum": 1, "mean": 0, "max": 1, "variance": 1}


def least(f, *args):
    """The least of the times within a third of a second, in which the thread computes."""

    def timed(count):
        began = time.thread_time()
        for _ in range(count):
            f(*args)
        return (time.thread_time() - began) / count

    # Several at once if they are short, since it takes a while to look at the clock.
    several = int(min(max(2e-3 / timed(1), 1), 1000))
    times, start = [], time.perf_counter()
    while not times or time.perf_counter() - start < 0.3:
        times.append(timed(several))
    return min(times)


def of_numpy(name, shapes):
    """The seconds of NumPy; `None` if it has no such function."""
    is_grouped = name == "nn.conv2d" and shapes[1][1] != shapes[0][1]
    f = NUMPY.get(name) or getattr(np, name, None)
    if f is None or is_grouped:
        return None
    rng = np.random.default_rng(0)
    arrays = [4 * rng.random(shape, dtype="float32") - 2 for shape in shapes]
    if name in AXES and len(shapes[0]) == 2 and arrays[0].size > SMALL:
        return least(lambda x: f(x, axis=AXES[name]), *arrays)
    return least(f, *arrays)


def main():
    tool, *names = sys.argv[1:]
    np.seterr(all="ignore")
    print("| operator | arguments | the operator | NumPy | ratio | |\n| --- | --- | --- | --- | --- | --- |")
    rows = subprocess.run([tool, "kernel-times", "--fast", *names], capture_output=True, text=True, check=True).stdout
    for row in rows.splitlines()[2:]:
        name, shapes, _, fast, _ = (cell.strip() for cell in row.strip("| ").split(" | "))
        shapes = ast.literal_eval(shapes)
        theirs = of_numpy(name, shapes)
        if theirs is None:
            continue
        limit = SMALL_LIMIT if np.prod(shapes[0]) <= SMALL else LARGE_LIMIT
        ratio = float(fast) / theirs
        print(f"| {name} | {shapes} | {float(fast):.9f} | {theirs:.9f} | {ratio:.1f} | {'' if ratio <= limit else 'above'} |")


if __name__ == "__main__":
    main()
