//! The faults of parts of the text, before line and column are looked up.

use std::borrow::Cow;

use ruff_python_ast as py;
use ruff_text_size::Ranged;
use smallvec::SmallVec;

use crate::book::Rule;
use crate::grammar::Span;
use crate::grammar::source::SyntaxError;
use crate::judge::with_stack;

/// A [`SyntaxError`] without line and column. These need a pass over the text, so they are added at the end.
#[derive(Clone, Debug)]
pub(super) struct ReadFault {
    pub span: Span,
    pub message: String,
    /// The broken rule, if there is one.
    pub rule: Option<Rule>,
}

/// The result of reading: a node or a fault.
pub(super) type ReadResult<T> = Result<T, ReadFault>;

/// The maximum length of a quotation in a message.
const QUOTE: usize = 40;

impl ReadFault {
    pub fn new(node: &impl Ranged, message: impl Into<String>) -> ReadFault {
        ReadFault::at(span_of(node), message)
    }

    pub fn at(span: Span, message: impl Into<String>) -> ReadFault {
        ReadFault { span, message: message.into(), rule: None }
    }

    /// The same fault under a rule, which the message then names.
    pub fn under(self, rule: Rule) -> ReadFault {
        ReadFault { message: format!("{} ({rule})", self.message), rule: Some(rule), ..self }
    }

    /// `expected .., found ..`.
    pub fn expected(text: &str, node: &impl Ranged, what: &str) -> ReadFault {
        let range = node.range();
        let found = text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        let line = found.lines().next().unwrap_or_default();
        let quote: String = line.chars().take(QUOTE).collect();
        let dots = if quote.len() < found.len() { ".." } else { "" };
        ReadFault::new(node, format!("expected {what}, found `{quote}{dots}`"))
    }

    pub fn into_error(self, text: &str) -> SyntaxError {
        SyntaxError { rule: self.rule, ..SyntaxError::at(text, self.span, self.message) }
    }
}

/// The position of a node of the Python tree.
pub(super) fn span_of(node: &impl Ranged) -> Span {
    let range = node.range();
    Span::new(range.start().to_u32(), range.end().to_u32())
}

/// The words of `a.b.c`; `None` if the expression is not only names and dots.
pub(super) fn dotted(e: &py::Expr) -> Option<SmallVec<[&str; 4]>> {
    let mut words = SmallVec::new();
    let mut e = e;
    loop {
        match e {
            py::Expr::Attribute(a) => {
                words.push(a.attr.as_str());
                e = &a.value;
            }
            py::Expr::Name(name) => {
                words.push(name.id.as_str());
                words.reverse();
                return Some(words);
            }
            _ => return None,
        }
    }
}

/// The words of `a.b`, the most frequent form.
pub(super) fn pair(e: &py::Expr) -> Option<(&str, &str)> {
    let py::Expr::Attribute(attribute) = e else { return None };
    match &*attribute.value {
        py::Expr::Name(name) => Some((name.id.as_str(), attribute.attr.as_str())),
        _ => None,
    }
}

/// Whether an expression is exactly this name.
pub(super) fn is_word(e: &py::Expr, word: &str) -> bool {
    matches!(e, py::Expr::Name(name) if name.id.as_str() == word)
}

/// The names under which the two dialects and the module dialect are imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefix {
    Relax,
    Tir,
    Module,
}

/// `R.nn.relu` is `nn.relu` of Relax.
pub(super) fn qualified(e: &py::Expr) -> Option<(Prefix, Cow<'_, str>)> {
    if let Some((first, word)) = pair(e) {
        let prefix = match first {
            "R" | "relax" => Prefix::Relax,
            "T" | "tir" | "tirx" => Prefix::Tir,
            "I" => Prefix::Module,
            _ => return None,
        };
        return Some((prefix, Cow::Borrowed(word)));
    }
    let words = dotted(e)?;
    let (prefix, rest) = match words.as_slice() {
        ["R" | "relax", "op", rest @ ..] | ["tvm", "relax", "op", rest @ ..] if !rest.is_empty() => {
            return Some((Prefix::Relax, of_python(rest).into()));
        }
        ["R" | "relax", rest @ ..] | ["tvm", "relax", rest @ ..] => (Prefix::Relax, rest),
        ["T" | "tir" | "tirx", rest @ ..] => (Prefix::Tir, rest),
        ["I", rest @ ..] => (Prefix::Module, rest),
        ["tvm", "script", rest @ ..] => (Prefix::Module, rest),
        _ => return None,
    };
    match rest {
        [] => None,
        [word] => Some((prefix, Cow::Borrowed(*word))),
        words => Some((prefix, Cow::Owned(words.join(".")))),
    }
}

/// The files of `tvm.relax.op` whose functions are known without the file name.
const FILES: [&str; 16] = [
    "base",
    "binary",
    "create",
    "datatype",
    "index",
    "linear_algebra",
    "manipulate",
    "mask",
    "qdq",
    "sampling",
    "search",
    "set",
    "sorting",
    "statistical",
    "ternary",
    "unary",
];

/// The name after `R.` of a function with this path in `tvm.relax.op`: `binary.add` is `add`, `nn.nn.relu` is
/// `nn.relu`.
fn of_python(path: &[&str]) -> String {
    match path {
        [file, name] if FILES.contains(file) => (*name).to_string(),
        ["distributed", .., name] => format!("dist.{name}"),
        [space, _, name] => format!("{space}.{name}"),
        path => path.join("."),
    }
}

/// `R.nn.relu` is `nn.relu`.
pub(super) fn relax_name(e: &py::Expr) -> Option<Cow<'_, str>> {
    qualified(e).filter(|(prefix, _)| *prefix == Prefix::Relax).map(|(_, name)| name)
}

/// `T.int64` is `int64`.
pub(super) fn tir_name(e: &py::Expr) -> Option<Cow<'_, str>> {
    qualified(e).filter(|(prefix, _)| *prefix == Prefix::Tir).map(|(_, name)| name)
}

/// The text of a string literal.
pub(in crate::syntax::tvmscript) fn string(e: &py::Expr) -> Option<&str> {
    match e {
        py::Expr::StringLiteral(s) => Some(s.value.to_str()),
        _ => None,
    }
}

/// The members of a written list or tuple.
pub(super) fn members(e: &py::Expr) -> Option<&[py::Expr]> {
    match e {
        py::Expr::Tuple(t) => Some(&t.elts),
        py::Expr::List(l) => Some(&l.elts),
        _ => None,
    }
}

/// The value of an integer literal with its sign. Large enough for every integer datatype.
pub(in crate::syntax::tvmscript) fn integer(e: &py::Expr) -> Option<i128> {
    let (mut operand, mut negative) = (e, false);
    // There may be any number of signs.
    while let py::Expr::UnaryOp(u) = operand {
        match u.op {
            py::UnaryOp::USub => negative = !negative,
            py::UnaryOp::UAdd => {}
            py::UnaryOp::Invert | py::UnaryOp::Not => return None,
        }
        operand = &u.operand;
    }
    let py::Expr::NumberLiteral(number) = operand else { return None };
    let py::Number::Int(i) = &number.value else { return None };
    let magnitude = i.as_u64().map(i128::from)?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The value of a number literal that is not an integer: `1.5`, `-2e3`, `float("inf")`.
pub(super) fn float(e: &py::Expr) -> Option<f64> {
    match e {
        py::Expr::NumberLiteral(n) => match &n.value {
            py::Number::Float(f) => Some(*f),
            py::Number::Int(_) | py::Number::Complex { .. } => None,
        },
        py::Expr::UnaryOp(u) if u.op == py::UnaryOp::USub => with_stack(|| float(&u.operand)).map(|f| -f),
        py::Expr::Call(call) if is_word(&call.func, "float") => match &*call.arguments.args {
            [word] => non_finite(string(word)?),
            _ => None,
        },
        _ => None,
    }
}

/// `inf`, `-inf`, `nan`.
pub(super) fn non_finite(word: &str) -> Option<f64> {
    match word {
        "inf" | "infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}
