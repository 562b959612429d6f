#!/usr/bin/env python3
"""Imports the test models that the package `onnx` carries through TVM's ONNX frontend.

    make_onnx_corpus.py OUTPUT_DIRECTORY [--every N] [NAME ..]

It runs in an environment with both packages, and writes for each model that TVM imports, as it is and again with
all inputs but the first as initializers (NAME.init):

    NAME.py          the module as text, with its metadata
    NAME.tvm.json    the module as TVM saves it
    NAME.case.json   the arguments, what ONNX expects, and its tolerance

and `corpus.json`: every model that was tried, with the reason where it is not there. `--every N` takes each N-th model
only. Each import has a process of its own, for some end it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import sys
import time
import warnings

import numpy as np
import onnx
import tvm
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node as nodes
from onnx.backend.test.loader import load_model_tests
from tvm.relax.frontend.onnx import from_onnx

KINDS = ("simple", "pytorch-operator", "pytorch-converted")
#: How long one import may take.
SECONDS = 120
#: Types of ONNX that are written otherwise here, or whose elements NumPy has no numbers for. The last is how many lie in a byte.
NARROW = {
    "FLOAT8E4M3FN": ("float8_e4m3fn", 1),
    "FLOAT8E4M3FNUZ": ("float8_e4m3fnuz", 1),
    "FLOAT8E5M2": ("float8_e5m2", 1),
    "FLOAT8E5M2FNUZ": ("float8_e5m2fnuz", 1),
    "FLOAT8E8M0": ("float8_e8m0fnu", 1),
    "FLOAT4E2M1": ("float4_e2m1fn", 2),
    "INT4": ("int4", 2),
    "UINT4": ("uint4", 2),
    "INT2": ("int2", 4),
    "UINT2": ("uint2", 4),
}


class NotHere(Exception):
    """A model of which there is no case, and why."""


def every_model():
    """The name, the kind, the model, its inputs and outputs, and the tolerances of every model."""
    np.random.seed(0)
    for case in nodes.collect_testcases(None):
        inputs, outputs = case.data_sets[0]
        yield case.name, "node", case.model, inputs, outputs, case.rtol, case.atol
    for kind in KINDS:
        for case in sorted(load_model_tests(kind=kind), key=lambda case: case.name):
            directory = pathlib.Path(case.model_dir)
            model = onnx.load(directory / "model.onnx")
            data = directory / "test_data_set_0"
            inputs = stored(data, "input", model.graph.input)
            outputs = stored(data, "output", model.graph.output)
            yield case.name, kind, model, inputs, outputs, case.rtol, case.atol


def stored(directory, role, infos):
    """The values in the files of a model, by their types."""
    messages = {
        "tensor_type": (onnx.TensorProto, lambda proto: proto),
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
    }
    values = []
    for i, info in enumerate(infos):
        path = directory / f"{role}_{i}.pb"
        if not path.exists():
            break
        message, value = messages[info.type.WhichOneof("value")]
        values.append(value(message.FromString(path.read_bytes())))
    return values


def tensor(dtype, shape, raw):
    return {"Tensor": {"dtype": dtype, "shape": [int(n) for n in shape], "bits": raw.hex()}}


def of_proto(proto):
    name = TensorProto.DataType.Name(proto.data_type)
    if name not in NARROW:
        if name == "BFLOAT16" and not proto.raw_data:
            return tensor("bfloat16", proto.dims, np.array(proto.int32_data, "uint16").tobytes())
        if name == "BFLOAT16":
            return tensor("bfloat16", proto.dims, proto.raw_data)
        return value(numpy_helper.to_array(proto))
    dtype, in_a_byte = NARROW[name]
    raw = np.frombuffer(proto.raw_data or bytes(x & 255 for x in proto.int32_data), "uint8")
    return tensor(dtype, proto.dims, spread(dtype, raw, in_a_byte, int(np.prod(proto.dims))).tobytes())


def spread(dtype, raw, in_a_byte, count):
    """A byte for each element, through which the sign of an integer goes."""
    if in_a_byte == 1:
        return raw
    bits = 8 // in_a_byte
    codes = np.stack([raw >> (bits * i) & ((1 << bits) - 1) for i in range(in_a_byte)], 1).reshape(-1)[:count]
    return signed(dtype, codes.astype("uint8"), bits)


def signed(dtype, codes, bits):
    return codes | np.where(codes >> (bits - 1), 255 << bits & 255, 0).astype("uint8") if dtype.startswith("int") else codes


def values(infos, given):
    """Values in the data form of `conformance/INTERPRETING.md`, by the types that the model states."""
    infos = list(infos) + [None] * len(given)
    return [typed(info, x) for info, x in zip(infos, given)]


def typed(info, x):
    bfloat16 = info is not None and info.type.tensor_type.elem_type == TensorProto.BFLOAT16
    # Some models have the codes of these as integers.
    if bfloat16 and getattr(x, "dtype", None) == np.uint16:
        return tensor("bfloat16", x.shape, x.tobytes())
    return value(x)


def value(x):
    if isinstance(x, TensorProto):
        return of_proto(x)
    if isinstance(x, list | tuple):
        return {"Tuple": [value(field) for field in x]}
    if x is None:
        raise NotHere("an optional value that is absent")
    x = np.asarray(x)
    # onnx 1.17 has types of its own for what NumPy lacks: a field of bytes with the name.
    name = x.dtype.descr[0][0] if x.dtype.kind in "iu" or x.dtype.kind == "V" else ""
    known = {"e4m3fn": "FLOAT8E4M3FN", "e4m3fnuz": "FLOAT8E4M3FNUZ", "e5m2": "FLOAT8E5M2", "e5m2fnuz": "FLOAT8E5M2FNUZ"}
    known |= {"int4": "INT4", "uint4": "UINT4", "float4e2m1": "FLOAT4E2M1"}
    if name in known:
        dtype, in_a_byte = NARROW[known[name]]
        codes = x.astype("int8").view("uint8") if x.dtype.itemsize == 1 else x.view("uint8")
        bits = 8 // in_a_byte
        codes = codes if bits == 8 else signed(dtype, codes & ((1 << bits) - 1), bits)
        return tensor(dtype, x.shape, codes.tobytes())
    if name == "bfloat16" or x.dtype.name == "bfloat16":
        return tensor("bfloat16", x.shape, x.view("uint16").tobytes())
    if x.dtype.kind in "OUST" or x.dtype.kind == "c":
        raise NotHere(f"a tensor of {'strings' if x.dtype.kind != 'c' else 'complex numbers'}")
    by_name = dict(NARROW.values())
    if x.dtype.name in by_name:
        codes, in_a_byte = np.ascontiguousarray(x).view("uint8").reshape(-1), by_name[x.dtype.name]
        bits = 8 // in_a_byte
        codes = codes if bits == 8 else signed(x.dtype.name, codes & ((1 << bits) - 1), bits)
        return tensor(x.dtype.name, x.shape, codes.tobytes())
    return tensor(x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes())


def with_initializers(model, inputs):
    """The model with all inputs but the first as initializers, and what is still an input."""
    given = [i for i in model.graph.input if i.name not in {init.name for init in model.graph.initializer}]
    if len(inputs) < 2 or len(given) != len(inputs):
        raise NotHere("there is no second input")
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for info, x in list(zip(given, inputs))[1:]:
        if info.type.WhichOneof("value") != "tensor_type":
            raise NotHere("an input that is no tensor")
        proto = onnx.TensorProto()
        proto.CopyFrom(x if isinstance(x, TensorProto) else numpy_helper.from_array(np.asarray(x)))
        proto.name = info.name
        changed.graph.initializer.append(proto)
    kept = [i for i in changed.graph.input if i.name not in {info.name for info in given[1:]}]
    del changed.graph.input[:]
    changed.graph.input.extend(kept)
    return changed, inputs[:1]


def importing(directory, name, model, inputs, outputs, tolerance):
    """Writes the files of one case."""
    stem = directory / name
    args, expected = values(model.graph.input, inputs), values(model.graph.output, outputs)
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        mod = from_onnx(model)
    rtol, atol = tolerance
    operators = sorted({node.op_type for node in model.graph.node})
    stem.with_name(name + ".py").write_text(mod.script(show_meta=True) + "\n")
    stem.with_name(name + ".tvm.json").write_text(tvm.ir.save_json(mod) + "\n")
    case = {"operators": operators, "args": args, "expected": expected, "rtol": rtol, "atol": atol}
    stem.with_name(name + ".case.json").write_text(json.dumps(case) + "\n")


def shortened(error):
    """The last line of an error, without what differs from one model to the next."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {re.sub('0x[0-9a-f]+', '..', lines[-1].strip())[:160]}"


def alone(work):
    """Runs it in a process of its own; why it came to nothing, if so."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        status = "here"
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            work()
        except NotHere as error:
            status = f"no case: {error}"
        except BaseException as error:
            status = shortened(error)
        os.write(write, status.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    _, code = os.waitpid(child, 0)
    return told if told else f"the process ended with {signal.Signals(os.WTERMSIG(code)).name if code else 'nothing'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    start, tried = time.time(), {}
    for i, (name, kind, model, inputs, outputs, rtol, atol) in enumerate(every_model()):
        if i % options.every or (options.names and name not in options.names):
            continue

        def as_it_is(name=name, model=model, inputs=inputs, outputs=outputs, tolerance=(rtol, atol)):
            importing(options.directory, name, model, inputs, outputs, tolerance)

        def initialized(name=name, model=model, inputs=inputs, outputs=outputs, tolerance=(rtol, atol)):
            changed, left = with_initializers(model, inputs)
            importing(options.directory, f"{name}.init", changed, left, outputs, tolerance)

        tried[name] = {"kind": kind, "status": alone(as_it_is)}
        tried[f"{name}.init"] = {"kind": kind, "status": alone(initialized)}
    versions = {"tvm": tvm.__version__, "onnx": onnx.__version__, "numpy": np.__version__}
    corpus = {"versions": versions, "whole": options.every == 1 and not options.names, "models": tried}
    (options.directory / "corpus.json").write_text(json.dumps(corpus, indent=1) + "\n")
    for which in ("as they are", "with initializers"):
        of = [case for name, case in tried.items() if name.endswith(".init") == (which != "as they are")]
        of = [case for case in of if not case["status"].startswith("no case")]
        here = sum(case["status"] == "here" for case in of)
        print(f"{versions}: {which}: {here} of {len(of)} imported")
    print(f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
