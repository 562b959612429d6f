#!/usr/bin/env python3
"""Checks that TVM reads our text of a PrimFunc as the function that it printed itself.

    check_tir_print.py DIRECTORY

DIRECTORY holds NAME.py for each sample of make_tir_samples.py, as this project writes it for this version of TVM.
"""

import pathlib
import sys

import tvm
from make_tir_samples import OPERATORS, SCRIPTS, VERSION, operator_function, tile


def original(name):
    if name in OPERATORS:
        return operator_function(name)
    function = tvm.script.from_source(SCRIPTS[name][2])
    return tile(tvm.IRModule({"main": function}))["main"] if name == "matmul_tiled" else function


def same(a, b):
    try:
        tvm.ir.assert_structural_equal(a, b, map_free_vars=True)
        return True
    except ValueError:
        return False


def main():
    directory = pathlib.Path(sys.argv[1])
    wrong = 0
    names = [*OPERATORS, *SCRIPTS]
    for name in names:
        function = original(name)
        # Some functions TVM itself does not read back as they were.
        reread = tvm.script.from_source(function.script())
        if not same(reread, function):
            print(f"{name}: compared with what TVM makes of its own text")
            function = reread
        try:
            ours = tvm.script.from_source((directory / f"{name}.py").read_text())
            ours = ours.with_attr("global_symbol", function.attrs["global_symbol"])
            tvm.ir.assert_structural_equal(ours, function, map_free_vars=True)
        except Exception as error:  # each difference is reported, with the others
            wrong += 1
            print(f"{name}: {type(error).__name__}: {str(error).strip()[:600]}", file=sys.stderr)
    print(f"{VERSION}: {len(names) - wrong} of {len(names)} are the same")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
