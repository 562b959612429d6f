"""`PrimExpr`s, the integer expressions of dimensions: JSON to TIR and back."""

import ast
import re

from tvm import ir, tirx

import names
from faults import Unsupported

_BINARY = {
    "Add": tirx.Add,
    "Sub": tirx.Sub,
    "Mul": tirx.Mul,
    "Div": tirx.Div,
    "Mod": tirx.Mod,
    "FloorDiv": tirx.FloorDiv,
    "FloorMod": tirx.FloorMod,
    "Min": tirx.Min,
    "Max": tirx.Max,
    "And": tirx.And,
    "Or": tirx.Or,
    "EQ": tirx.EQ,
    "NE": tirx.NE,
    "LT": tirx.LT,
    "LE": tirx.LE,
    "GT": tirx.GT,
    "GE": tirx.GE,
}
_NODE_NAME = {klass: name for name, klass in _BINARY.items()}
_LOGICAL = ("And", "Or", "Not")
_COMPARISON = ("EQ", "NE", "LT", "LE", "GT", "GE")
_IDENTITY = re.compile(r"[^\W\d]\w*(#[1-9]\d*)?\Z")

_PAPER_BINARY = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.FloorDiv: "FloorDiv",
    ast.Mod: "FloorMod",
}
_PAPER_COMPARE = {ast.Eq: "EQ", ast.NotEq: "NE", ast.Lt: "LT", ast.LtE: "LE", ast.Gt: "GT", ast.GtE: "GE"}
_PAPER_CALL = {"min": "Min", "max": "Max", "truncdiv": "Div", "truncmod": "Mod"}


def from_paper(text):
    """`"2 * (n - 1)"` as nested maps; a plain identity stays a text."""
    if _IDENTITY.match(text):
        return text
    tree = ast.parse(re.sub(r"#(\d+)", r"__number_\1", text), mode="eval")
    return _paper_node(tree.body)


def _paper_node(node):
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return re.sub(r"__number_(\d+)$", r"#\1", name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return {"Not": [_paper_node(operand)]}
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _PAPER_BINARY:
            return {_PAPER_BINARY[type(op)]: [_paper_node(left), _paper_node(right)]}
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _PAPER_COMPARE:
            return {_PAPER_COMPARE[type(op)]: [_paper_node(left), _paper_node(right)]}
        case ast.BoolOp(op=op, values=[first, *rest]):
            word, out = ("And" if isinstance(op, ast.And) else "Or"), _paper_node(first)
            for value in rest:
                out = {word: [out, _paper_node(value)]}
            return out
        case ast.Call(func=ast.Name(id=word), args=[a, b]) if word in _PAPER_CALL:
            return {_PAPER_CALL[word]: [_paper_node(a), _paper_node(b)]}
        case ast.Call(func=ast.Name(id="select"), args=[c, t, f]):
            return {"Select": [_paper_node(c), _paper_node(t), _paper_node(f)]}
    raise Unsupported(f"the expression {ast.dump(node)}")


def build(json, var_of, truth=False):
    """TIR of `json`. TIR tells truth values from integers, the JSON form does not: `truth` says what is wanted."""
    if isinstance(json, str) and not _IDENTITY.match(json):
        json = from_paper(json)
    if isinstance(json, bool):
        json = int(json)
    if isinstance(json, int):
        expr, is_truth = tirx.IntImm("int64", json), False
    elif isinstance(json, str):
        expr, is_truth = var_of(json), False
    else:
        expr, is_truth = _build_node(json, var_of)
    if truth and not is_truth:
        return tirx.NE(expr, tirx.IntImm("int64", 0))
    if is_truth and not truth:
        return tirx.Cast("int64", expr)
    return expr


def _build_node(json, var_of):
    ((name, operands),) = json.items()
    if name == "Not":
        return tirx.Not(build(operands[0], var_of, True)), True
    if name == "Select":
        cond = build(operands[0], var_of, True)
        return tirx.Select(cond, build(operands[1], var_of), build(operands[2], var_of)), False
    logical = name in _LOGICAL
    a, b = (build(operand, var_of, logical) for operand in operands)
    return _BINARY[name](a, b), logical or name in _COMPARISON


def read(expr, name_of):
    """The JSON form of a TIR expression; `name_of` gives the identity of a variable."""
    klass = type(expr)
    if isinstance(expr, tirx.IntImm):
        return int(expr.value)
    if klass in _NODE_NAME:
        return {_NODE_NAME[klass]: [read(expr.a, name_of), read(expr.b, name_of)]}
    if isinstance(expr, tirx.Not):
        return {"Not": [read(expr.a, name_of)]}
    if isinstance(expr, tirx.Select):
        return {"Select": [read(e, name_of) for e in (expr.condition, expr.true_value, expr.false_value)]}
    if isinstance(expr, tirx.Cast):
        return read(expr.value, name_of)
    if isinstance(expr, (tirx.Var, names.RelaxVar)):
        return name_of(expr)
    return _read_call(expr, name_of)


def _read_call(expr, name_of):
    """Intrinsics that the simplifier introduces."""
    op = getattr(getattr(expr, "op", None), "name", None)
    # The namespace has another name in each release.
    name = str(op).rpartition(".")[2]
    args = list(getattr(expr, "args", []))
    if name == "if_then_else":
        return {"Select": [read(e, name_of) for e in args]}
    if name == "shift_left" and isinstance(args[1], tirx.IntImm):
        return {"Mul": [read(args[0], name_of), 1 << int(args[1].value)]}
    if name == "shift_right" and isinstance(args[1], tirx.IntImm):
        return {"FloorDiv": [read(args[0], name_of), 1 << int(args[1].value)]}
    raise Unsupported(f"the TIR expression {type(expr).__name__} {op or ''}".rstrip())


def prove_equal(a, b):
    """`Equal`, `Different` or `Unknown`, from two JSON expressions over the same variables."""
    table = {}

    def var_of(identity):
        return table.setdefault(identity, names.shape_var(identity.split("#")[0]))

    left, right = build(a, var_of), build(b, var_of)
    analyzer = names.Analyzer()
    for var in table.values():
        # Shape variables stand for sizes; TVM itself marks them so in the scope of a function.
        analyzer.bind(var, _sizes())
    if analyzer.can_prove_equal(left, right):
        return "Equal"
    if analyzer.can_prove(tirx.NE(left, right)):
        return "Different"
    return "Unknown"


def without_constants(json, sizes):
    """The expression with a variable in place of every constant, whose value `sizes` takes up."""
    if isinstance(json, str) and not _IDENTITY.match(json):
        json = from_paper(json)
    if isinstance(json, int):
        name = f"constant{len(sizes)}"
        sizes[name] = int(json)
        return name
    if isinstance(json, str):
        return json
    ((node, operands),) = json.items()
    return {node: [without_constants(operand, sizes) for operand in operands]}


def _sizes():
    return ir.Range.from_min_extent(tirx.IntImm("int64", 0), tirx.IntImm("int64", (1 << 63) - 1))
