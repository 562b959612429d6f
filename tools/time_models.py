#!/usr/bin/env python3
"""Times models of real size in TVM and in the command, on the same inputs, in one run.

    time_models.py RELAX_SPEC DIRECTORY [NAME..]
    time_models.py RELAX_SPEC DIRECTORY --blame
    time_models.py --write DIRECTORY NAME..

The models are ResNet-50 at 224 by 224, and a decoder layer of hidden size 1,024 with 128 tokens. Each is written to DIRECTORY
as TVMScript (NAME.py), with its inputs and weights (NAME.npz), which are random. TVM reads nothing: it has the module already,
and is timed from the call of the compiler to the result. The command is timed as a process: it reads the program and the
arrays, checks, runs, and writes the result. Both use the default number of threads. Each in a process of its own, for the sake
of the peak of its memory. `--kernels plain` is not timed: it takes minutes.

With `--write` the models are only written. With `--blame` a transformer block of hidden size 256, with 8 heads and any number
of tokens, goes through the default pipeline by `relax-spec blame`; what each pass takes is beside the time that TVM takes to
compile the block.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op, spec

import make_models

#: The sizes of the decoder, and the tokens that are in its cache.
DECODER, PAST = make_models.Sizes(hidden=1024, heads=16, tokens=128, wide=2816), 128
#: The name of the block for `--blame`.
BLOCK = "transformer_block"
#: The stages of ResNet-50: the number of blocks, and the channels within a block.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
EXPANSION = 4


class BatchNorm(nn.Module):
    """Normalization by the moving statistics, as in inference."""

    def __init__(self, channels):
        self.gamma, self.beta, self.mean, self.variance = (nn.Parameter((channels,)) for _ in range(4))

    def forward(self, x):
        parameters = (self.gamma, self.beta, self.mean, self.variance)
        normal = relax.op.nn.batch_norm(x._expr, *(p._expr for p in parameters), axis=1, training=False)
        return op.wrap_nested(relax.TupleGetItem(relax.BlockBuilder.current().emit(normal), 0), "batch_norm")


class Convolution(nn.Module):
    """A convolution without bias, and normalization."""

    def __init__(self, taken, made, size, stride=1):
        self.convolution = nn.Conv2D(taken, made, size, stride=stride, padding=size // 2, bias=False)
        self.norm = BatchNorm(made)

    def forward(self, x):
        return self.norm(self.convolution(x))


class Bottleneck(nn.Module):
    """Three convolutions around a shortcut."""

    def __init__(self, taken, width, stride):
        made = EXPANSION * width
        self.narrow = Convolution(taken, width, 1)
        self.middle = Convolution(width, width, 3, stride)
        self.widen = Convolution(width, made, 1)
        self.shortcut = Convolution(taken, made, 1, stride) if stride > 1 or taken != made else None

    def forward(self, x):
        y = op.relu(self.middle(op.relu(self.narrow(x))))
        return op.relu(op.add(self.widen(y), self.shortcut(x) if self.shortcut else x))


class ResNet50(nn.Module):
    """The network of 2015, with the stride in the middle convolution."""

    def __init__(self):
        self.stem = Convolution(3, 64, 7, 2)
        blocks, taken = [], 64
        for stage, (count, width) in enumerate(STAGES):
            for i in range(count):
                blocks.append(Bottleneck(taken, width, 2 if stage > 0 and i == 0 else 1))
                taken = EXPANSION * width
        self.blocks = nn.ModuleList(blocks)
        self.classify = nn.Linear(taken, 1000)

    def forward(self, x: nn.Tensor):
        x = op.relu(self.stem(x))
        pooled = relax.op.nn.max_pool2d(x._expr, (3, 3), (2, 2), (1, 1, 1, 1))
        x = self.blocks(op.wrap_nested(pooled, "pool"))
        mean = relax.op.mean(x._expr, [2, 3])
        return self.classify(op.wrap_nested(mean, "mean"))


MODELS = {
    "resnet50": lambda: (ResNet50(), {"x": spec.Tensor([1, 3, 224, 224], "float32")}),
    "decoder_layer": lambda: (make_models.DecoderBlock(DECODER), make_models.decoder_inputs(DECODER, PAST)),
}


def name_of(param):
    """The name of a parameter. TVMScript writes it as an identifier."""
    return str(getattr(param, "name_hint", None) or param.name)


def shape(param):
    info = getattr(param, "struct_info", None) or param.ty
    return [int(size) for size in info.shape]


def random(name, sizes, rng):
    """Numbers of magnitude 1, and weights that keep it; variances are positive."""
    x = rng.standard_normal(sizes, dtype="float32")
    if name.endswith("variance"):
        return np.abs(x) + np.float32(0.5)
    is_weight = name.endswith("weight") and len(sizes) > 1
    return x / np.float32(np.sqrt(np.prod(sizes[1:]))) if is_weight else x


def write(name, directory):
    """The module, and the arrays of its parameters in order."""
    model, inputs = MODELS[name]()
    mod, _ = model.export_tvm(spec={"forward": inputs})
    (directory / f"{name}.py").write_text(mod.script() + "\n")
    rng = np.random.default_rng(0)
    arrays = {name_of(p).replace(".", "_"): random(name_of(p), shape(p), rng) for p in mod["forward"].params}
    np.savez(directory / f"{name}.npz", **arrays)
    return mod, list(arrays.values())


def run_tvm(name, directory):
    """Compiles and runs a model. Prints the seconds of each; the result goes to NAME.tvm.npz."""
    mod, arrays = write(name, directory)
    arguments = [tvm.runtime.tensor(x) for x in arrays]
    start = time.perf_counter()
    vm = relax.VirtualMachine(tvm.compile(mod, "llvm"), tvm.cpu())
    compiled = time.perf_counter()
    found = vm["forward"](*arguments)
    found = [found.numpy()] if hasattr(found, "numpy") else [field.numpy() for field in found]
    ended = time.perf_counter()
    np.savez(directory / f"{name}.tvm.npz", **{str(i): x for i, x in enumerate(found)})
    print(compiled - start, ended - compiled)


def timed(command, statuses=(0,)):
    """The output of a command, its seconds of wall clock and of CPU, and the peak of its memory in MiB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in statuses:
        sys.exit(f"{command} ends with {child.returncode}: {out}")
    return out, took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def deviation(name, directory):
    """The largest difference of the results, relative to the largest element."""
    with np.load(directory / f"{name}.tvm.npz") as tvm_found, np.load(directory / f"{name}.own.npz") as own_found:
        pairs = [(tvm_found[key], own_found[key]) for key in tvm_found.files]
    return max(float(np.abs(x - y).max() / np.abs(x).max()) for x, y in pairs)


def measure(tool, directory, names):
    print(f"TVM {tvm.__version__}; seconds, and MiB at the peak\n")
    print("| model | TVM compiles | TVM runs | the command | its CPU | ratio | its peak | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        out, *_ = timed([sys.executable, __file__, "--tvm", directory, name])
        compiles, runs = (float(seconds) for seconds in out.split())
        own = directory / f"{name}.own.npz"
        files = [directory / f"{name}.py", "--args", directory / f"{name}.npz", "--save", own]
        _, wall, cpu, peak = timed([tool, "run", *files, "--entry", "forward"])
        ratio, far = wall / (compiles + runs), deviation(name, directory)
        print(
            f"| {name} | {compiles:.2f} | {runs:.2f} | {wall:.2f} | {cpu:.2f} | {ratio:.2f} | {peak:.0f} | {far:.1e} |",
            flush=True,
        )


def compile_block(directory):
    """Writes the block, compiles it twice, and prints the seconds of the second time: wall clock and CPU."""
    mod, _ = make_models.TransformerBlock().export_tvm(spec={"forward": {"x": spec.Tensor([1, "n", 256], "float32")}})
    (directory / f"{BLOCK}.py").write_text(mod.script() + "\n")
    for _ in range(2):
        wall, cpu = time.perf_counter(), time.process_time()
        tvm.compile(mod, "llvm")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu)


def blame(tool, directory):
    out, *_ = timed([sys.executable, __file__, "--block", directory])
    compiles, cpu = (float(seconds) for seconds in out.split())
    command = [tool, "blame", directory / f"{BLOCK}.py", "--entry", "forward", "--adapter", f"tvm@{sys.executable}"]
    out, wall, _, _ = timed([*command, "--format", "json"], statuses=(0, 5))
    lines = [json.loads(line) for line in out.splitlines()]
    print(f"TVM {tvm.__version__} compiles the block in {compiles:.2f} s ({cpu:.2f} s of CPU)\n")
    print("| pass | verdict | seconds |")
    print("| --- | --- | --- |")
    judged = [line for line in lines if line.get("seconds")]
    for line in judged:
        print(f"| {line['pass']} | {line['verdict']} | {line['seconds']:.2f} |")
    oracle = sum(line["seconds"] for line in judged)
    print(f"\n{lines[-1]['answer']}: {wall:.2f} s, of which the oracle {oracle:.2f} s: {oracle / compiles:.2f} of TVM's")


def main():
    first, directory, *names = sys.argv[1:]
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if first == "--tvm":
        run_tvm(names[0], directory)
    elif first == "--write":
        for name in names:
            write(name, directory)
    elif first == "--block":
        compile_block(directory)
    elif names == ["--blame"]:
        blame(first, directory)
    else:
        measure(first, directory, names or list(MODELS))


if __name__ == "__main__":
    main()
