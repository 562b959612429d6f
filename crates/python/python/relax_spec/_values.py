"""Values: NumPy arrays and whatever has DLPack, numbers, tuples and shapes, to the notation of the command line and back."""

import struct

import numpy as np


class Shape(tuple):
    """A value of the type of shapes: `Shape((2, 3))`."""

    def __repr__(self):
        return f"shape({', '.join(map(str, self))})"


class PackedFunc(str):
    """A packed function, by its name."""

    def __repr__(self):
        return f"packed({self})"


def array_of(value):
    """The array of a tensor of any library; None if it is none."""
    if isinstance(value, np.ndarray) or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    # TVM's tensors are copied wherever they are.
    if hasattr(value, "numpy"):
        return value.numpy()
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") else None


def written(value, directory):
    """An argument in the notation of the command line. Arrays go into files of a directory. Text is such an argument."""
    if isinstance(value, PackedFunc):
        return f"packed({value})"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Shape) or type(value).__name__ == "Shape":
        return f"shape({', '.join(str(int(dim)) for dim in value)})"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(written(field, directory) for field in value)},)"
    array = array_of(value)
    if array is None:
        raise TypeError(f"an argument of type {type(value).__name__}")
    path = directory / f"argument{len(list(directory.glob('argument*')))}.npy"
    if array.dtype.name == "bfloat16":
        array = array.view("V2")
    np.save(path, array)
    return f"@{path}"


def read(value):
    """What a value in JSON is in Python."""
    if isinstance(value, str):
        return value
    ((kind, content),) = value.items()
    match kind:
        case "Tensor":
            return tensor(content)
        case "Tuple":
            return tuple(read(field) for field in content)
        case "Shape":
            return Shape(content)
        case "Float":
            return struct.unpack(">d", bytes.fromhex(content))[0] if isinstance(content, str) else float(content)
        case "PackedFunc":
            return PackedFunc(content)
    return content


def tensor(content):
    name = content["dtype"]
    if name.startswith(("bfloat", "float8", "float4", "float6")):
        import ml_dtypes

        dtype = np.dtype(getattr(ml_dtypes, name))
    else:
        dtype = np.dtype("bool" if name == "bool" else name)
    return np.frombuffer(bytes.fromhex(content["bits"]), dtype=dtype).reshape(content.get("shape", [])).copy()
