"""Is a known defect all that is wrong with what a pass made of a program?

A row of `CAUSES` rewrites the calls of an operator in a program, in one of two ways:

* as what the finding says that TVM computes (`MODEL`): the module behind the pass has to be allowed for that program;
* so that the condition of the finding does not arise (`AVOID`): the pass has to be allowed on that program.

So another defect, of the same operator or of any other, is not taken for a known one. `MESSAGES` are verdicts whose message
alone says the cause. A refusal is known by the forms of the campaigns' ledger.
"""

import ast
import copy
import fnmatch
import itertools
import json
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

from known_messages import by_message
from lost_names import is_lost_under_another_name

ADAPTER = Path(__file__).resolve().parent.parent
LEDGER = ADAPTER.parent.parent / "ledger" / "tvm-programs.ron"
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


def without(*names):
    return lambda call: ast.Call(call.func, call.args, [given for given in call.keywords if given.arg not in names])


def with_attribute(name, value):
    given = ast.keyword(name, ast.Constant(value))
    return lambda call: ast.Call(call.func, call.args, [*without(name)(call).keywords, given])


def cast_behind(name):
    """The data type that an attribute asks for is that of a cast of the result."""

    def rewrite(call):
        dtypes = [ast.unparse(given.value) for given in call.keywords if given.arg == name]
        cast = f"R.astype({ast.unparse(without(name)(call))}, dtype={{}})"
        return ast.parse(cast.format(*dtypes), mode="eval").body if dtypes else call

    return rewrite


def of_swapped_vectors(call):
    """A grid in the order of places is one in the order of axes of the first two vectors swapped."""
    vectors = getattr(call.args[0], "elts", [])
    if len(vectors) < 2 or not any(ast.unparse(given) == "indexing='xy'" for given in call.keywords):
        return call
    swap = lambda items: [items[1], items[0], *items[2:]]
    grid = f"R.meshgrid(({', '.join(map(ast.unparse, swap(vectors)))},), indexing='ij')"
    fields = swap([f"{grid}[{field}]" for field in range(len(vectors))])
    return ast.parse(f"R.tuple({', '.join(fields)})", mode="eval").body


def renamed(name):
    return lambda call: ast.Call(ast.parse(f"R.{name}", mode="eval").body, call.args, call.keywords)


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


def some_bins(attribute):
    """Bins of the sizes of 0 that an attribute says are made and left out again."""

    def rewrite(call):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        sizes, layout = getattr(given.get(attribute), "elts", []), given.get("layout", ast.Constant("NC")).value
        first = next((axis for axis, name in enumerate(layout) if name in "DHW"), 2)
        empty = [first + axis for axis, size in enumerate(sizes) if size.value == 0]
        if not empty:
            return call
        for axis in empty:
            sizes[axis - first] = ast.Constant(1)
        prims = lambda numbers: "(" + "".join(f"R.prim_value({number})," for number in numbers) + ")"
        slice_of = f"R.strided_slice({ast.unparse(call)}, {prims(empty)}, {prims([0] * len(empty))}, "
        return ast.parse(slice_of + prims([0] * len(empty)) + ")", mode="eval").body

    return rewrite


def of_small_scores(call):
    """Where a mask is causal, the scores are not far below zero."""
    is_causal = any(given.arg == "causal_mask" and ast.unparse(given.value) != "None" for given in call.keywords)
    return operands(FINITE, 0, 1, 3)(call) if is_causal else call


def transformed(call):
    """A pool with its result in another layout is one whose elements change places behind it."""
    given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    layout = given.get("layout") or {"1": "NCW", "2": "NCHW", "3": "NCDHW"}[ast.unparse(call.func)[-2]]
    before, after = (dict(map(reversed, re.findall(r"(\d*)(\w)", name))) for name in (layout, given.get("out_layout") or layout))
    if {axis.upper() for axis in before} != {axis.upper() for axis in after}:
        return call
    # A place along an axis that is split is that of its part, and the place in the part.
    of_parts = lambda axis: f"{axis} * {before[axis.lower()]} + {axis.lower()}" if axis.lower() in before else axis
    place = lambda axis: f"({of_parts(axis.upper())}) {'%' if axis.islower() else '//'} {after.get(axis.lower(), 1)}"
    places = f"T.index_map(lambda {', '.join(before)}: ({', '.join(map(place, after))}))"
    made = ast.parse(f"R.layout_transform(x, index_map={places})", mode="eval").body
    made.args = [without("out_layout")(call)]
    return made


def in_the_type_of_the_result(call):
    """The operands have the data type of the places that come of them."""
    is_narrow = any(ast.unparse(given) == "out_int32=True" for given in call.keywords)
    return operands(f"R.astype({{0}}, 'int{32 if is_narrow else 64}')", 0, 1)(call)


def of_unknown_places(call):
    """Nothing is known of the shape of the places, but that it has four axes."""
    ends = [f"R.const({[end] * 4}, 'int64')" for end in (0, 2**31, 1)]
    return operands(f"R.dynamic_strided_slice({{0}}, {', '.join(ends)})", 1)(call)


def of_one_shape(call):
    """The first operand takes the place of the second one."""
    return ast.Call(call.func, [call.args[0], copy.deepcopy(call.args[0]), *call.args[2:]], call.keywords)


def of_one_index(call):
    """The first tensor of indices takes the place of the others."""
    tensors = [call.args[1].elts[0]] * len(call.args[1].elts) if isinstance(call.args[1], ast.Tuple) else []
    indices = ast.Tuple([copy.deepcopy(tensor) for tensor in tensors], ast.Load())
    return ast.Call(call.func, [call.args[0], indices], call.keywords) if tensors else call


#: Operators on the elements of two tensors, whose sizes may be unknown together.
BINARY = (
    "(add|subtract|multiply|divide|(floor_)?(divide|mod)|mod|power|maximum|minimum|atan2|log_add_exp|(not_)?equal"
    "|(less|greater)(_equal)?|(logical|bitwise)_(and|or|xor)|(left|right)_shift)"
)

#: The folder, the operators, what stands in place of their calls, and how that is judged.
CAUSES = [
    ("log-add-exp-near-one", "log_add_exp", by("R.log(R.add(R.exp({0}), R.exp({1})))"), MODEL),
    ("batch-norm-momentum", "nn.batch_norm", other_momentum, MODEL),
    ("instance-norm-without-center", "nn.instance_norm", without("center", "scale"), MODEL),
    ("layer-norm-without-center", "nn.layer_norm", without("center", "scale"), MODEL),
    ("group-norm-without-center", "nn.group_norm", without("center", "scale"), MODEL),
    ("meshgrid-xy", "meshgrid", of_swapped_vectors, AVOID),
    ("bucketize-of-floats", "bucketize", in_the_type_of_the_result, AVOID),
    ("grid-of-places-in-inference", "image.grid_sample", of_unknown_places, AVOID),
    ("eye-like-datatype", "eye_like", cast_behind("dtype"), AVOID),
    ("resize-out-dtype", "image.resize[23]d", cast_behind("out_dtype"), AVOID),
    ("affine-grid-last-place", "image.affine_grid", grid, MODEL),
    ("transposed-convolution-of-infinities", "nn.conv[123]d_transpose", operands(FINITE, 1), AVOID),
    ("maximum-of-minus-infinity", r"(max|min|nn\.max_pool[123]d)", operands(FINITE, 0), AVOID),
    ("mean-of-integers", "mean", renamed("sum"), AVOID),
    ("not-equal-of-nan", "not_equal", operands(ORDERED, 0, 1), AVOID),
    ("sum-of-unknown-sizes", BINARY, of_one_shape, AVOID),
    ("sum-of-unknown-sizes", "index_tensor", of_one_index, AVOID),
    ("max-pool-backward-of-nan", "grad.max_pool2d_backward", operands(ORDERED, 1), AVOID),
    ("atanh-of-small", "atanh", operands(AWAY_FROM_ZERO, 0), AVOID),
    ("tanh-of-small", "tanh", operands(AWAY_FROM_ZERO, 0), AVOID),
    ("gelu-tail", "nn.gelu", operands(NOT_FAR_BELOW, 0), AVOID),
    ("softplus-tail", "nn.softplus", operands(NOT_FAR_BELOW, 0), AVOID),
    ("regions-pooled-to-nothing", "vision.roi_(pool|align)", some_bins("pooled_size"), AVOID),
    ("adaptive-pool-to-nothing", r"nn\.adaptive_(max|avg)_pool[123]d", some_bins("output_size"), AVOID),
    (
        "the releases before 0.27 have no `apply_softmax` (ops/vision.multibox_transform_loc-3-exact in the ledger)",
        "vision.multibox_transform_loc",
        without("apply_softmax"),
        AVOID,
    ),
    (
        "a coordinate that int32 does not hold: what its cast gives, which is undefined, shows in no release",
        "image.grid_sample",
        operands(FINITE, 1),
        AVOID,
    ),
    (
        "no operator of a pool has a lowering for another layout of the result (ops/nn.avg_pool2d-8-exact in the ledger)",
        r"nn\.(adaptive_)?(max|avg)_pool[123]d",
        transformed,
        AVOID,
    ),
    (
        "no convolution has a lowering for layouts of data, weight and result that differ (ops/nn.conv3d-6-exact in the ledger)",
        r"nn\.conv[123]d(_transpose)?",
        without("data_layout", "kernel_layout", "out_layout"),
        AVOID,
    ),
    ("causal-attention-of-negative-scores", r"nn\.attention(_bias)?", of_small_scores, AVOID),
    ("multibox-of-a-large-size", "vision.multibox_transform_loc", operands(FINITE, 1), AVOID),
    ("topk-of-a-short-axis", "topk", with_attribute("k", 0), AVOID),
    ("suppression-of-float64", "vision.all_class_non_max_suppression", operands('R.astype({0}, "float32")', 0, 1), AVOID),
    ("suppression-of-fewer-boxes", "vision.all_class_non_max_suppression", by(ROWS), AVOID),
]


#: What a pass is accused of.
NOT_ALLOWED, BROKEN, REFUSED = "not allowed", "a contract is broken", "refused"
#: The passes that lose a tensor which a cast has given another name, what is said of it, and the folder.
OF_NAMES = [
    (
        "KillAfterLastUse",
        r"the target fails: the tensor of `(?P<name>\w+)` in the storage of `\w+` is used at .*\[MEM\.RELEASED\]",
        "killed-under-another-name",
    ),
    (
        "StaticPlanBlockMemory",
        r"the target fails: the tensor of `(?P<name>\w+)` in the storage of `\w+` is read at .* was written "
        r"through the tensor of `(?P<other>\w+)` at .*\[MEM\.OVERWRITTEN\]",
        "cast-in-reused-storage",
    ),
]
#: What a pass has to be accused of besides. Without the condition, much else changes.
SAYS = {"topk-of-a-short-axis": "a tensor is read that was not written in every element"}
#: What makes a release refuse a program. Without the condition, other operands are computed with.
REFUSALS = ("sum-of-unknown-sizes",)


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


def field(form, name):
    """A text, or a list of texts, of a form of the ledger; None if it does not have it."""
    found = re.search(rf'\b{name}: ("(?:[^"\\]|\\.)*"|\[[^]]*\])', form)
    return found and ast.literal_eval(found[1])


#: A message that says nothing of the operator, which a program may have beside the one that is refused.
VAGUE = ("Divide by zero", "CodeGenVM")


def refusals():
    """The forms of refusals by what they say, on any path: the message, the operators, the attributes, and the cause."""
    for form in LEDGER.read_text().splitlines():
        message, path = field(form, "message"), field(form, "path") or "pipeline"
        if "(kind: refused" in form and message and path.startswith("pipeline") and field(form, "stage") != "parse":
            attributes = [mark for mark in field(form, "with") or () if "=" in mark]
            yield message, field(form, "operators") or (), attributes, field(form, "finding") or field(form, "reason")


def left_to_others():
    """The operators that TVM's pipeline leaves to passes of others."""
    for statement in ast.parse((ADAPTER / "run.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "LEFT_TO_OTHERS":
            return ast.literal_eval(statement.value)
    raise ValueError("run.py does not say what is left to others")


def by_refusal(message, text, is_smallest=False):
    """Why a release refuses a program. The cause of a vague message is that of the smallest program with it."""
    left = re.search(r"CodeGenVM\w* cannot .*?\b(?:relax|R)\.([\w.]+)", message)
    if left and left[1] in left_to_others():
        return "an operator that TVM leaves to the passes of others"
    if any(word in message for word in VAGUE) and not is_smallest:
        return None
    # All sizes of the result of a call are known if all sizes in the program are.
    is_known = left and not re.search(r"T\.int64\(\)|ndim=|R\.(Tensor|Shape|Object)\b(?!\()", text)
    called, said = set(re.findall(r"\bR\.([\w.]+)\(", text)), re.sub(r"\d+", "#", message)
    for form, operators, attributes, cause in refusals():
        has = not operators or any(fnmatch.filter(called, name.removeprefix("relax.")) for name in operators)
        if form in said and has and (attributes or not is_known) and all(mark.replace("*", "") in text for mark in attributes):
            return cause
    return None


class Accused(NamedTuple):
    """A pass that is accused: of what it made of a program on some arguments, of breaking a contract, or of refusing it."""

    text: str
    name: str
    sort: str = NOT_ALLOWED
    given: tuple = ()
    message: str = ""
    module: str = ""

    def by_module(self):
        """The folder that says what is wrong with the module behind the pass, if the module itself shows it."""
        for name, message, folder in OF_NAMES:
            found = name == self.name and re.search(message, self.message)
            if found and self.module and is_lost_under_another_name(self.module, **found.groupdict()):
                return folder
        return None

    def is_wrong(self, line):
        """Whether a line says it again. A program that is refused no more may show another defect."""
        if self.sort == REFUSED or "refuses" in line:
            return "refuses" in line
        if self.sort == BROKEN:
            # Of a module that cannot be read no contract is asked.
            return bool(line["contracts"]) or line["verdict"] == "undecided"
        return line["verdict"] not in ("allowed", "unchanged")

    def known(self, line, text):
        """The cause that a line of `blame` and the program say, of all that the pass is accused of; or None."""
        if "refuses" in line:
            return by_message(line["message"], self.name, text) or by_refusal(line["message"], text)
        contracts = [json.dumps(broken) for broken in line["contracts"]]
        messages = contracts if self.sort == BROKEN else [line["message"] or ""]
        causes = [by_message(message, self.name, text) for message in messages]
        return " and ".join(dict.fromkeys(causes)) if all(causes) else None


class Judge:
    """Puts rewritten programs to a release. `ask(path, given, name)` gives the lines of `blame` up to a pass."""

    def __init__(self, tool, folder, runs, edition, ask):
        self.tool, self.folder, self.runs, self.edition, self.ask = tool, Path(folder), runs, edition, ask

    def causes(self, accused):
        """Folders that are all that is wrong with what a pass made of a program, none too many; or None."""
        if shown := accused.by_module():
            return [shown]
        says = lambda cause: SAYS.get(cause[0], "") in accused.message
        may_be = lambda cause: (accused.sort == REFUSED or cause[0] not in REFUSALS) and says(cause)
        called = [cause for cause in CAUSES if may_be(cause) and rewritten(accused.text, [cause])]
        # All at once may be a program that is none.
        for causes in [called, *([cause] for cause in called)]:
            besides = self.besides(accused, causes) if causes else None
            if besides is not None:
                return self.needed(accused, causes, besides)
        return None

    def needed(self, accused, causes, besides):
        """These causes without those that change nothing, and what else is known to be wrong."""
        for cause in causes:
            fewer = [other for other in causes if other is not cause]
            without = self.besides(accused, fewer) if fewer else None
            if without is not None:
                causes, besides = fewer, without
        return list(dict.fromkeys([cause[0] for cause in causes] + besides))

    def besides(self, accused, causes):
        """What else is known to be wrong where these causes are left out, or None if anything unknown is."""
        avoided = rewritten(accused.text, [cause for cause in causes if cause[3] is AVOID])
        models = [cause for cause in causes if cause[3] is MODEL]
        # One run shows most causes to be none.
        if accused.given and not models and self.is_wrong_on(accused, avoided):
            return None
        lines = self.lines(accused, avoided)
        if accused.given and any(line.get("verdict") == "undecided" for line in lines):
            # What is undecided on some arguments may be decided on those that accuse.
            lines = self.lines(accused, avoided, accused.given)
        wrong = [line for line in lines if accused.is_wrong(line)]
        said = [accused.known(line, avoided) for line in wrong]
        if all(said):
            return sorted(set(said)) if lines else None
        is_as = bool(models) and all(self.is_as(rewritten(avoided, models), line.get("module")) for line in wrong)
        return [] if is_as else None

    def is_wrong_on(self, accused, text):
        """Whether the arguments that accuse the pass still do, for a reason that is not known."""
        is_known = lambda line: accused.known(line, text)
        lines = self.lines(accused, text, accused.given)
        return any(line.get("verdict") == "not allowed" and not is_known(line) for line in lines)

    def lines(self, accused, text, given=()):
        """What `blame` says of the pass."""
        lines = self.ask(self.file("avoided.py", text), given, accused.name)
        return [line for line in lines if accused.name in (line.get("pass"), line.get("refuses"))]

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
