#!/usr/bin/env python3
"""Builds real modules with the TVM at hand and writes what it prints and saves of them.

    make_corpus.py DIRECTORY            every module, at every stage of the pipelines
    make_corpus.py DIRECTORY --small    only those that are kept in conformance/corpus

Each module becomes NAME.py, its text with metadata, and NAME.json, as `tvm.ir.save_json` writes it. What TVM itself cannot build,
print or save is listed in `errors.txt`, with the reason. The test `corpus` reads the directory that RELAX_SPEC_CORPUS names.
"""

import pathlib
import sys

import numpy as np
import tvm
from tvm import relax, s_tir, te, tirx
from tvm.relax import op
from tvm.relax.frontend import nn

TensorInfo = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
AnyInfo = relax.ObjectStructInfo if hasattr(relax, "ObjectStructInfo") else relax.AnyType
INFO_ARGS = "sinfo_args" if hasattr(relax, "TensorStructInfo") else "ty_args"
DEFAULT = [
    "DispatchSampling", "DispatchSortScan", "LegalizeOps", "RewriteDataflowReshape", "ToNonDataflow", "RemovePurityChecking",
    "CallTIRRewrite", "StaticPlanBlockMemory", "RewriteCUDAGraph", "LowerAllocTensor", "KillAfterLastUse", "LowerRuntimeBuiltin",
    "ComputePrimValue", "VMShapeLower", "AttachGlobalSymbol",
]  # fmt: skip
FUSING = ["LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR"]
LOWERING = [
    "CanonicalizeLoop", "LowerCrossThreadReduction", "LowerInitBlock", "PlanAndUpdateBufferAllocationLocation",
    "ConvertBlocksToOpaque", "LiftThreadBinding", "CompactBufferAllocation", "UnifyThreadBinding", "LowerMatchBuffer", "Simplify",
    "LowerOpaqueBlock", "FlattenBuffer", "LoopPartition", "InjectVirtualThread", "InjectDoubleBuffer", "StorageRewrite",
    "UnrollLoop", "RemoveNoOp", "RewriteUnsafeSelect", "CommonSubexprElim", "AnnotateEntryFunc", "SplitHostDevice",
    "MakePackedAPI", "LowerTVMBuiltin", "LowerIntrin",
]  # fmt: skip
SMALL = {
    "nn_mlp", "nn_mlp.d02LegalizeOps", "nn_norms_bound", "nn_block", "nn_moe", "nn_embed", "op_addc",
    "op_addc_n.d06CallTIRRewrite", "op_addc_n.d13VMShapeLower", "op_layout", "op_layout_pad", "op_hint", "op_lambda",
    "op_sort.d01DispatchSortScan", "op_gelu.d02LegalizeOps", "op_tuple",
    "const_float8_e4m3fn_3", "const_bfloat16_2x3", "const_bool_3", "const_float32_inf",
    "shared_devices", "module_extern", "function_free", "functions", "scalars", "tir_matmul", "tir_matmul_threads",
    "tir_matmul.FlattenBuffer", "tir_matmul_threads.MakePackedAPI",
}  # fmt: skip


class Corpus:
    """Where modules go."""

    def __init__(self, directory, small):
        self.directory, self.small = pathlib.Path(directory), small
        self.directory.mkdir(parents=True, exist_ok=True)
        self.errors, self.written = [], 0

    def keep(self, name, make):
        """Writes a module; gives it back, or None where there is none."""
        try:
            module = make()
        except Exception as error:
            self.errors.append(f"{name}: not built: {str(error).strip()[-200:]!r}")
            return None
        if self.small and name not in SMALL:
            return module
        for suffix, write in [("py", lambda: module.script(show_meta=True)), ("json", lambda: tvm.ir.save_json(module))]:
            try:
                text = write()
            except Exception as error:
                self.errors.append(f"{name}.{suffix}: not written: {str(error).strip()[-200:]!r}")
                continue
            (self.directory / f"{name}.{suffix}").write_text(text + "\n")
            self.written += 1
        return module

    def stages(self, name, module, passes, target="llvm"):
        """A module after each pass."""
        with tvm.target.Target(target):
            for at, title in enumerate(passes):
                rooms = [relax.backend, relax.transform]
                found = next((getattr(room, title) for room in rooms if hasattr(room, title)), None)
                if module is None or found is None:
                    continue
                module = self.keep(f"{name}.d{at:02}{title}", lambda found=found, module=module: found()(module))


class MLP(nn.Module):
    def __init__(self):
        self.fc1, self.fc2 = nn.Linear(16, 32), nn.Linear(32, 8, bias=False)

    def forward(self, x):
        return self.fc2(nn.op.relu(self.fc1(x)))


class Conv(nn.Module):
    def __init__(self):
        self.conv, self.norm = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.GroupNorm(2, 8)

    def forward(self, x):
        return nn.op.silu(self.norm(self.conv(x)))


class Norms(nn.Module):
    def __init__(self):
        self.layer, self.rms = nn.LayerNorm(8), nn.RMSNorm(8, -1, bias=False)

    def forward(self, x):
        return self.rms(self.layer(x))


class Block(nn.Module):
    """Attention of a decoder, with its cache."""

    def __init__(self):
        self.qkv, self.cache = nn.Linear(16, 48), nn.KVCache(8, [2, 8])

    def forward(self, x: nn.Tensor, total: tirx.Var):
        _, length, _ = x.shape
        q, k, _ = nn.op.split(nn.op.reshape(self.qkv(x), (length, 3, 2, 8)), 3, axis=1)
        self.cache.append(nn.op.squeeze(k, 1))
        keys = nn.op.permute_dims(self.cache.view(total), [1, 2, 0])
        queries = nn.op.permute_dims(nn.op.squeeze(q, 1), [1, 0, 2])
        return nn.op.softmax(nn.op.matmul(queries, keys), axis=-1)


class Experts(nn.Module):
    """Which of four experts, and what they give."""

    def __init__(self):
        self.gate, self.weight = nn.Linear(8, 4, bias=False), nn.Parameter((4, 8, 8), "float32")

    def forward(self, x):
        scores, chosen = nn.op.topk(nn.op.softmax(self.gate(x), axis=-1), 2, axis=-1)
        return nn.op.sum(nn.op.take(self.weight, nn.op.reshape(chosen, [-1]), axis=0), axis=0), scores


class Embed(nn.Module):
    def __init__(self):
        self.table = nn.Embedding(32, 8)

    def forward(self, ids):
        return nn.op.astype(self.table(ids), "float16")


def models():
    tensor = nn.spec.Tensor
    yield "mlp", MLP(), {"x": tensor([1, 16], "float32")}
    yield "mlp_n", MLP(), {"x": tensor(["n", 16], "float32")}
    yield "conv", Conv(), {"x": tensor([1, 3, 8, 8], "float32")}
    yield "norms", Norms(), {"x": tensor(["b", 8], "float32")}
    yield "block", Block(), {"x": tensor([1, "s", 16], "float32"), "total": int}
    yield "moe", Experts(), {"x": tensor([4, 8], "float32")}
    yield "embed", Embed(), {"ids": tensor(["n"], "int32")}


def bound(module, params):
    """The module with its parameters as constants."""
    random = np.random.RandomState(0)
    values = {}
    for name, param in params:
        array = random.randn(*[int(size) for size in param.shape]).astype(param.dtype)
        values[name] = tvm.runtime.tensor(array)
    return relax.transform.BindParams("forward", values)(module)


def var(name, shape, dtype="float32"):
    return relax.Var(name, TensorInfo(shape, dtype))


def module_of(params, body):
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(body(builder, *params))
        builder.emit_func_output(result)
    return builder.get()


def f32(values):
    return relax.const(np.array(values, "float32"))


def i64(values):
    return relax.const(np.array(values, "int64"), "int64")


OPERATORS = {
    "addc": lambda b, x: op.add(x, relax.const(np.arange(8).astype("float32"))),
    "relu": lambda b, x: op.nn.relu(x),
    "gelu": lambda b, x: op.nn.gelu(x),
    "softmax": lambda b, x: op.nn.softmax(x),
    "logsoftmax": lambda b, x: op.nn.log_softmax(x),
    "layernorm": lambda b, x: op.nn.layer_norm(x, f32(np.ones(8)), f32(np.zeros(8)), [-1]),
    "sum": lambda b, x: op.sum(x, [1], True),
    "std": lambda b, x: op.std(x),
    "sort": lambda b, x: op.sort(x),
    "argsort": lambda b, x: op.argsort(x),
    "topk": lambda b, x: op.topk(x, 2, -1, "both"),
    "cumsum": lambda b, x: op.cumsum(x, 1),
    "unique": lambda b, x: op.unique(x),
    "nonzero": lambda b, x: op.nonzero(x),
    "where": lambda b, x: op.where(op.greater(x, relax.const(0.0)), x, relax.const(-1.5)),
    "split": lambda b, x: op.split(x, [3, 5], 1)[2],
    "concat": lambda b, x: op.concat([x, x], 0),
    "take": lambda b, x: op.take(x, i64([0, 2]), 1),
    "reshape": lambda b, x: op.reshape(x, (2, -1)),
    "slice": lambda b, x: op.strided_slice(x, [0], [1], [3]),
    "scatter": lambda b, x: op.scatter_elements(x, i64(np.zeros((1, 8))), f32(np.ones((1, 8))), 0),
    "matmul": lambda b, x: op.matmul(x, op.permute_dims(x)),
    "einsum": lambda b, x: op.einsum((x, x), "ij,kj->ik"),
    "quantize": lambda b, x: op.quantize(x, relax.const(0.5), relax.const(np.int8(1)), 0, "int8"),
    "layout": lambda b, x: op.layout_transform(x, lambda i, j: (i, j // 4, j % 4)),
    "layout_pad": lambda b, x: op.layout_transform(x, lambda i, j: (i, j // 3, j % 3), pad_value=2.0),
    "lambda": lambda b, x: b.emit_te(lambda a, k: tvm.topi.multiply(a, k), x, 2.0),
    "packed": lambda b, x: relax.call_pure_packed("f", x, **{INFO_ARGS: [TensorInfo((4, 8), "float32")]}),
    "dps": lambda b, x: relax.call_dps_packed("g", x, TensorInfo((4, 8), "float32")),
    "hint": lambda b, x: op.hint_on_device(x, tvm.cuda(1), "global"),
    "tuple": lambda b, x: relax.Tuple([x, relax.Tuple([x, relax.const(1)])]),
    "view": lambda b, x: op.memory.view(x, (8, 4)),
    "allreduce": lambda b, x: op.ccl.allreduce(x, "sum"),
}
IMAGES = {
    "conv": lambda b, x: op.nn.conv2d(x, f32(np.ones((4, 3, 3, 3))), padding=1),
    "max_pool": lambda b, x: op.nn.max_pool2d(x, (2, 2), (2, 2)),
    "avg_pool": lambda b, x: op.nn.avg_pool2d(x, (3, 3), padding=(1, 1)),
    "resize": lambda b, x: op.image.resize2d(x, (16, 16), method="cubic"),
    "batch_norm": lambda b, x: op.nn.batch_norm(x, *[f32(np.ones(3))] * 4, 1),
    "grid_sample": lambda b, x: op.image.grid_sample(x, f32(np.zeros((1, 2, 4, 4)))),
    "roi_align": lambda b, x: op.vision.roi_align(x, f32(np.zeros((1, 5))), (2, 2), 1.0),
}
DTYPES = [
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
]  # fmt: skip


def constant(dtype, shape):
    import ml_dtypes

    array = (np.arange(int(np.prod(shape))).reshape(shape) % 2).astype(getattr(ml_dtypes, dtype, None) or dtype)
    return module_of([], lambda b: relax.const(array, dtype))


def shared_devices():
    """Virtual devices of the module, and tensors on them."""
    device = relax.VDevice if hasattr(relax, "VDevice") else tvm.ir.VDevice
    llvm, cuda = device("llvm"), device("cuda", 0)
    x, y = relax.Var("x", TensorInfo((2, 3), "float32", llvm)), relax.Var("y", TensorInfo((2, 3), "float32", cuda))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, y]):
        with builder.dataflow():
            result = builder.emit_output(op.add(x, op.to_vdevice(y, llvm)))
        builder.emit_func_output(result)
    module = builder.get()
    module.update_global_info("vdevice", [llvm, cuda])
    return module


def scalars():
    """A size that is a parameter, and what is computed from it."""
    size = tirx.Var("n", "int64")
    if hasattr(relax, "PrimStructInfo"):
        params = [relax.Var("n", relax.PrimStructInfo(value=size)), var("x", (size, 4))]
        plus = relax.PrimValue(size + 1)
    else:
        params, plus = [size, var("x", (size, 4))], size + 1
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        total = builder.emit(plus)
        zeros = builder.emit(op.zeros(relax.ShapeExpr([size, size + 1]), "float32"))
        builder.emit_func_output(relax.Tuple([total, relax.Tuple([zeros, params[1]])]))
    return builder.get()


def function_free():
    """A function over a variable that nothing binds."""
    x = var("x", (4,))
    return relax.Function([], x, TensorInfo((4,), "float32"), True)


def functions():
    """Local functions and functions that call themselves, pure and not."""
    return tvm.script.from_source(f"""
@I.ir_module
class Module:
    @R.function
    def count(n: R.Tensor((), "int64"), again: R.Tensor((), "bool")) -> R.Tensor((), "int64"):
        if again:
            r: R.Tensor((), "int64") = Module.count(n, again)
        else:
            r: R.Tensor((), "int64") = n
        return r

    @R.function(pure=False)
    def told(x: R.Tensor((4,), "float32"), again: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        y = R.call_packed("demo.tell", x, {INFO_ARGS}=R.Tensor((4,), "float32"))
        if again:
            r: R.Tensor((4,), "float32") = Module.told(y, again)
        else:
            r: R.Tensor((4,), "float32") = y
        return r

    @R.function
    def main(x: R.Tensor((4,), "float32"), again: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(v: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.add(v, x)
            return w

        @R.function
        def loop(v: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            if again:
                r: R.Tensor((4,), "float32") = loop(v)
            else:
                r: R.Tensor((4,), "float32") = v
            return r

        with R.dataflow():
            a = inner(x)
            b = loop(a)
            R.output(b)
        return b

    @R.function(pure=False)
    def teller(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function(pure=False)
        def tell(v: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.call_packed("demo.tell", v, {INFO_ARGS}=R.Tensor((4,), "float32"))
            return w

        a = tell(x)
        return a
""")


def matmul():
    a, b = te.placeholder((16, 16), name="A"), te.placeholder((16, 16), name="B")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute((16, 16), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return tvm.IRModule({"main": te.create_prim_func([a, b, c])})


def matmul_threads():
    schedule = s_tir.Schedule(matmul())
    block = schedule.get_sblock("C")
    outer, inner = schedule.split(schedule.get_loops(block)[0], [None, 4])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")
    schedule.cache_read(block, 0, "shared")
    return schedule.mod


def lowered(corpus, name, module, target):
    """A module after each pass that lowers loops."""
    module = tirx.transform.BindTarget(tvm.target.Target(target, host="llvm"))(module)
    for title in LOWERING:
        found = next((getattr(room, title) for room in (s_tir.transform, tirx.transform) if hasattr(room, title)), None)
        if found is not None and module is not None:
            after = corpus.keep(f"{name}.{title}", lambda found=found, module=module: found()(module))
            module = after if after is not None else module


def main():
    corpus = Corpus(sys.argv[1], "--small" in sys.argv[2:])
    for name, model, spec in models():
        exported = model.export_tvm(spec={"forward": spec})
        module, params = exported[0], exported[1]
        corpus.keep(f"nn_{name}", lambda module=module: module)
        corpus.stages(f"nn_{name}", module, DEFAULT)
        corpus.stages(f"nn_{name}.fused", module, FUSING)
        with_weights = corpus.keep(f"nn_{name}_bound", lambda module=module, params=params: bound(module, params))
        corpus.stages(f"nn_{name}_bound", with_weights, DEFAULT)
    for name, body in OPERATORS.items():
        for suffix, rows in [("", 4), ("_n", tirx.Var("n", "int64"))]:
            made = corpus.keep(f"op_{name}{suffix}", lambda body=body, rows=rows: module_of([var("x", (rows, 8))], body))
            corpus.stages(f"op_{name}{suffix}", made, DEFAULT)
    for name, body in IMAGES.items():
        made = corpus.keep(f"image_{name}", lambda body=body: module_of([var("x", (1, 3, 8, 8))], body))
        corpus.stages(f"image_{name}", made, DEFAULT)
    for dtype in DTYPES:
        for shape in [(), (3,), (2, 0), (2, 3)]:
            title = f"const_{dtype}_{'x'.join(map(str, shape))}"
            corpus.keep(title, lambda dtype=dtype, shape=shape: constant(dtype, shape))
    for title, value in [("inf", -np.inf), ("nan", np.nan), ("tenth", 0.1), ("largest", 3.4028234663852886e38)]:
        corpus.keep(f"const_float32_{title}", lambda value=value: module_of([], lambda b: relax.const(value, "float32")))
    corpus.keep("shared_devices", shared_devices)
    corpus.keep("module_extern", lambda: tvm.IRModule({"f": relax.ExternFunc("g")}))
    corpus.keep("function_free", function_free)
    corpus.keep("functions", functions)
    corpus.keep("scalars", scalars)
    for name, make, target in [("tir_matmul", matmul, "llvm"), ("tir_matmul_threads", matmul_threads, "cuda")]:
        made = corpus.keep(name, make)
        if made is not None:
            lowered(corpus, name, made, target)
    (corpus.directory / "errors.txt").write_text("".join(f"{error}\n" for error in corpus.errors))
    print(f"{corpus.written} files, {len(corpus.errors)} modules or files that TVM could not make")


if __name__ == "__main__":
    main()
