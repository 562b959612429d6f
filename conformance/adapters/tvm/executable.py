"""The executable that TVM makes of a program: its text, and the tables that the text does not show."""

import os
import struct
import tempfile

import tvm
import tvm_ffi
from tvm import relax
from tvm.relax import vm_build

from faults import Unsupported
from run import lowering
from tensors import float_bits

_TARGET = "llvm"
#: How a file of an executable begins, and a tensor in it.
MAGIC, _TENSOR_MAGIC = 0xD225DE2F4214151E, 0xDD5E40F096B4A13F
#: A packed function, one that consists of instructions, and one that is compiled as a whole.
_PACKED_FUNC, _VM_FUNC, _VM_TIR_FUNC = 0, 1, 2


def executable(program):
    """Compiled as for a run, up to where TVM would generate machine code of the `PrimFunc`s."""
    mod = program.derive()
    program.beat("compile")
    with lowering():
        lifted = relax.transform.LambdaLift()(mod)
        builder, prim_funcs = _generated(lifted)
        made = builder.get()
    if "runtime.disco." in made.as_text():
        raise Unsupported("a world of workers")
    functions, constants = tables(_saved(made.mod))
    return {
        "text": made.as_text(),
        "functions": functions,
        "constants": constants,
        "prim_funcs": prim_funcs.script(show_meta=True) if prim_funcs is not None else "",
    }


def described(module):
    """The executable of a module whose functions are compiled, the names of the packed functions that it calls, and those
    of the functions that are compiled as a whole. Each of the last is described as a call of `compiled.NAME`."""
    functions, constants = _read(_saved(module))
    text = module["as_text"]()
    told = []
    for kind, function in functions:
        if kind == _VM_TIR_FUNC:
            params = function["params"]
            args = ", ".join(f"%{number}" for number in range(params))
            text += f"\n@{function['name']}:\n  call compiled.{function['name']} in: {args} dst: %{params}\n  ret %{params}\n"
            function = {**function, "registers": params + 1}
        if kind != _PACKED_FUNC:
            told.append(function)
    names = {of: [function["name"] for kind, function in functions if kind == of] for of in (_PACKED_FUNC, _VM_TIR_FUNC)}
    described = {"text": text, "functions": told, "constants": constants, "prim_funcs": ""}
    return described, names[_PACKED_FUNC], names[_VM_TIR_FUNC]


def _generated(mod):
    """As `tvm.compile` begins: the pipeline and the generation of instructions."""
    target = tvm.target.Target(_TARGET)
    with target:
        mod = relax.get_pipeline("default")(mod)
    builder = relax.ExecBuilder()
    rest = vm_build._vmcodegen(builder, mod, "bytecode")
    return builder, vm_build._filter_tir(rest)


def _saved(module):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "saved")
        module.write_to_file(path, "relax.VMExecutable")
        with open(path, "rb") as file:
            return file.read()


class _Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        layout = "<" + layout
        found = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return found if len(found) > 1 else found[0]

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def text(self):
        return self.bytes(self.take("Q")).decode()

    def many(self, read):
        return [read() for _ in range(self.take("Q"))]


def tables(data):
    """The functions that consist of instructions, and the constants, of a saved executable."""
    functions, constants = _read(data)
    return [told for kind, told in functions if kind == _VM_FUNC], constants


def _read(data):
    """The kind and the properties of each function, and the constants."""
    stream = _Stream(data)
    if stream.take("Q") != MAGIC:
        raise Unsupported("an executable that is saved in another form")
    stream.text()
    functions = stream.many(lambda: _function(stream))
    # In which memory constants lie: here there is one.
    stream.many(lambda: (stream.take("q"), stream.text()))
    return functions, stream.many(lambda: _constant(stream))


def _function(stream):
    kind, name = stream.take("i"), stream.text()
    _start, _end, params, registers = stream.take("qqqq")
    stream.many(stream.text)
    return kind, {"name": name, "params": max(params, 0), "registers": registers}


def _constant(stream):
    kind = stream.take("i")
    if kind not in _KINDS:
        raise Unsupported(f"a constant of the kind {kind}")
    name, read = _KINDS[kind]
    return {name: read(stream)}


def _dtype(stream):
    """The name of a data type, "void" for none."""
    return str(tvm_ffi.dtype.from_dlpack_data_type(stream.take("BBH"))) or "void"


def _tensor(stream):
    magic, _reserved, _device, _number, rank = stream.take("QQiii")
    if magic != _TENSOR_MAGIC:
        raise Unsupported("a tensor that is saved in another form")
    dtype = _dtype(stream)
    shape = [stream.take("q") for _ in range(rank)]
    return {"dtype": dtype, "shape": shape, "bits": stream.bytes(stream.take("q")).hex()}


#: The kinds of constants, by the number in the file: what each is called, and how it is read.
_KINDS = {
    1: ("Int", lambda stream: stream.take("q")),
    2: ("Bool", lambda stream: bool(stream.take("q"))),
    3: ("Float", lambda stream: float_bits(stream.take("d"))),
    5: ("DataType", _dtype),
    65: ("Str", _Stream.text),
    69: ("Shape", lambda stream: stream.many(lambda: stream.take("q"))),
    70: ("Tensor", _tensor),
}
