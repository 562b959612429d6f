"""Tensor data and run-time values: JSON (dtype, shape, hexadecimal bits) to TVM and back."""

import struct

import ml_dtypes
import numpy as np
import tvm
import tvm_ffi

import names
from faults import Unsupported

_NUMPY = {"bfloat16": ml_dtypes.bfloat16, "bool": np.bool_}


def numpy_dtype(dtype):
    try:
        return np.dtype(_NUMPY.get(dtype, dtype))
    except TypeError as error:
        raise Unsupported(f"tensor data of {dtype}") from error


def to_array(data):
    dtype, shape = numpy_dtype(data["dtype"]), tuple(data.get("shape", []))
    if "bits" in data:
        return np.frombuffer(bytes.fromhex(data["bits"]), dtype=dtype).reshape(shape).copy()
    return np.array(data["values"], dtype=np.float64).astype(dtype).reshape(shape)


def from_array(array):
    dtype = "bool" if array.dtype == np.bool_ else array.dtype.name
    return {"dtype": dtype, "shape": list(array.shape), "bits": np.ascontiguousarray(array).tobytes().hex()}


def float_bits(value):
    return struct.pack(">d", value).hex()


def from_float_bits(bits):
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def _unknown_function(*_):
    raise RuntimeError("a packed function of which only the name is known was called")


class Values:
    """Values of one run, with the functions known by name and the arguments known by identity.

    `known` gives pairs of a function and its name beside those that the run asks for by name; `some_closure` makes a
    closure, of which only that it is one matters.
    """

    def __init__(self, known, some_closure):
        self.known = known
        self.some_closure = some_closure
        self.functions = []
        self.arguments = []

    def to_tvm(self, value, arguments):
        """`arguments` are the earlier arguments of the run, to which `Arg` refers."""
        if isinstance(value, str):
            return self._opaque(value)
        ((kind, content),) = value.items()
        match kind:
            case "Tensor":
                return tvm.runtime.tensor(to_array(content))
            case "Tuple":
                return [self.to_tvm(field, arguments) for field in content]
            case "Shape":
                return tvm_ffi.Shape(content)
            case "PackedFunc":
                return self.packed(content)
            case "Int":
                return content
            case "Bool":
                return bool(content)
            case "Float":
                return from_float_bits(content)
            case "Str":
                return content
            case "DataType":
                return tvm_ffi.dtype(content)
            case "Arg":
                return arguments[content]
        raise Unsupported(f"a value {kind} as argument")

    def _opaque(self, kind):
        match kind:
            case "Object":
                return tvm.ir.SourceName("some object")
            case "Closure":
                return self.some_closure()
        raise Unsupported(f"a value {kind} as argument")

    def packed(self, name):
        func = tvm.get_global_func(name, allow_missing=True)
        if func is None:
            # It can be passed around; no case says what a call of it would do.
            func = tvm_ffi.convert(_unknown_function)
        self.functions.append((func, name))
        return func

    def read(self, value):
        """The description of a value that TVM gives."""
        if value is None:
            return {"Tuple": []}
        if names.is_tensor(value):
            return {"Tensor": from_array(value.numpy())}
        # A shape is a list to Python too.
        if names.is_shape(value):
            return {"Shape": [int(d) for d in value]}
        if isinstance(value, (list, tuple, tvm_ffi.Array)):
            return {"Tuple": [self.read(field) for field in value]}
        if isinstance(value, bool):
            return {"Bool": value}
        if isinstance(value, int):
            return {"Int": value}
        if isinstance(value, float):
            return {"Float": float_bits(value)}
        # A data type is a string to Python too.
        if isinstance(value, tvm_ffi.dtype) or type(value).__name__ == "DataType":
            return {"DataType": names.dtype_text(value)}
        if isinstance(value, str):
            return {"Str": str(value)}
        return self._read_object(value)

    def _read_object(self, value):
        if isinstance(value, tvm_ffi.Function):
            for func, name in [*self.functions, *self.known()]:
                if func.same_as(value):
                    return {"PackedFunc": name}
            # The only other functions that a run can give: closures are objects of a kind of their own.
            return "PrimFunc"
        if "Closure" in type(value).__name__ or "Closure" in getattr(type(value), "__tvm_ffi_type_key__", ""):
            return "Closure"
        return "Object"
