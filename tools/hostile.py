#!/usr/bin/env python3
"""Makes hostile inputs of all kinds, runs the command on each, and counts what should not be.

    tools/hostile.py target/release/relax-spec --count 20000 [--first 0] [--seed 0] [--jobs 2] [--keep DIR]

Each input is made from its number alone, so that one can be made again: `--only N`. What must not be: a panic, an abort or another end by a
signal, more than 10 s of processors, a wait of more than 10 minutes, more than 2 GiB. The exit status is 1 if anything was.
"""

import argparse
import concurrent.futures
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

HEAD = "from tvm.script import ir as I, relax as R, tir as T\n@I.ir_module\nclass M:\n"
FUNC = HEAD + '    @R.function\n    def main(x: R.Tensor((3,), "float32")):\n'
EXTREMES = [
    "-1", "0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
    "4294967296", "-2147483649", "1e308", "1e-400", "nan", "-inf", "99999999999999999999999999", "0x7fffffffffffffff",
]
CONTROLS = [chr(c) for c in [*range(32), 127, *range(128, 160), 0x202E, 0x2066, 0x200B, 0xFEFF, 0xFFFE, 0xFFFF, 0xE0001]]
INFOS = [
    "Object", "Tensor((n, 4), float32)", "Tensor(ndim=2)", "Shape((n, m + 1))", "Tuple(Object, Shape((n)))",
    "Func((Tensor((n), float32)) -> Tensor((n + 1), float32))",
]
DEPTHS = [10, 900, 1_100, 5_000, 20_000, 100_000, 1_000_000]


def size(r):
    """How deep or wide: mostly moderate, sometimes a million."""
    return r.choice(DEPTHS if r.random() < 0.1 else DEPTHS[:4])


def noise(r, length):
    return bytes(r.randrange(256) for _ in range(length))


def nested(r, opening, inner, closing):
    depth = size(r)
    return opening * depth + inner + closing * (depth if r.random() < 0.7 else r.randrange(depth + 1))


def dims(r):
    ops = ["+", "-", "*", "//", "%"]
    names = ["n", "m", "k", *EXTREMES]
    text = r.choice(names)
    for _ in range(min(size(r), 2_000)):
        text = r.choice([
            lambda t: f"{t} {r.choice(ops)} {r.choice(names)}",
            lambda t: f"({t}) {r.choice(ops)} ({r.choice(names)})",
            lambda t: f"min({t}, {r.choice(names)})",
            lambda t: f"max({r.choice(names)}, {t})",
        ])(text)
        if len(text) > 100_000:
            break
    return text


def script(r):
    n = min(size(r), 100_000)
    return r.choice([
        lambda: FUNC + "".join(f"        y{i} = (x, x)\n" for i in range(n)) + "        return x\n",
        lambda: FUNC + "        y0 = (x, x)\n"
        + "".join(f"        y{i + 1} = (y{i}, y{i})\n" for i in range(min(n, 500))) + "        return x\n",
        lambda: FUNC + "".join(f"        y{i} = z{i}\n" for i in range(n)) + "        return x\n",
        lambda: HEAD + "    @R.function\n    def f():\n        return R.tuple()\n" * n,
        lambda: FUNC + "        return " + nested(r, "(", "x", ",)") + "\n",
        lambda: FUNC + "        return " + nested(r, "R.add(x, ", "x", ")") + "\n",
        lambda: FUNC + "        return " + "-" * n + "x\n",
        lambda: FUNC + "        return x" + "[0]" * n + "\n",
        lambda: FUNC + f"        return R.{r.choice(OPERATORS)}\n".replace("?", r.choice(EXTREMES)).replace("!", r.choice(EXTREMES)),
        lambda: FUNC.replace("(3,)", f"({dims(r).replace('n', '3')},)") + "        return x\n",
        lambda: FUNC + f'        return R.str("{"".join(r.choice(CONTROLS) for _ in range(20))}")\n',
        lambda: FUNC.replace("main", "m" + r.choice(CONTROLS)) + "        return x\n",
        lambda: FUNC + "        return x #" + "x" * n * 10,
        lambda: FUNC[: r.randrange(len(FUNC))],
        lambda: "x = [" + "1," * n + "]\n",
        lambda: "\n" * n + "@",
        lambda: '"""' + "\\" * n,
    ])()


OPERATORS = [
    "split(x, ?)", "split(x, [?, !])", "split(x, 2, axis=?)", "strided_slice(x, [0], [?], [!], [?])", "reshape(x, (?, !))",
    "expand_dims(x, ?)", "squeeze(x, ?)", "sum(x, axis=?)", "arange(?, !, 1)", "full((?, !), R.const(1.0))", "zeros((?,), \"float32\")",
    "repeat(x, ?, 0)", "tile(x, (?, !))", "take(x, R.const([0]), axis=?)", "one_hot(R.const([1]), R.prim_value(1), R.prim_value(0), ?, axis=!)",
    "nn.conv1d(x, x, strides=?, padding=!)", "nn.max_pool2d(x, pool_size=?, strides=!)", "topk(x, k=?)", "cumsum(x, axis=?)", "roll(x, ?, 0)",
    "broadcast_to(x, (?, 3))", "concat((x, x), axis=?)", "stack((x, x), axis=?)", "gather_elements(x, R.const([0]), axis=?)", "eye(?, !, 0)",
    "tril(x, ?)", "nn.pad(x, (?, !))", "image.resize2d(x, (?, !))", "nn.softmax(x, axis=?)", "permute_dims(x, [?])", "flip(x, ?)",
]


def data(r, json_form):
    opening, closing = r.choice([("[", "]"), ("{\"a\":", "}")] if json_form else [("(", ")"), ("[", "]"), ("Some(", ")"), ("{\"a\":", "}")])
    n = min(size(r), 200_000)
    return r.choice([
        lambda: nested(r, opening, "0", closing),
        lambda: "[" + "0," * n + "0]",
        lambda: '{"funcs": [["f", ' + nested(r, '{"Tuple": {"fields": [', '{"Var": "x"}', "]}}") + "]]}",
        lambda: '{"version": ' + r.choice([*EXTREMES, '"1"', "null", "true"]) + ', "funcs": []}',
        lambda: "(version: " + r.choice([*EXTREMES, '"1"', "None", "'1'"]) + ", funcs: [])",
        lambda: "/*" * n + "*/" * r.randrange(n + 1) + "()",
        lambda: "('" + r.choice("([{") + "', r#\"" + "(" * n + '"#)',
        lambda: '{"' + "a" * n + '": "' + "\\u202e" * 5 + "\\ud800" * r.randrange(2) + '"}',
        lambda: '{"nbformat": 4, "cells": []}',
        lambda: '{"nodes": [' + '{"type_key": "relax.Var"},' * min(n, 1000) + '], "root": ' + r.choice(EXTREMES) + "}",
    ])()


def relay(r):
    return '#[version = "0.0.5"]\ndef @main(%x) { ' + r.choice([
        lambda: nested(r, "(", "%x", ",)"),
        lambda: nested(r, "let %y = %x; ", "%y", ""),
        lambda: nested(r, "if (%x) {", "%x", "} else { %x }"),
        lambda: "%x" + ".0" * min(size(r), 50_000),
        lambda: "meta[relay.Constant][" + r.choice(EXTREMES) + "]",
    ])() + " }"


def npy(r):
    shape = r.choice(["(3,)", f"({r.choice(EXTREMES)},)", f"({r.choice(EXTREMES)}, {r.choice(EXTREMES)})", "(" + "1," * min(size(r), 10_000) + ")", "3", "()"])
    header = f"{{'descr': '{r.choice(['<f4', '>i8', '|V2', '|O', '<U5', '?'])}', 'fortran_order': {r.choice(['True', 'False', '1'])}, 'shape': {shape}, }}"
    header = header.encode() + b"\n"
    length = len(header) if r.random() < 0.7 else r.randrange(65536)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length % 65536) + header + noise(r, r.randrange(64))


def executable(r):
    return r.choice([
        lambda: f"@main(x) registers {r.choice(EXTREMES)}:\n  goto {r.choice(EXTREMES)}\n",
        lambda: "@main() :\n" + "  ret r0\n" * min(size(r), 100_000),
        lambda: '{"functions": [' + nested(r, "[", "", "]") + "]}",
    ])()


def question(r):
    args = r.choice([
        lambda: [INFO_JSON, json.loads('"Object"')],
        list,
        dict,
        lambda: ["Object"] * min(size(r), 10_000),
        lambda: [{"Tensor": {"shape": [int(float(r.choice(["1", "-1", "9e18"])))], "ndim": r.choice([-1, 2**70, 0])}}] * 2,
    ])()
    op = r.choice(["unify", "glb", "compatibility", "prove_equal", "evaluate", "parse", "decode", "no_such", "hello", ""])
    return json.dumps({"id": r.choice([1, -1, 2**70, "x", None]), "op": op, "args": args})


INFO_JSON = {"Tensor": {"shape": ["n", 4], "dtype": "float32", "ndim": 2}}


def scarred(r, content):
    """The same with a wound, sometimes."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    if not content or r.random() < 0.5:
        return content
    at = r.randrange(len(content))
    return r.choice([
        lambda: content[:at],
        lambda: content[:at] + noise(r, 8) + content[at:],
        lambda: content[:at] + r.choice(EXTREMES).encode() + content[at + 1:],
        lambda: content[:at] + r.choice(CONTROLS).encode("utf-8", "surrogatepass") + content[at:],
        lambda: content[at:] + content[:at],
    ])()


def make(number, seed):
    """An input: its arguments, in which FILE stands for the file, the ending of that, its content, and standard input."""
    r = random.Random(seed * 1_000_003 + number)
    arg = lambda text: text.replace("\0", "").encode("utf-8", "replace").decode()[:100_000]
    kind = r.randrange(14)
    if kind <= 3:
        command = r.choice([["check"], ["check", "--format", "json"], ["types"], ["normalize"], ["convert", "--to", "json"], ["build"], ["check", "--types"]])
        return [*command, "FILE"], "py", scarred(r, script(r)), b""
    if kind <= 5:
        form = r.random() < 0.5
        return [r.choice(["check", "convert", "normalize"]), "FILE"], "json" if form else "ron", scarred(r, data(r, form)), b""
    if kind == 6:
        return ["check", "FILE"], "relay", scarred(r, relay(r)), b""
    if kind == 7:
        a, b = arg(dims(r)), arg(dims(r))
        prover = r.choice(["alpha", "algebraic", "exhaustive"])
        return ["judge", "equal", "--prover", prover, "--", a, b if r.random() < 0.7 else a], "", b"", b""
    if kind == 8:
        info = lambda: arg(r.choice([lambda: r.choice(INFOS), lambda: nested(r, "Tuple(", "Object", ")"), lambda: f"Tensor(({dims(r)}), float32)", lambda: f"Tensor(ndim={r.choice(EXTREMES)})"])())
        judgement = r.choice(["unify", "compat", "order", "map"])
        return ["judge", judgement, *r.choice([["--explain"], []]), "--", info(), info()], "", b"", b""
    if kind == 9:
        value = r.choice([lambda: nested(r, "[", "1", "]"), lambda: f"zeros({r.choice(EXTREMES)}, {r.choice(EXTREMES)}):float32", lambda: f"[{r.choice(EXTREMES)}]:int8", lambda: nested(r, "(", "1", ",)"), lambda: f"shape({r.choice(EXTREMES)})", lambda: "@FILE"])()
        return ["run", "PROGRAM", "--arg", arg(value)], "npy", scarred(r, npy(r)), b""
    if kind == 10:
        return ["vm", r.choice(["run", "verify"]), "FILE"], "rvm", scarred(r, executable(r)), b""
    if kind == 11:
        lines = b"\n".join(scarred(r, question(r)) for _ in range(20)) + b"\n"
        return r.choice([["adapter"], ["judge", "--stdin"]]), "", b"", lines
    if kind == 12:
        ledger = r.choice([data(r, False), '[(case: "x", outcome: crash, reason: "' + "".join(CONTROLS) + '", link: Some("javascript:1"))]'])
        return ["conform", "types/lub-eq", "--expect", "FILE"], "ron", scarred(r, ledger), b""
    content = r.choice([b"", b"\0" * 100, b"\xff\xfe", b"\xef\xbb\xbf", noise(r, 1000), b" " * 10_000])
    return [r.choice(["check", "types", "run"]), "FILE"], r.choice(["py", "ron", "json", "relay", "ipynb", "txt"]), content, b""


SECONDS, WAIT, BYTES = 10, 600, 2 << 30
TICKS = os.sysconf("SC_CLK_TCK")
PANICS = ["panicked at", "internal error", "overflowed its stack", "memory allocation of"]


def used(pid):
    """The seconds of processors that a process has used: on a busy machine the clock says little of it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return 0.0


def run(tool, number, seed, keep):
    args, ending, content, given = make(number, seed)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, f"input.{ending}" if ending else "input")
        program = os.path.join(directory, "program.py")
        with open(path, "wb") as file:
            file.write(content)
        with open(program, "w") as file:
            file.write(FUNC + "        return x\n")
        args = [arg.replace("FILE", path).replace("PROGRAM", program) for arg in args]
        start = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([tool, *args], stdin=subprocess.PIPE, stdout=out, stderr=err)
            try:
                try:
                    child.stdin.write(given)
                    child.stdin.close()
                except BrokenPipeError:
                    pass
                while True:
                    done, status, usage = os.wait4(child.pid, os.WNOHANG)
                    if done:
                        break
                    waited = time.monotonic() - start
                    if waited > WAIT or waited > SECONDS and used(child.pid) > 3 * SECONDS:
                        child.kill()
                        _, status, usage = os.wait4(child.pid, 0)
                        break
                    time.sleep(0.005)
                child.returncode = os.waitstatus_to_exitcode(status)
            finally:
                if child.returncode is None:
                    child.kill()
            took = usage.ru_utime + usage.ru_stime
            err.seek(max(0, err.seek(0, 2) - 100_000))
            said = err.read().decode("utf-8", "replace")
        faults = []
        if any(word in said for word in PANICS):
            faults.append("panic")
        if child.returncode < 0 or child.returncode > 5:
            faults.append(f"ended by {child.returncode}")
        if took > SECONDS:
            faults.append(f"{took:.1f} s")
        if usage.ru_maxrss * 1024 > BYTES:
            faults.append(f"{usage.ru_maxrss >> 10} MiB")
        if faults and keep:
            os.makedirs(keep, exist_ok=True)
            with open(os.path.join(keep, f"{number}.{ending or 'txt'}"), "wb") as file:
                file.write(content or given)
        return number, faults, args[:2], child.returncode, took, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input; the ones before it are left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    options = parser.parse_args()
    numbers = [options.only] if options.only is not None else range(options.first, options.count)
    statuses, wrong, slowest, largest = {}, 0, 0.0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, faults, args, status, took, rss in pool.map(lambda n: run(options.tool, n, options.seed, options.keep), numbers):
            if number % 1000 == 999:
                print(f"{number + 1} so far", file=sys.stderr, flush=True)
            statuses[status] = statuses.get(status, 0) + 1
            slowest, largest = max(slowest, took), max(largest, rss)
            if faults:
                wrong += 1
                print(f"{number}: {', '.join(faults)}: {' '.join(args)[:100]}", flush=True)
    print(f"{len(numbers)} inputs: {wrong} that should not be; at most {slowest:.2f} s of processors and {largest >> 10} MiB; by exit status {dict(sorted(statuses.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
