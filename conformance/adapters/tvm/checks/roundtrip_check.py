"""Does TVM read what `relax-spec convert` writes, and `relax-spec convert` what TVM writes?

    PYTHON roundtrip_check.py RELAX_SPEC DIRECTORY [GLOB]

For each program (`*.py`) of the directory:

1. its text in the dialect of this TVM must be accepted by TVM's parser;
2. TVM's own print of what it parsed must be read by `relax-spec convert` and be the original program again;
3. where TVM can parse its print at all, the module must be structurally equal to that of step 1.

"The original program again" is up to what TVM adds: names of variables, annotations where the original has
none (those that it has TVM may sharpen), `pure`, attributes that have their default, names for results of match
casts and of branches. Programs that `relax-spec check` rejects are left out: TVM's parser derives structural
information and refuses them, too. The exit status is 1 if a program fails.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack

#: The level of TVM's base check from which on nothing speaks against a fit.
POSSIBLY = 2

#: The empty tuple.
UNIT = {"Tuple": {"fields": []}}


class Failed(Exception):
    pass


class Unreadable(Failed):
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
    from text import parse_text

    try:
        return parse_text(text)
    except Rejected as fault:
        raise Unreadable(f"TVM does not read {what}: {fault.message}\n{numbered(text)}") from fault


def check(tool, path, dialect):
    import tvm_ffi

    if subprocess.run([tool, "check", str(path)], capture_output=True).returncode == 1:
        return False
    original = json.loads(convert(tool, path, "--to", "json"))
    text = convert(tool, path, "--to", "tvmscript", "--dialect", dialect)
    mod = parse(text, "our text")
    printed = mod.script(show_meta=True)
    try:
        if not tvm_ffi.structural_equal(mod, parse(printed, "its own print")):
            raise Failed(f"TVM's print of the module is another module:\n{numbered(printed)}")
    except Unreadable as fault:
        # That is between TVM and itself.
        print(f"NOTE {path.name}: {str(fault).splitlines()[0]}")
    read = json.loads(convert(tool, printed, "--to", "json"))
    difference = first_difference(original, read)
    if difference:
        raise Failed(f"{difference}\nTVM prints\n{numbered(printed)}")
    return True


# Comparison of two programs


def first_difference(original, read):
    ours, theirs = functions(original), functions(read)
    if ours.keys() != theirs.keys():
        return f"the functions are {sorted(ours)} and {sorted(theirs)}"
    for name, function in ours.items():
        # A PrimFunc is compared by TVM.
        if "Function" in function:
            comparison = Comparison()
            found = comparison.nodes(function, theirs[name], name) or comparison.annotations()
            if found:
                return found
    return None


def functions(module):
    return dict(module.get("funcs", []))


class Comparison:
    """Walks two trees at once and notes which variables of one stand where those of the other do."""

    def __init__(self):
        self.variables, self.shape_variables = {}, {}
        self.pending = []

    def nodes(self, a, b, where):
        """Where the trees differ first, in words; None if they do not."""
        if isinstance(a, dict) and isinstance(b, dict):
            return self.maps(tidy(a), tidy(b), where)
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return f"{where}: {len(a)} and {len(b)} items: {short(a)} and {short(b)}"
            return self.first(self.nodes(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b)))
        return None if a == b else f"{where}: {short(a)} and {short(b)}"

    def maps(self, a, b, where):
        for key in [*a, *(k for k in b if k not in a)]:
            if key in ("annotation", "ret_struct_info"):
                if key in a and key in b:
                    self.pending.append((a[key], b[key], f"{where}.{key}"))
                continue
            if key not in a or key not in b:
                return f"{where}: `{key}` only {'here' if key in a else 'there'}: {short((a | b)[key])}"
            if key == "body" and b[key] == UNIT:
                # TVM's parser writes unit for a variable that can be nothing else.
                continue
            found = self.field(key, a, b, f"{where}.{key}")
            if found:
                return found
        return None

    def field(self, key, a, b, where):
        x, y = a[key], b[key]
        if key in ("Var", "DataflowVar", "var", "shape") and isinstance(x, str) and isinstance(y, str):
            return self.same(self.variables, x, y, where)
        if is_dims(key, a) and isinstance(y, type(x)):
            return self.dims(x, y, where)
        return self.nodes(x, y, where)

    def dims(self, x, y, where):
        if isinstance(x, str) and isinstance(y, str):
            return self.same(self.shape_variables, x, y, where)
        if isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
            return self.first(self.dims(p, q, where) for p, q in zip(x, y))
        if isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys():
            return self.first(self.dims(x[k], y[k], where) for k in x)
        return None if x == y else f"{where}: {short(x)} and {short(y)}"

    def same(self, table, x, y, where):
        if table.setdefault(x, y) != y or list(table.values()).count(y) > 1:
            return f"{where}: the variables {x} and {y}"
        return None

    def first(self, found):
        return next((difference for difference in found if difference), None)

    def annotations(self):
        """TVM sharpens annotations, and forgets those sharper than what it derives: they must be comparable."""
        import judge
        from faults import Rejected, Unsupported

        for ours, theirs, where in self.pending:
            ours = self.translated(ours)
            try:
                _, (a, b) = judge.infos(ours, theirs)
                if max(judge.base_check(a, b), judge.base_check(b, a)) >= POSSIBLY:
                    continue
            except (Rejected, Unsupported) as fault:
                return f"{where}: {fault}"
            return f"{where}: {short(ours)} and {short(theirs)}"
        return None

    def translated(self, node):
        """Structural information of the original in the other's variables."""
        if isinstance(node, dict):
            return {key: self.translated_field(key, value, node) for key, value in node.items()}
        return [self.translated(item) for item in node] if isinstance(node, list) else node

    def translated_field(self, key, value, node):
        if key == "shape" and isinstance(value, str):
            return self.variables.get(value, value)
        return self.translated_dims(value) if is_dims(key, node) else self.translated(value)

    def translated_dims(self, node):
        if isinstance(node, str):
            return self.shape_variables.get(node, node)
        if isinstance(node, dict):
            return {key: self.translated_dims(value) for key, value in node.items()}
        return [self.translated_dims(item) for item in node] if isinstance(node, list) else node


def is_dims(key, node):
    """Whether a field holds dimensions."""
    if key == "shape":
        return "bits" not in node and isinstance(node[key], list)
    if key == "value":
        return "dtype" in node
    return key == "values" and isinstance(node[key], list) or key == "Prim" and "dtype" not in as_map(node[key])


def as_map(node):
    return node if isinstance(node, dict) else {}


def tidy(node):
    """One spelling for what means the same."""
    node = {key: value for key, value in node.items() if not (key == "pure" and value is True)}
    if "blocks" in node:
        node["blocks"] = merged(node["blocks"])
    if "struct_info" in node and "value" in node and "var" not in node:
        node["var"] = {"var": f"unused {id(node)}"}
    if "Op" in as_map(node.get("op")):
        node["attrs"] = without_defaults(node["op"]["Op"]["op_name"], node.get("attrs", {}))
    for branch in ("true_branch", "false_branch"):
        if branch in node:
            node[branch] = without_last_copy(node[branch])
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


def without_last_copy(branch):
    """In text a branch ends in an assignment to the variable of the `If`."""
    content = as_map(branch.get("SeqExpr"))
    blocks = merged(content.get("blocks", []))
    last = as_map(blocks[-1]["bindings"][-1]).get("VarBinding") if blocks and "kind" not in blocks[-1] else None
    if last is None or content["body"] != {"Var": last["var"]["var"]}:
        return branch
    kept = [*blocks[:-1], {"bindings": blocks[-1]["bindings"][:-1]}]
    return without_last_copy({"SeqExpr": {"blocks": kept, "body": last["value"]}})


def without_defaults(name, attrs):
    import ops
    from read import Reader

    defaults = {key: Reader().attr(value) for key, value in ops.default_fields(name).items()}
    nothing = ("None", {"DataType": "void"})
    return ops.without_defaults(defaults, {key: value for key, value in attrs.items() if value not in nothing})


def short(node):
    return json.dumps(node)[:300]


def main():
    import names
    import prelude

    prelude.register()
    tool, directory, *rest = sys.argv[1:]
    dialect = "tvm" + ".".join(names.VERSION.split(".")[:2])
    paths = sorted(pathlib.Path(directory).glob(rest[0] if rest else "*.py"))
    failed = skipped = 0
    for path in paths:
        try:
            skipped += not check(tool, path, dialect)
        except Failed as fault:
            failed += 1
            print(f"FAILED {path.name}: {fault}\n")
    print(f"{dialect}: {len(paths)} programs, {failed} failed, {skipped} not well typed")
    main.failed = failed or not paths


if __name__ == "__main__":
    in_large_stack(main)
    sys.exit(1 if getattr(main, "failed", True) else 0)
