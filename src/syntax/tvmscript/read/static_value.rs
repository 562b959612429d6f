//! The values of Python that a text determines, and their arithmetic.

use ruff_python_ast as py;
use ruff_text_size::TextRange;

use super::numpy_array::NumpyArray;
use crate::judge::with_stack;

/// A value that a text determines.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum StaticValue {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Tuple(Vec<StaticValue>),
    List(Vec<StaticValue>),
    /// The members of a `range`.
    Range(Vec<StaticValue>),
    Dict(Vec<(StaticValue, StaticValue)>),
    /// A class with attributes alone, or an object of one.
    Record(Vec<(String, StaticValue)>),
    Array(NumpyArray),
}

/// The maximum length of a string, a tuple or an array that is computed.
pub(super) const LONGEST: usize = 10_000;

/// The value of an operation on one value.
pub(super) fn unary(op: py::UnaryOp, operand: StaticValue) -> Option<StaticValue> {
    match (op, operand) {
        (py::UnaryOp::USub, StaticValue::Int(i)) => i.checked_neg().map(StaticValue::Int),
        (py::UnaryOp::USub, StaticValue::Float(x)) => Some(StaticValue::Float(-x)),
        (py::UnaryOp::UAdd, value @ (StaticValue::Int(_) | StaticValue::Float(_))) => Some(value),
        (py::UnaryOp::Invert, StaticValue::Int(i)) => Some(StaticValue::Int(!i)),
        (py::UnaryOp::USub, StaticValue::Array(array)) => array.negated().map(StaticValue::Array),
        (py::UnaryOp::Not, value) => value.truth().map(|truth| StaticValue::Bool(!truth)),
        _ => None,
    }
}

/// The value of an operation on two values.
pub(super) fn binary(op: py::Operator, left: StaticValue, right: StaticValue) -> Option<StaticValue> {
    match (left, right) {
        (StaticValue::Int(a), StaticValue::Int(b)) => integers(op, a, b),
        (StaticValue::Int(a), StaticValue::Float(b)) => floats(op, a as f64, b),
        (StaticValue::Float(a), StaticValue::Int(b)) => floats(op, a, b as f64),
        (StaticValue::Float(a), StaticValue::Float(b)) => floats(op, a, b),
        (StaticValue::Text(a), StaticValue::Text(b)) if op == py::Operator::Add => {
            Some(a + &b).filter(|text| text.len() <= LONGEST).map(StaticValue::Text)
        }
        (StaticValue::Tuple(a), StaticValue::Tuple(b)) if op == py::Operator::Add => {
            joined(a, b).map(StaticValue::Tuple)
        }
        (StaticValue::List(a), StaticValue::List(b)) if op == py::Operator::Add => joined(a, b).map(StaticValue::List),
        (StaticValue::Tuple(a), StaticValue::Int(n)) | (StaticValue::Int(n), StaticValue::Tuple(a))
            if op == py::Operator::Mult =>
        {
            repeated(&a, n).map(StaticValue::Tuple)
        }
        (StaticValue::List(a), StaticValue::Int(n)) | (StaticValue::Int(n), StaticValue::List(a))
            if op == py::Operator::Mult =>
        {
            repeated(&a, n).map(StaticValue::List)
        }
        (StaticValue::Text(text), StaticValue::Int(n)) if op == py::Operator::Mult => {
            let n = usize::try_from(n.max(0)).ok()?;
            (text.len().checked_mul(n)? <= LONGEST).then(|| StaticValue::Text(text.repeat(n)))
        }
        (StaticValue::Text(text), value) if op == py::Operator::Mod => percent(&text, value).map(StaticValue::Text),
        // A truth value counts as 0 or 1.
        (StaticValue::Bool(a), b) => binary(op, StaticValue::Int(a.into()), b),
        (a @ (StaticValue::Int(_) | StaticValue::Float(_)), StaticValue::Bool(b)) => {
            binary(op, a, StaticValue::Int(b.into()))
        }
        (left, right) => NumpyArray::with(op, &left, &right).map(StaticValue::Array),
    }
}

/// `"conv_%d" % 3`, of texts and integers.
fn percent(text: &str, value: StaticValue) -> Option<String> {
    let values = match value {
        StaticValue::Tuple(values) => values,
        value => vec![value],
    };
    let (mut out, mut rest, mut next) = (String::new(), text, values.iter());
    while let Some((before, after)) = rest.split_once('%') {
        let kind = after.chars().next()?;
        out.push_str(before);
        match (kind, kind == '%') {
            (_, true) => out.push('%'),
            ('d' | 'i', _) => out.push_str(&next.next()?.integer()?.to_string()),
            ('s', _) => out.push_str(&next.next()?.shown()?),
            (_, _) => return None,
        }
        rest = after.get(1..)?;
    }
    out.push_str(rest);
    (next.next().is_none() && out.len() <= LONGEST).then_some(out)
}

/// The value of a comparison; `None` if it is not known, or an error.
pub(super) fn compared(op: py::CmpOp, left: &StaticValue, right: &StaticValue) -> Option<bool> {
    let order = || match (left, right) {
        (StaticValue::Text(a), StaticValue::Text(b)) => Some(a.cmp(b)),
        (a, b) => match (a.integer(), b.integer()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            (_, _) => a.number()?.partial_cmp(&b.number()?),
        },
    };
    let is_in = || match right {
        StaticValue::Text(text) => match left {
            StaticValue::Text(part) => Some(text.contains(part.as_str())),
            _ => None,
        },
        right => Some(right.items()?.iter().any(|item| equal(left, item))),
    };
    Some(match op {
        py::CmpOp::Eq => equal(left, right),
        py::CmpOp::NotEq => !equal(left, right),
        py::CmpOp::Lt => order()?.is_lt(),
        py::CmpOp::LtE => order()?.is_le(),
        py::CmpOp::Gt => order()?.is_gt(),
        py::CmpOp::GtE => order()?.is_ge(),
        py::CmpOp::Is if *right == StaticValue::None => *left == StaticValue::None,
        py::CmpOp::IsNot if *right == StaticValue::None => *left != StaticValue::None,
        py::CmpOp::Is | py::CmpOp::IsNot => return None,
        py::CmpOp::In => is_in()?,
        py::CmpOp::NotIn => !is_in()?,
    })
}

/// Whether values are equal. Numbers are, whatever their types.
fn equal(left: &StaticValue, right: &StaticValue) -> bool {
    match (left.number(), right.number()) {
        (Some(a), Some(b)) => match (left.integer(), right.integer()) {
            (Some(a), Some(b)) => a == b,
            (_, _) => a == b,
        },
        (_, _) => left == right,
    }
}

fn joined(mut a: Vec<StaticValue>, b: Vec<StaticValue>) -> Option<Vec<StaticValue>> {
    a.extend(b);
    (size_of(&a) <= LONGEST).then_some(a)
}

fn repeated(values: &[StaticValue], n: i128) -> Option<Vec<StaticValue>> {
    let n = usize::try_from(n.max(0)).ok()?;
    (size_of(values).checked_mul(n)? <= LONGEST).then(|| (0..n).flat_map(|_| values.iter().cloned()).collect())
}

/// The number of values in all of them.
fn size_of(values: &[StaticValue]) -> usize {
    values.iter().fold(0, |size, value| size.saturating_add(value.size()))
}

/// Integer arithmetic as in Python, which rounds quotients down.
fn integers(op: py::Operator, a: i128, b: i128) -> Option<StaticValue> {
    let shift = |b: i128| u32::try_from(b).ok().filter(|b| *b < 64);
    let value = match op {
        py::Operator::Add => a.checked_add(b)?,
        py::Operator::Sub => a.checked_sub(b)?,
        py::Operator::Mult => a.checked_mul(b)?,
        py::Operator::Div if b != 0 => return Some(StaticValue::Float(a as f64 / b as f64)),
        py::Operator::FloorDiv if b != 0 => num_integer::Integer::div_floor(&a, &b),
        py::Operator::Mod if b != 0 => num_integer::Integer::mod_floor(&a, &b),
        py::Operator::Pow if b >= 0 => a.checked_pow(u32::try_from(b).ok()?)?,
        py::Operator::Pow if a != 0 => return floats(op, a as f64, b as f64),
        py::Operator::LShift => a.checked_mul(1i128 << shift(b)?)?,
        py::Operator::RShift => a >> shift(b)?,
        py::Operator::BitOr => a | b,
        py::Operator::BitXor => a ^ b,
        py::Operator::BitAnd => a & b,
        py::Operator::Div | py::Operator::FloorDiv | py::Operator::Mod | py::Operator::Pow | py::Operator::MatMult => {
            return None;
        }
    };
    Some(StaticValue::Int(value))
}

fn floats(op: py::Operator, a: f64, b: f64) -> Option<StaticValue> {
    let value = match op {
        py::Operator::Add => a + b,
        py::Operator::Sub => a - b,
        py::Operator::Mult => a * b,
        py::Operator::Div if b != 0.0 => a / b,
        py::Operator::FloorDiv if b != 0.0 => (a / b).floor(),
        // The elementary functions of the system differ between machines. A square root does not, and powers of
        // integers hardly do.
        py::Operator::Pow if b == 0.5 && a >= 0.0 => a.sqrt(),
        py::Operator::Pow if b == -0.5 && a > 0.0 => 1.0 / a.sqrt(),
        py::Operator::Pow if b.fract() == 0.0 && b.abs() <= 64.0 && (a != 0.0 || b >= 0.0) => power(a, b),
        // Floats have no other Python operators, or the result is not known here.
        _ => return None,
    };
    Some(StaticValue::Float(value))
}

/// A power with an integral exponent, by multiplication.
fn power(a: f64, b: f64) -> f64 {
    let magnitude = (0..b.abs() as u32).fold(1.0, |product, _| product * a);
    if b < 0.0 { 1.0 / magnitude } else { magnitude }
}

/// `values[at]`.
pub(super) fn member(of: StaticValue, at: StaticValue) -> Option<StaticValue> {
    let place = |len: usize| {
        let StaticValue::Int(at) = at else { return None };
        usize::try_from(if at < 0 { at + i128::try_from(len).ok()? } else { at }).ok()
    };
    match &of {
        StaticValue::Tuple(members) | StaticValue::List(members) | StaticValue::Range(members) => {
            members.get(place(members.len())?).cloned()
        }
        StaticValue::Text(text) => {
            text.chars().nth(place(text.chars().count())?).map(|c| StaticValue::Text(c.to_string()))
        }
        StaticValue::Dict(entries) => {
            entries.iter().rev().find(|(key, _)| equal(key, &at)).map(|(_, value)| value.clone())
        }
        StaticValue::None
        | StaticValue::Bool(_)
        | StaticValue::Int(_)
        | StaticValue::Float(_)
        | StaticValue::Record(_)
        | StaticValue::Array(_) => None,
    }
}

/// `values[start:stop:step]`, with bounds as in Python.
pub(super) fn sliced(
    of: StaticValue,
    start: Option<i128>,
    stop: Option<i128>,
    step: Option<i128>,
) -> Option<StaticValue> {
    let step = step.unwrap_or(1);
    let picked = |len: usize| -> Option<Vec<usize>> {
        let len = i128::try_from(len).ok()?;
        let (least, greatest) = if step < 0 { (-1, len - 1) } else { (0, len) };
        let bound = |at: i128| Some((if at < 0 { at.checked_add(len)? } else { at }).clamp(least, greatest));
        let first = start.map_or(Some(if step < 0 { greatest } else { least }), bound)?;
        let last = stop.map_or(Some(if step < 0 { least } else { greatest }), bound)?;
        let (mut at, mut found) = (first, Vec::new());
        while step != 0 && if step > 0 { at < last } else { at > last } {
            found.push(usize::try_from(at).ok()?);
            at = at.checked_add(step)?;
        }
        (step != 0).then_some(found)
    };
    let of_members = |members: &[StaticValue]| {
        picked(members.len())?.into_iter().map(|at| members.get(at).cloned()).collect::<Option<Vec<_>>>()
    };
    match &of {
        StaticValue::Tuple(members) => of_members(members).map(StaticValue::Tuple),
        StaticValue::List(members) => of_members(members).map(StaticValue::List),
        StaticValue::Range(members) => of_members(members).map(StaticValue::Range),
        StaticValue::Text(text) => {
            let chars: Vec<char> = text.chars().collect();
            let picked = picked(chars.len())?.into_iter().map(|at| chars.get(at));
            picked.collect::<Option<String>>().map(StaticValue::Text)
        }
        StaticValue::None
        | StaticValue::Bool(_)
        | StaticValue::Int(_)
        | StaticValue::Float(_)
        | StaticValue::Dict(_)
        | StaticValue::Record(_)
        | StaticValue::Array(_) => None,
    }
}

impl StaticValue {
    /// The members of a tuple, a list or a range.
    pub fn members(&self) -> Option<&[StaticValue]> {
        match self {
            StaticValue::Tuple(members) | StaticValue::List(members) | StaticValue::Range(members) => Some(members),
            StaticValue::None
            | StaticValue::Bool(_)
            | StaticValue::Int(_)
            | StaticValue::Float(_)
            | StaticValue::Text(_)
            | StaticValue::Dict(_)
            | StaticValue::Record(_)
            | StaticValue::Array(_) => None,
        }
    }

    /// The number of values and characters in it.
    pub fn size(&self) -> usize {
        with_stack(|| match self {
            StaticValue::None | StaticValue::Bool(_) | StaticValue::Int(_) | StaticValue::Float(_) => 1,
            StaticValue::Text(text) => text.len().max(1),
            StaticValue::Tuple(values) | StaticValue::List(values) | StaticValue::Range(values) => {
                size_of(values).saturating_add(1)
            }
            StaticValue::Dict(entries) => entries
                .iter()
                .fold(1, |size: usize, (key, value)| size.saturating_add(key.size()).saturating_add(value.size())),
            StaticValue::Record(fields) => {
                fields.iter().fold(1, |size: usize, (_, value)| size.saturating_add(value.size()))
            }
            StaticValue::Array(array) => array.size(),
        })
    }

    /// The items of a loop over the value.
    pub fn items(&self) -> Option<Vec<StaticValue>> {
        match self {
            StaticValue::Text(text) => Some(text.chars().map(|c| StaticValue::Text(c.to_string())).collect()),
            StaticValue::Dict(entries) => Some(entries.iter().map(|(key, _)| key.clone()).collect()),
            value => value.members().map(<[StaticValue]>::to_vec),
        }
    }

    /// The value of an integer or a truth value.
    pub fn integer(&self) -> Option<i128> {
        match self {
            StaticValue::Int(i) => Some(*i),
            StaticValue::Bool(b) => Some(i128::from(*b)),
            _ => None,
        }
    }

    /// The value of a number, as a float.
    pub fn number(&self) -> Option<f64> {
        match self {
            StaticValue::Float(x) => Some(*x),
            value => value.integer().map(|i| i as f64),
        }
    }

    /// Whether the value counts as true.
    pub fn truth(&self) -> Option<bool> {
        match self {
            StaticValue::None => Some(false),
            StaticValue::Text(text) => Some(!text.is_empty()),
            StaticValue::Dict(entries) => Some(!entries.is_empty()),
            StaticValue::Record(_) => Some(true),
            StaticValue::Array(_) => None,
            value => match value.members() {
                Some(members) => Some(!members.is_empty()),
                None => value.number().map(|x| x != 0.0),
            },
        }
    }

    /// The text of a text, an integer or a truth value, as `str` gives it.
    pub fn shown(&self) -> Option<String> {
        match self {
            StaticValue::Text(text) => Some(text.clone()),
            StaticValue::Int(i) => Some(i.to_string()),
            StaticValue::Bool(b) => Some(if *b { "True" } else { "False" }.to_string()),
            _ => None,
        }
    }

    /// The value as a literal at a position.
    pub fn literal(&self, range: TextRange) -> Option<py::Expr> {
        let number = |value| {
            py::Expr::NumberLiteral(py::ExprNumberLiteral { node_index: py::AtomicNodeIndex::NONE, range, value })
        };
        let minus = |operand: py::Expr| {
            py::Expr::UnaryOp(py::ExprUnaryOp {
                node_index: py::AtomicNodeIndex::NONE,
                range,
                op: py::UnaryOp::USub,
                operand: operand.into(),
            })
        };
        let all = |values: &[StaticValue]| {
            values.iter().map(|value| with_stack(|| value.literal(range))).collect::<Option<Vec<_>>>()
        };
        Some(match self {
            StaticValue::None => py::Expr::NoneLiteral(py::ExprNoneLiteral { range, ..Default::default() }),
            StaticValue::Bool(value) => {
                py::Expr::BooleanLiteral(py::ExprBooleanLiteral { range, value: *value, ..Default::default() })
            }
            StaticValue::Int(i) => {
                let magnitude = number(py::Number::Int(u64::try_from(i.unsigned_abs()).ok()?.into()));
                if *i < 0 { minus(magnitude) } else { magnitude }
            }
            StaticValue::Float(x) if x.is_nan() => non_finite("nan", range),
            StaticValue::Float(x) if x.is_infinite() => non_finite(if *x < 0.0 { "-inf" } else { "inf" }, range),
            StaticValue::Float(x) if x.is_sign_negative() => minus(number(py::Number::Float(-x))),
            StaticValue::Float(x) => number(py::Number::Float(*x)),
            StaticValue::Text(text) => string(text, range),
            StaticValue::Tuple(values) => py::Expr::Tuple(py::ExprTuple {
                node_index: py::AtomicNodeIndex::NONE,
                range,
                elts: all(values)?,
                ctx: py::ExprContext::Load,
                parenthesized: true,
            }),
            StaticValue::List(values) => py::Expr::List(py::ExprList {
                node_index: py::AtomicNodeIndex::NONE,
                range,
                elts: all(values)?,
                ctx: py::ExprContext::Load,
            }),
            StaticValue::Dict(entries) => {
                let items = entries.iter().map(|(key, value)| {
                    let (key, value) = (key.literal(range)?, with_stack(|| value.literal(range))?);
                    Some(py::DictItem { key: Some(key), value })
                });
                py::Expr::Dict(py::ExprDict {
                    node_index: py::AtomicNodeIndex::NONE,
                    range,
                    items: items.collect::<Option<Vec<_>>>()?,
                })
            }
            StaticValue::Array(array) => array.literal(range)?,
            // A range is not turned into a literal, and an object has none.
            StaticValue::Range(_) | StaticValue::Record(_) => return None,
        })
    }
}

pub(super) fn string(text: &str, range: TextRange) -> py::Expr {
    let literal = py::StringLiteral {
        range,
        node_index: py::AtomicNodeIndex::NONE,
        value: text.into(),
        flags: py::StringLiteralFlags::empty(),
    };
    let value = py::StringLiteralValue::single(literal);
    py::Expr::StringLiteral(py::ExprStringLiteral { node_index: py::AtomicNodeIndex::NONE, range, value })
}

/// `float("inf")`.
fn non_finite(word: &str, range: TextRange) -> py::Expr {
    called_by_name("float", vec![string(word, range)], range)
}

/// The call of a function with these arguments.
pub(super) fn called_by_name(path: &str, args: Vec<py::Expr>, range: TextRange) -> py::Expr {
    py::Expr::Call(py::ExprCall {
        node_index: py::AtomicNodeIndex::NONE,
        range_start: range.start(),
        func: name(path, range).into(),
        arguments: py::Arguments {
            range,
            node_index: py::AtomicNodeIndex::NONE,
            args: args.into(),
            keywords: Default::default(),
        },
    })
}

/// A name with dots, at a position.
pub(super) fn name(path: &str, range: TextRange) -> py::Expr {
    let mut words = path.split('.');
    let root = py::ExprName {
        node_index: py::AtomicNodeIndex::NONE,
        range,
        id: words.next().unwrap_or_default().into(),
        ctx: py::ExprContext::Load,
    };
    words.fold(py::Expr::Name(root), |value, word| {
        py::Expr::Attribute(py::ExprAttribute {
            node_index: py::AtomicNodeIndex::NONE,
            range,
            value: value.into(),
            attr: py::Identifier::new(word, range),
            ctx: py::ExprContext::Load,
        })
    })
}
