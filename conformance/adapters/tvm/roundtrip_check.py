"""Does TVM read what `relax-spec convert` writes, and `relax-spec convert` what TVM writes?

    PYTHON roundtrip_check.py RELAX_SPEC DIRECTORY [GLOB]

For each program (`*.py`) of the directory:

1. its text in the dialect of this TVM must be accepted by TVM's parser;
2. TVM's own print of what it parsed must be read by `relax-spec convert` and be the original program again;
3. TVM must parse its print to a module that is structurally equal to that of step 1.

"The original program again" is up to what TVM adds: names of variables, annotations where the original has
none, `pure`, attributes that have their default, and a name for the result of a match cast. The exit status is 1
if a program fails.
"""

import json
import pathlib
import subprocess
import sys

from adapter import in_large_stack


class Failed(Exception):
    pass


def convert(tool, source, *options):
    """`source` is a path, or a text for standard input."""
    path, text = (source, None) if isinstance(source, pathlib.Path) else ("-", source)
    run = subprocess.run([tool, "convert", str(path), *options], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        raise Failed(f"relax-spec convert {' '.join(options)}: {run.stderr.strip()[:2000]}\n{numbered(text)}")
    return run.stdout


def numbered(text):
    lines = (text or "").splitlines()
    return "\n".join(f"{i:4} {line}" for i, line in enumerate(lines, 1))


def parse(text, what):
    from faults import Rejected
    from programs import parse_text

    try:
        return parse_text(text)
    except Rejected as fault:
        raise Failed(f"TVM does not read {what}: {fault.message}\n{numbered(text)}") from fault


def check(tool, path, dialect):
    import tvm_ffi

    original = json.loads(convert(tool, path, "--to", "json"))
    text = convert(tool, path, "--to", "tvmscript", "--dialect", dialect)
    mod = parse(text, "our text")
    printed = mod.script(show_meta=True)
    again = parse(printed, "its own print")
    if not tvm_ffi.structural_equal(mod, again):
        raise Failed(f"TVM's print of the module is another module:\n{numbered(printed)}")
    read = json.loads(convert(tool, printed, "--to", "json"))
    difference = first_difference(original, read)
    if difference:
        raise Failed(f"{difference}\nTVM prints\n{numbered(printed)}")


# Comparison of two programs


def first_difference(original, read):
    ours, theirs = functions(original), functions(read)
    if ours.keys() != theirs.keys():
        return f"the functions are {sorted(ours)} and {sorted(theirs)}"
    for name, function in ours.items():
        if "Function" not in function:
            # A PrimFunc is compared by TVM.
            continue
        left, right = align(function, theirs[name])
        found = differing(rename(left), rename(right), name)
        if found:
            return found
    return None


def functions(module):
    return {name: function for name, function in module.get("funcs", [])}


def align(a, b):
    """Both without what only one of them says and the other may leave open."""
    if isinstance(a, dict) and isinstance(b, dict):
        a, b = tidy(a), tidy(b)
        out_a, out_b = {}, {}
        # In the order of one of them, so that variables are met in the same order.
        for key in [*a, *(k for k in b if k not in a)]:
            if key in ("annotation", "ret_struct_info") and (key in a) != (key in b):
                continue
            if key in a and key in b:
                out_a[key], out_b[key] = align(a[key], b[key])
            elif key in a:
                out_a[key] = a[key]
            else:
                out_b[key] = b[key]
        return out_a, out_b
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [align(x, y) for x, y in zip(a, b)]
        return [x for x, _ in pairs], [y for _, y in pairs]
    return a, b


def tidy(node):
    """One spelling for what means the same."""
    node = {key: value for key, value in node.items() if not (key == "pure" and value is True)}
    if "blocks" in node:
        node["blocks"] = merged(node["blocks"])
    if "struct_info" in node and "value" in node and "var" not in node:
        node["var"] = {"var": "_"}
    if "Op" in node.get("op", {}):
        node["attrs"] = without_defaults(node["op"]["Op"]["op_name"], node.get("attrs", {}))
    return node


def merged(blocks):
    """Neighbouring ordinary blocks are one; empty ones are none."""
    out = []
    for block in blocks:
        if not block.get("bindings"):
            continue
        if out and "kind" not in block and "kind" not in out[-1]:
            out[-1] = {"bindings": out[-1]["bindings"] + block["bindings"]}
        else:
            out.append(block)
    return out


def without_defaults(name, attrs):
    import ops
    from read import Reader

    defaults = {key: Reader().attr(value) for key, value in ops.default_fields(name).items()}
    return {key: value for key, value in attrs.items() if value != defaults.get(key) and value != "None"}


def rename(tree):
    """Variables numbered in the order in which they are met."""
    variables, shape_variables = {}, {}

    def var(identity):
        return f"v{variables.setdefault(identity, len(variables))}"

    def dim(node):
        if isinstance(node, str):
            return f"n{shape_variables.setdefault(node, len(shape_variables))}"
        if isinstance(node, dict):
            return {key: [dim(operand) for operand in operands] for key, operands in node.items()}
        return node

    def walk(node):
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {key: field(key, value, node) for key, value in node.items()}

    def field(key, value, node):
        if key in ("Var", "DataflowVar", "var") and isinstance(value, str):
            return var(value)
        if key == "shape" and isinstance(value, str):
            return var(value)
        if key == "shape" and "bits" in node:
            return value
        if key in ("shape", "values") and isinstance(value, list):
            return [dim(item) for item in value]
        if key == "value" and "dtype" in node and not isinstance(value, dict) or key == "Prim" and is_dim(value):
            return dim(value)
        if key == "value" and node.keys() <= {"value", "dtype", "float"}:
            return dim(value) if "dtype" in node else value
        return walk(value)

    return walk(tree)


def is_dim(value):
    return not isinstance(value, dict) or "dtype" not in value


def differing(a, b, where):
    """Where two trees differ first, in words; None if they do not."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(k for k in b if k not in a)]:
            if key not in a or key not in b:
                return f"{where}: `{key}` only {'here' if key in a else 'there'}: {json.dumps((a | b)[key])[:500]}"
            found = differing(a[key], b[key], f"{where}.{key}")
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items: {json.dumps(a)[:500]} and {json.dumps(b)[:500]}"
        for index, (x, y) in enumerate(zip(a, b)):
            found = differing(x, y, f"{where}[{index}]")
            if found:
                return found
        return None
    return None if a == b else f"{where}: {json.dumps(a)[:300]} and {json.dumps(b)[:300]}"


def main():
    import names
    import prelude

    prelude.register()
    tool, directory, *rest = sys.argv[1:]
    dialect = "tvm" + ".".join(names.VERSION.split(".")[:2])
    paths = sorted(pathlib.Path(directory).glob(rest[0] if rest else "*.py"))
    failed = 0
    for path in paths:
        try:
            check(tool, path, dialect)
        except Failed as fault:
            failed += 1
            print(f"FAILED {path.name}: {fault}\n")
    print(f"{dialect}: {len(paths)} programs, {failed} failed")
    main.failed = failed or not paths


if __name__ == "__main__":
    in_large_stack(main)
    sys.exit(1 if getattr(main, "failed", True) else 0)
