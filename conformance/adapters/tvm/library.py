"""A library that TVM has saved: its executable, and its compiled functions as packed functions.

    PYTHON library.py FILE

FILE is a shared library, or a saved executable without compiled functions. `relax-spec refine` runs the executable on its
own machine, and asks this process for each call of a compiled function, by the protocol of `--extern`
(`conformance/INTERPRETING.md`). The greeting has two fields more: `executable`, as the adapter's question of that name
gives it, and `keeps`. A call then says which arguments to keep, under which numbers (`keep`), and which are such tensors
(`kept`), and under which number to keep the first tensor that it changes of at least so many bytes (`keep_changed`); the
others follow. A reply lists the tensors that hold what they held before (`unchanged`) instead of their contents. A function
that is compiled as a whole consists of a call of the packed function `compiled.NAME`.
"""

import json
import math
import os
import sys

from adapter import in_large_stack, take_over_stdout

#: What stands in front of the name of a function that is compiled as a whole.
WHOLE = "compiled."
#: The file of an executable without compiled functions.
LOADERS = ("ffi.Module.load_from_file.relax.VMExecutable", "runtime.module.loadfile_relax.VMExecutable")


def loaded(path):
    """The module of a file."""
    import tvm

    with open(path, "rb") as file:
        is_library = file.read(8) != executable_magic()
    if is_library:
        return tvm.runtime.load_module(path)
    loader = next(filter(None, (tvm.get_global_func(name, allow_missing=True) for name in LOADERS)))
    return loader(path)


def executable_magic():
    import struct

    import executable

    return struct.pack("<Q", executable.MAGIC)


class Library:
    """The module of an executable, which imports those of the compiled functions."""

    def __init__(self, module):
        import tvm

        import prelude
        from executable import described
        from prelude import NOW
        from run import some_closure

        prelude.register()
        NOW.reset(None, some_closure)
        self.values, self.module, self.machine = NOW.values, module, None
        self.kept = {}
        self.executable, packed, whole = described(module)
        self.functions = {name: found for name in packed if (found := self.compiled(name)) is not None}
        #: Without a library there is no compiled function.
        has_code = bool(list(module.imports))
        self.functions |= {WHOLE + name: self.whole(name) for name in whole if has_code}
        wanted = [name for name in packed if tvm.get_global_func(name, allow_missing=True) is None]
        self.missing = [name for name in [*wanted, *(WHOLE + name for name in whole)] if name not in self.functions]

    def compiled(self, name):
        """The function of this name in the modules that are imported."""
        waiting = list(self.module.imports)
        while waiting:
            module = waiting.pop()
            if module.implements_function(name):
                return module.get_function(name)
            waiting += module.imports
        return None

    def whole(self, name):
        """A function that TVM's machine runs."""

        def call(*args):
            import tvm
            from tvm import relax

            from prelude import NOW

            if self.machine is None:
                self.machine = relax.VirtualMachine(self.module, tvm.cpu())
            NOW.effects.clear()
            result = self.machine[name](*args)
            if NOW.effects:
                print(
                    f"{name} has effects, and is compiled as a whole: their order is not seen here", file=sys.stderr, flush=True
                )
                os._exit(1)
            return result

        return call

    def answer(self, request):
        if request["op"] == "hello":
            # A compiled function has no effect but on its arguments, and writes tensors that nobody has written before.
            functions = [{"name": name, "pure": True, "initialized": False} for name in self.functions]
            functions += [{"name": name, "pure": True, "missing": True} for name in self.missing]
            return {"id": request["id"], "protocol": 1, "functions": functions, "executable": self.executable, "keeps": True}
        return {"id": request["id"], **self.call(self.functions[request["function"]], request)}

    def call(self, function, request):
        from run import read_with_identity
        from tensors import from_array

        arrays, args = self.arrays(request), []
        for number, value in enumerate(request["args"]):
            args.append(to_tensor(arrays[number]) if number in arrays else self.values.to_tvm(value, args))
        try:
            result = function(*args)
        except Exception as error:  # whatever it raises
            return {"outcome": "raises", "message": str(error).strip().splitlines()[-1]}
        # All tensors: one that the function wrote may hold what it held before.
        changed, unchanged = [], []
        keep, least = request.get("keep_changed") or (0, math.inf)
        for number, before in arrays.items():
            after = args[number].numpy()
            if after.tobytes() == before.tobytes():
                unchanged.append(number)
                continue
            changed.append([number, {"Tensor": from_array(after)}])
            if after.nbytes >= least:
                self.kept[keep] = after
                keep += 1
        value = {} if result is None else {"value": read_with_identity(result, args)}
        return {"outcome": "returns", "mutated": changed, "unchanged": unchanged, **value}

    def arrays(self, request):
        """The contents of the tensors among the arguments of a call, by their numbers."""
        from tensors import to_array

        given = enumerate(request["args"])
        arrays = {number: to_array(value["Tensor"]) for number, value in given if "Tensor" in value}
        self.kept |= {kept: arrays[number] for number, kept in request.get("keep", [])}
        return arrays | {number: self.kept[kept] for number, kept in request.get("kept", [])}


def to_tensor(array):
    import tvm

    return tvm.runtime.tensor(array)


def main():
    stream = take_over_stdout()
    library = Library(loaded(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            break
        stream.write(json.dumps(library.answer(request)) + "\n")
        stream.flush()
    # TVM's destructors at the end of the interpreter are of no use to anyone.
    os._exit(0)


if __name__ == "__main__":
    in_large_stack(main)
