#!/usr/bin/env python3
"""Runs the models of conformance/models on TVM's virtual machine.

    run_models.py write DIRECTORY              writes NAME.run.json: exact inputs, and what TVM computes from them
    run_models.py check DIRECTORY RELAX_SPEC   runs TVM and the oracle, in both forms of each model, on the inputs of
                                               NAME.run.json and on others, and compares

On the inputs of NAME.run.json nothing is rounded, in any order: they are small integers times a power of 2, the means and
variances that normalization divides by are powers of 4 in whose last place epsilon is lost, scores of attention differ by
so much that the weights are 0 and 1, as those of experts do, and the gates of the feed-forward part are open or shut. There the
results must be the same bits. On other inputs they may differ by what `spec/accuracy.ron` allows a sum of LENGTH terms whose
magnitudes add up to MAGNITUDE times the largest result.
"""

import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import tvm
from tvm import relax

LENGTH, MAGNITUDE = 256, 4
PAST = 5
#: With this seed no two scores of a row are the largest, so that no weight of attention is a third.
RNG = np.random.default_rng(1)


def ints(low, high, shape, scale=1):
    return (RNG.integers(low, high + 1, shape) * scale).astype("float32")


def signs(shape, scale=1):
    return (RNG.choice([-1, 1], shape) * scale).astype("float32")


def selection(rows, columns, scale=1):
    """Every row picks one column, with a sign."""
    out = np.zeros((rows, columns), "float32")
    out[np.arange(rows), RNG.integers(0, columns, rows)] = RNG.choice([-scale, scale], rows)
    return out


def padded(x, rows, columns, top=0):
    out = np.zeros((rows, columns), "float32")
    out[top : top + x.shape[0], : x.shape[1]] = x
    return out


def exact_mlp():
    return [ints(-3, 3, s) for s in ((3, 16), (32, 16), (32,), (8, 32), (8,))]


def exact_conv_block():
    half = signs((1, 4, 8, 8), 1024)
    # Each channel is followed by its opposite, so that the mean of a group is 0.
    x = np.stack([half, -half], axis=2).reshape(1, 8, 8, 8)
    shapes = [(8,), (8,), (8, 8, 3, 3), (8,), (8, 8, 3, 3), (16, 8, 1, 1), (16,)]
    return [x, *[ints(-1, 1, s) for s in shapes]]


def exact_decoder_block():
    x = np.zeros((1, 32, 64), "float32")
    x[..., :16] = signs((1, 32, 16), 2048)
    angles = RNG.integers(0, 4, (1, 32, 1, 16))
    cosines, sines = (np.choose(angles, [c, s, -c, -s]).astype("float32") for c, s in ((1, 0), (0, 1)))
    return [
        x,
        ints(-9, 9, (1, PAST, 4, 16), 32),
        signs((1, PAST, 4, 16), 2),
        cosines,
        sines,
        signs((64,)),
        ints(-3, 3, (64, 64), 16),
        ints(-3, 3, (64, 64), 16),
        padded(selection(64, 16), 64, 64),
        padded(selection(48, 64, 1024), 64, 64, 16),
        signs((64,)),
        ints(-1, 1, (128, 64), 128),
        ints(-1, 1, (128, 64)),
        ints(-1, 1, (64, 128)),
    ]


def exact_mixture_of_experts():
    x, router = ints(-3, 3, (5, 16)), ints(-3, 3, (4, 16), 1024)
    weights = [(32, 16)] * 4 + [(16, 32)] * 4
    return [x, router, *[ints(-2, 2, shape) for shape in weights]]


EXACT = {
    "mlp": exact_mlp,
    "conv_block": exact_conv_block,
    "decoder_block": exact_decoder_block,
    "mixture_of_experts": exact_mixture_of_experts,
}


def is_weight(x):
    """Matrices, and kernels of convolutions."""
    return x.ndim == 2 and x.shape[0] > 3 or x.ndim == 4 and x.shape[-1] < 4


def other(inputs):
    """Normal numbers of the shapes of the inputs; weights are scaled so that sums keep their size."""
    return [(RNG.standard_normal(x.shape) / np.sqrt(x[0].size if is_weight(x) else 1)).astype("float32") for x in inputs]


def bound(mod, inputs):
    """The module with the sizes of the inputs for its shape variables: the compiler of 0.25 and 0.27 stops with an internal
    error at a transposition between symbolic and other axes."""
    sizes = {}
    for param, x in zip(mod["forward"].params, inputs):
        info = getattr(param, "struct_info", None) or param.ty
        sizes |= {dim.name: size for dim, size in zip(info.shape, x.shape) if hasattr(dim, "name")}
    return relax.transform.BindSymbolicVars(sizes, "forward")(mod) if sizes else mod


def run(mod, inputs):
    mod = bound(mod, inputs)
    vm = relax.VirtualMachine(tvm.compile(mod, "llvm"), tvm.cpu())
    found = vm["forward"](*[tvm.runtime.tensor(x) for x in inputs])
    return [found.numpy()] if hasattr(found, "numpy") else [field.numpy() for field in found]


def read(text):
    from tvm.script import ir as I
    from tvm.script import relax as R
    from tvm.script import tirx as T

    # 0.27 takes the datatype void at its word where 0.25 means that nothing is said.
    text = text.replace(', out_dtype="void"', "")
    lines = [line for line in text.splitlines() if not line.startswith(("from ", "import "))]
    names = {"I": I, "R": R, "T": T}
    return tvm.script.from_source("\n".join(lines), extra_vars=names, check_well_formed=False)


#: A digit of an input is one of these, less 9, times the scale.
DIGITS = "0123456789abcdefghi"


def pack(x):
    whole = np.abs(x[x != 0]).astype("int64")
    scale = int(np.gcd.reduce(whole)) if whole.size else 1
    return {"shape": list(x.shape), "scale": scale, "digits": "".join(DIGITS[int(d) + 9] for d in x.reshape(-1) / scale)}


def unpack(packed):
    digits = np.array([DIGITS.index(c) - 9 for c in packed["digits"]], "float32")
    return (digits * packed["scale"]).reshape(packed["shape"]).astype("float32")


def tensor(x):
    return {"dtype": str(x.dtype), "shape": list(x.shape), "bits": np.ascontiguousarray(x).tobytes().hex()}


def untensor(data):
    return np.frombuffer(bytes.fromhex(data["bits"]), data["dtype"]).reshape(data["shape"])


def write(directory):
    for name, inputs in EXACT.items():
        inputs = inputs()
        outputs = run(read((directory / f"{name}.py").read_text()), inputs)
        assert all((x == np.round(x)).all() for x in outputs), f"{name}: something has been rounded"
        packed = {"inputs": [pack(x) for x in inputs], "outputs": [tensor(x) for x in outputs]}
        (directory / f"{name}.run.json").write_text(json.dumps(packed, indent=1) + "\n")


def oracle(tool, path, inputs):
    """What the oracle computes, and how long it takes."""
    question = ["evaluate", [{"Script": path.read_text()}, "forward", [{"Tensor": tensor(x)} for x in inputs]]]
    line = json.dumps({"id": 1, "op": question[0], "edition": "2023-02", "args": question[1]})
    start = time.perf_counter()
    reply = subprocess.run([tool, "adapter"], input=line, capture_output=True, text=True, check=True).stdout
    elapsed = time.perf_counter() - start
    answer = json.loads(reply.splitlines()[-1])
    returned, effects = answer["answer"]["Returns"]
    assert not effects
    fields = returned.get("Tuple", [returned])
    return [untensor(field["Tensor"]) for field in fields], elapsed


def compare(name, what, expected, found, exact):
    """The part of the tolerance that is used."""
    used = 0.0
    for i, (x, y) in enumerate(zip(expected, found, strict=True)):
        if exact:
            assert x.tobytes() == y.tobytes(), f"{name}: {what}: result {i} is not the same bits"
            continue
        tolerance = LENGTH * np.finfo("float32").eps / 2 * MAGNITUDE * np.abs(x).max()
        used = max(used, float(np.abs(x - y).max() / tolerance))
        assert used <= 1, f"{name}: {what}: result {i} is {used:.2f} tolerances off"
    return used


def check(directory, tool):
    dialect = "tvm" + ".".join(tvm.__version__.split(".")[:2])
    for name in EXACT:
        stored = json.loads((directory / f"{name}.run.json").read_text())
        path, legalized = directory / f"{name}.py", directory / f"{name}.legalized.py"
        text = subprocess.run([tool, "convert", path, "--dialect", dialect], capture_output=True, text=True, check=True)
        mod = read(text.stdout)
        inputs = [unpack(x) for x in stored["inputs"]]
        expected = [untensor(x) for x in stored["outputs"]]
        compare(name, f"TVM {tvm.__version__}", expected, run(mod, inputs), True)
        found, before = oracle(tool, path, inputs)
        compare(name, "the oracle", expected, found, True)
        found, after = oracle(tool, legalized, inputs)
        compare(name, "the oracle, legalized", expected, found, True)
        inputs = other(inputs)
        expected = run(mod, inputs)
        used = compare(name, "the oracle, on other data", expected, oracle(tool, path, inputs)[0], False)
        again = compare(name, "the oracle, legalized, on other data", expected, oracle(tool, legalized, inputs)[0], False)
        print(
            f"{name}: the same bits on exact data; {max(used, again):.4f} of the tolerance on other data; "
            f"{before:.2f} s, legalized {after:.2f} s"
        )


def main():
    command, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    if command == "write":
        write(directory)
    else:
        check(directory, sys.argv[3])


if __name__ == "__main__":
    main()
