"""Is a known defect all that is wrong with what a pass made of a program?

A row of `CAUSES` rewrites the calls of an operator in a program, in one of two ways:

* as what the finding says that TVM computes (`MODEL`): the module behind the pass has to be allowed for that program;
* so that the condition of the finding does not arise (`AVOID`): the pass has to be allowed on that program.

So another defect, of the same operator or of any other, is not taken for a known one. `MESSAGES` are verdicts whose message
alone says the cause.
"""

import ast
import copy
import itertools
import re
import struct
import subprocess
from pathlib import Path

MODEL, AVOID = "model", "avoid"

#: A tensor without NaN, without what is nearly zero, without what is far below zero, and without infinities.
ORDERED = "R.where(R.equal({0}, {0}), {0}, R.zeros_like({0}))"
AWAY_FROM_ZERO = "R.where(R.less(R.abs({0}), R.full_like({0}, R.const(0.125))), R.full_like({0}, R.const(0.5)), {0})"
NOT_FAR_BELOW = "R.maximum({0}, R.full_like({0}, R.const(-1.0)))"
FINITE = "R.minimum(R.maximum({0}, R.full_like({0}, R.const(-4.0))), R.full_like({0}, R.const(4.0)))"
#: A tuple of what `all_class_non_max_suppression` gives in the format of ONNX, of a number of rows that is known.
ROWS = 'R.tuple(R.zeros(R.shape([2, 3]), "int64"), R.zeros(R.shape([1]), "int64"))'


def filled(template, call):
    """A template with the operands of a call."""
    return ast.parse(template.format(*map(ast.unparse, call.args)), mode="eval").body


def by(template):
    return lambda call: filled(template, call)


def operands(template, *which):
    """Puts a template in place of these operands."""

    def rewrite(call):
        alone = [ast.Call(call.func, [arg], []) for arg in call.args]
        args = [filled(template, alone[at]) if at in which else arg for at, arg in enumerate(call.args)]
        return ast.Call(call.func, args, call.keywords)

    return rewrite


def other_momentum(call):
    """The batch statistics and the running ones change places in the mean of both."""
    given = next((keyword.value.value for keyword in call.keywords if keyword.arg == "momentum"), 0.1)
    rest = [keyword for keyword in call.keywords if keyword.arg != "momentum"]
    return ast.Call(call.func, call.args, [*rest, ast.keyword("momentum", ast.Constant(1 - given))])


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def grid(call):
    """The coordinates are steps from -1, of a part of 2 - 1e-7."""
    sizes = [size.value for size in call.args[1].args[0].elts]
    steps = [float32((2 - 1e-7) / max(size - 1, 1)) for size in sizes]
    lines = [[float32(-1 + float32(at * step)) for at in range(size)] for size, step in zip(sizes, steps)]
    places = [(*reversed(place), 1.0) for place in itertools.product(*lines)]
    rows = [list(row) for row in zip(*places)]
    product = f'R.matmul({ast.unparse(call.args[0])}, R.const({rows}, "float32"))'
    return ast.parse(f"R.reshape({product}, R.shape({[-1, len(sizes), *sizes]}))", mode="eval").body


def with_softmax(call):
    return ast.Call(call.func, call.args, [keyword for keyword in call.keywords if keyword.arg != "apply_softmax"])


def some_bins(call):
    """Bins of the sizes of 0 are made and left out again."""
    sizes = next(keyword.value.elts for keyword in call.keywords if keyword.arg == "pooled_size")
    empty = [2 + axis for axis, size in enumerate(sizes) if size.value == 0]
    if not empty:
        return call
    for axis in empty:
        sizes[axis - 2] = ast.Constant(1)
    prims = lambda numbers: "(" + "".join(f"R.prim_value({number})," for number in numbers) + ")"
    slice_of = f"R.strided_slice({ast.unparse(call)}, {prims(empty)}, {prims([0] * len(empty))}, "
    return ast.parse(slice_of + prims([0] * len(empty)) + ")", mode="eval").body


def of_one_shape(call):
    """The first operand takes the place of the second one."""
    return ast.Call(call.func, [call.args[0], copy.deepcopy(call.args[0]), *call.args[2:]], call.keywords)


#: Operators on the elements of two tensors, whose sizes may be unknown together.
BINARY = (
    "(add|subtract|multiply|divide|(floor_)?(divide|mod)|mod|power|maximum|minimum|atan2|log_add_exp|(not_)?equal"
    "|(less|greater)(_equal)?|(logical|bitwise)_(and|or|xor)|(left|right)_shift)"
)

#: The folder, the operators, what stands in place of their calls, and how that is judged.
CAUSES = [
    ("log-add-exp-near-one", "log_add_exp", by("R.log(R.add(R.exp({0}), R.exp({1})))"), MODEL),
    ("batch-norm-momentum", "nn.batch_norm", other_momentum, MODEL),
    ("affine-grid-last-place", "image.affine_grid", grid, MODEL),
    ("transposed-convolution-of-infinities", "nn.conv[123]d_transpose", operands(FINITE, 1), AVOID),
    ("not-equal-of-nan", "not_equal", operands(ORDERED, 0, 1), AVOID),
    ("sum-of-unknown-sizes", BINARY, of_one_shape, AVOID),
    ("max-pool-backward-of-nan", "grad.max_pool2d_backward", operands(ORDERED, 1), AVOID),
    ("atanh-of-small", "atanh", operands(AWAY_FROM_ZERO, 0), AVOID),
    ("tanh-of-small", "tanh", operands(AWAY_FROM_ZERO, 0), AVOID),
    ("gelu-tail", "nn.gelu", operands(NOT_FAR_BELOW, 0), AVOID),
    ("regions-pooled-to-nothing", "vision.roi_pool", some_bins, AVOID),
    (
        "the releases before 0.27 have no `apply_softmax` (ops/vision.multibox_transform_loc-3-exact in the ledger)",
        "vision.multibox_transform_loc",
        with_softmax,
        AVOID,
    ),
    ("suppression-of-float64", "vision.all_class_non_max_suppression", operands('R.astype({0}, "float32")', 0, 1), AVOID),
    ("suppression-of-fewer-boxes", "vision.all_class_non_max_suppression", by(ROWS), AVOID),
]


def reads_behind(found, _=None):
    """Whether an index lies behind the end, and none before the beginning."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return len(index) == len(shape) and all(i >= 0 for i in index)


def repeats_no_one(found, _=None):
    """Whether each axis along which an index lies behind the end has the size 1."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return reads_behind(found) and all(i < size or size == 1 for i, size in zip(index, shape))


def counts_from_the_end(found, _=None):
    """Whether each index that lies outside is negative, and inside if it is counted from the end."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return len(index) == len(shape) and all(-size <= i < size for i, size in zip(index, shape))


def asks_for(found, program):
    """Whether the program itself asks for this data type, which no pass has made of another one."""
    return re.search(rf'R\.topk\(.*dtype=["\']{found[1]}["\']', program or "") is not None


OUTSIDE = r": `\w+\[([-\d, ]+)\]` is outside of the shape \[([\d, ]+)\]"
#: What a message says -> what it and the program have to say besides, and the folder.
MESSAGES = [
    (r"@index_tensor" + OUTSIDE, counts_from_the_end, "negative-index-of-a-tensor"),
    (r"@broadcast_to" + OUTSIDE, repeats_no_one, "broadcast-of-a-symbolic-size"),
    (
        r"@max_pool2d_backward: `maxpool_grad_argmax_v0\[([-\d, ]+)\]` is outside of the shape \[([\d, ]+)\]",
        reads_behind,
        "max-pool-backward-behind-the-gradient",
    ),
    (
        r"the target fails: topk raised an error: Unsupported output dtype: (uint32|uint64) \[PURE.ERR.OP\]",
        asks_for,
        "topk-places-as-uint32",
    ),
]


class Rewriting(ast.NodeTransformer):
    """A program with the calls of an operator rewritten."""

    def __init__(self, operators, rewrite):
        self.operators, self.rewrite, self.count = re.compile(r"R\." + operators), rewrite, 0

    def visit_Call(self, call):
        self.generic_visit(call)
        if not self.operators.fullmatch(ast.unparse(call.func)):
            return call
        self.count += 1
        return self.rewrite(call)


def rewritten(text, causes):
    """The program rewritten by these rows, or None if one of them finds no call of its operator."""
    tree = ast.parse(text)
    for _, operators, rewrite, _ in causes:
        rewriting = Rewriting(operators, rewrite)
        tree = rewriting.visit(tree)
        if not rewriting.count:
            return None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def by_message(message, program=None):
    for said, also, folder in MESSAGES:
        found = re.search(said, message)
        if found and also(found, program):
            return folder
    return None


def is_wrong(line):
    return line.get("verdict") not in ("allowed", "unchanged") or bool(line["contracts"])


class Judge:
    """Puts rewritten programs to a release. `ask(path)` gives the lines of `blame` on a program."""

    def __init__(self, tool, folder, runs, edition, ask):
        self.tool, self.folder, self.runs, self.edition, self.ask = tool, Path(folder), runs, edition, ask

    def causes(self, text, name):
        """The fewest folders that are all that is wrong with what the pass `name` made of a program, or None."""
        called = [cause for cause in CAUSES if rewritten(text, [cause])]
        for count in range(1, len(called) + 1):
            for causes in itertools.combinations(called, count):
                besides = self.besides(text, name, causes)
                if besides is not None:
                    return [cause[0] for cause in causes] + besides
        return None

    def besides(self, text, name, causes):
        """What else is known to be wrong where these causes are left out, or None if anything unknown is."""
        avoided = rewritten(text, [cause for cause in causes if cause[3] is AVOID])
        lines = [line for line in self.ask(self.file("avoided.py", avoided)) if name in (line.get("pass"), line.get("refuses"))]
        wrong = [line for line in lines if is_wrong(line)]
        said = [by_message(line.get("message") or "", avoided) for line in wrong]
        if all(said):
            return sorted(set(said)) if lines else None
        models = [cause for cause in causes if cause[3] is MODEL]
        is_as = bool(models) and all(self.is_as(rewritten(avoided, models), line.get("module")) for line in wrong)
        return [] if is_as else None

    def is_as(self, before, after):
        """Whether a module is allowed for a program."""
        if after is None:
            return False
        command = [self.tool, "refine", self.file("before.py", before), self.file("after.py", after), "--entry", "main"]
        command += ["--runs", str(self.runs), "--edition", self.edition]
        return subprocess.run(command, capture_output=True, text=True).returncode == 0

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path
