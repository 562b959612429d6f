#!/usr/bin/env python3
"""Writes conformance/models: four models built with TVM's `relax.frontend.nn`, before and after `LegalizeOps`.

    make_models.py RELAX_SPEC OUTPUT_DIRECTORY

Each is written as TVMScript by TVM's printer (NAME.py, NAME.legalized.py) and as RON by `RELAX_SPEC convert`. Weights are
parameters of the functions, so that the files hold no constants.
"""

import functools
import pathlib
import subprocess
import sys
import typing

from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op, spec


class Sizes(typing.NamedTuple):
    """The sizes of a decoder; `wide` is the width of its feed-forward part."""

    hidden: int = 64
    heads: int = 4
    tokens: int = 32
    wide: int = 128

    @property
    def head(self):
        return self.hidden // self.heads


SMALL = Sizes()
#: What is added to the score of a later token: enough for its weight to be zero.
MASKED = -1e9


class Mlp(nn.Module):
    """Two linear layers with ReLU between; the batch is symbolic."""

    def __init__(self):
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 8)

    def forward(self, x: nn.Tensor):
        return self.down(op.relu(self.up(x)))


class ConvBlock(nn.Module):
    """Normalization, ReLU and convolution, twice, around a shortcut; then the mean of every channel."""

    def __init__(self, channels=8, groups=2):
        self.norm = nn.GroupNorm(groups, channels)
        self.first = nn.Conv2D(channels, channels, 3, padding=1)
        self.second = nn.Conv2D(channels, channels, 3, padding=1, bias=False)
        self.project = nn.Conv2D(channels, 16, 1, stride=2)

    def forward(self, x: nn.Tensor):
        y = self.first(op.relu(self.norm(x, channel_axis=1, axes=[2, 3])))
        y = self.project(self.second(op.relu(y)) + x)
        return op.sum(op.relu(y), axis=[2, 3])


class DecoderBlock(nn.Module):
    """Attention over a cache of keys and values, which are plain tensors, and a gated feed-forward part."""

    def __init__(self, sizes=SMALL):
        hidden, wide = sizes.hidden, sizes.wide
        self.sizes = sizes
        self.attention_norm = nn.RMSNorm(hidden, -1, 1e-5, bias=False)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.value = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.feed_norm = nn.RMSNorm(hidden, -1, 1e-5, bias=False)
        self.gate = nn.Linear(hidden, wide, bias=False)
        self.up = nn.Linear(hidden, wide, bias=False)
        self.down = nn.Linear(wide, hidden, bias=False)

    def forward(self, x, keys, values, cosines, sines):
        sizes, past = self.sizes, keys.shape[1]
        later = op.triu(op.full([1, 1, sizes.tokens, sizes.tokens], MASKED, "float32"), 1)
        mask = op.concat([op.zeros([1, 1, sizes.tokens, past], "float32"), later], dim=-1)
        y = self.attention_norm(x)
        query = rotate(heads(self.query(y), sizes), cosines, sines)
        keys = op.concat([keys, rotate(heads(self.key(y), sizes), cosines, sines)], dim=1)
        values = op.concat([values, heads(self.value(y), sizes)], dim=1)
        scores = op.matmul(op.permute_dims(query, [0, 2, 1, 3]), op.permute_dims(keys, [0, 2, 3, 1]))
        weights = op.softmax(scores * sizes.head**-0.5 + mask, axis=-1)
        mixed = op.permute_dims(op.matmul(weights, op.permute_dims(values, [0, 2, 1, 3])), [0, 2, 1, 3])
        x = x + self.out(op.reshape(mixed, [1, sizes.tokens, sizes.hidden]))
        y = self.feed_norm(x)
        x = x + self.down(op.silu(self.gate(y)) * self.up(y))
        return x, keys, values


class TransformerBlock(nn.Module):
    """Attention and a feed-forward part with GELU, each behind a layer normalization; the tokens are symbolic."""

    def __init__(self, hidden=256, heads=8):
        self.hidden, self.heads = hidden, heads
        self.attention_norm, self.feed_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x: nn.Tensor):
        tokens, size = x.shape[1], self.hidden // self.heads
        y = self.attention_norm(x)
        parts = [op.reshape(part(y), [1, tokens, self.heads, size]) for part in (self.query, self.key, self.value)]
        query, key, value = (op.permute_dims(part, [0, 2, 1, 3]) for part in parts)
        scores = op.matmul(query, op.permute_dims(key, [0, 1, 3, 2])) * size**-0.5
        mixed = op.permute_dims(op.matmul(op.softmax(scores, axis=-1), value), [0, 2, 1, 3])
        x = x + self.out(op.reshape(mixed, [1, tokens, self.hidden]))
        return x + self.down(op.gelu(self.up(self.feed_norm(x))))


class MixtureOfExperts(nn.Module):
    """A router weighs the experts for each token, and only the one that weighs most counts; the tokens are symbolic."""

    def __init__(self, experts=4):
        self.router = nn.Linear(16, experts, bias=False)
        self.up = nn.ModuleList([nn.Linear(16, 32, bias=False) for _ in range(experts)])
        self.down = nn.ModuleList([nn.Linear(32, 16, bias=False) for _ in range(experts)])

    def forward(self, x: nn.Tensor):
        weights = op.softmax(self.router(x), axis=-1)
        chosen = op.greater_equal(weights, op.max(weights, axis=-1, keepdims=True))
        weights = op.split(weights * op.astype(chosen, "float32"), len(self.up), axis=-1)
        parts = [weight * down(op.relu(up(x))) for weight, up, down in zip(weights, self.up, self.down)]
        return functools.reduce(op.add, parts)


def heads(x, sizes):
    return op.reshape(x, [1, sizes.tokens, sizes.heads, sizes.head])


def rotate(x, cosines, sines):
    """Rotary positions: the tables are given, for no two libraries agree in the last place of a sine."""
    low, high = op.split(x, 2, axis=-1)
    return x * cosines + op.concat([op.negative(high), low], dim=-1) * sines


def decoder_inputs(sizes=SMALL, past="past"):
    table, cache = [1, sizes.tokens, 1, sizes.head], [1, past, sizes.heads, sizes.head]
    return {
        "x": spec.Tensor([1, sizes.tokens, sizes.hidden], "float32"),
        "keys": spec.Tensor(cache, "float32"),
        "values": spec.Tensor(cache, "float32"),
        "cosines": spec.Tensor(table, "float32"),
        "sines": spec.Tensor(table, "float32"),
    }


MODELS = {
    "mlp": (Mlp, {"x": spec.Tensor(["batch", 16], "float32")}),
    "conv_block": (ConvBlock, {"x": spec.Tensor([1, 8, 8, 8], "float32")}),
    "decoder_block": (
        DecoderBlock,
        decoder_inputs(),
    ),
    "mixture_of_experts": (MixtureOfExperts, {"x": spec.Tensor(["tokens", 16], "float32")}),
}


def write(tool, path, mod):
    path.write_text(mod.script() + "\n")
    with path.with_suffix(".ron").open("w") as out:
        subprocess.run([tool, "convert", path, "--to", "ron"], check=True, stdout=out)


def main():
    tool, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for name, (model, inputs) in MODELS.items():
        mod, _ = model().export_tvm(spec={"forward": inputs})
        write(tool, directory / f"{name}.py", mod)
        write(tool, directory / f"{name}.legalized.py", relax.transform.LegalizeOps()(mod))


if __name__ == "__main__":
    main()
