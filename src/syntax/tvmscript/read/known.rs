//! The known names of a Python file: constants, and imports under other names.

use ruff_python_ast as py;
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fault::{dotted, span_of};
use crate::grammar::Span;
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
}

/// The names with a known meaning.
#[derive(Clone, Default)]
pub(super) struct KnownNames {
    constants: FxHashMap<String, StaticValue>,
    /// Functions of Python that are maps of indices.
    maps: FxHashMap<String, py::ExprLambda>,
    /// `rx` for `tvm.script.relax`.
    imports: FxHashMap<String, String>,
    /// Names that the file binds to unknown values.
    unknown: FxHashMap<String, Unknown>,
    /// Names that are bound more than once, each with its last position.
    several: FxHashMap<String, Span>,
}

/// The reason why the meaning of a name is unknown, with the position of its binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unknown {
    /// It is bound to a call, by a loop, as a parameter, ..
    NoLiteral(Span),
    /// It comes from another file.
    Imported(Span),
    /// It is bound several times. A function of the file may run before or after any of the bindings.
    Several(Span),
}

/// The maximum length of a string or tuple that arithmetic produces.
const LONGEST: usize = 10_000;

/// The names in the dialects for paths of TVM.
const DIALECTS: [(&str, &str); 14] = [
    ("tvm.script.ir_module", "I.ir_module"),
    ("tvm.script.parser.ir_module", "I.ir_module"),
    ("tvm.script.relax", "R"),
    ("tvm.script.parser.relax", "R"),
    ("tvm.script.tir", "T"),
    ("tvm.script.tirx", "T"),
    ("tvm.script.parser.tir", "T"),
    ("tvm.script.parser.tirx", "T"),
    ("tvm.script.ir", "I"),
    ("tvm.script.parser.ir", "I"),
    ("tvm.tir", "T"),
    ("tvm.tirx", "T"),
    // The operators by their Python names.
    ("tvm.relax.op", "R.op"),
    ("tvm.relax", "relax"),
];

impl KnownNames {
    /// Whether no name is bound.
    pub fn is_empty(&self) -> bool {
        let KnownNames { constants, maps, imports, unknown, several: _ } = self;
        constants.is_empty() && maps.is_empty() && imports.is_empty() && unknown.is_empty()
    }

    /// Forgets a name, because it now has a meaning that readers know.
    pub fn forget(&mut self, name: &str) {
        self.constants.remove(name);
        self.maps.remove(name);
        self.imports.remove(name);
        self.unknown.remove(name);
    }

    /// Marks names as unknown, because they now have another meaning.
    pub fn lose<'n>(&mut self, names: impl IntoIterator<Item = &'n String>, why: Unknown) {
        for name in names {
            self.again(name, why.span());
            self.forget(name);
            self.unknown.insert(name.clone(), why);
        }
    }

    /// Records a binding of a name, which may not be the first.
    fn again(&mut self, name: &str, span: Span) {
        if self.constants.contains_key(name) || self.unknown.contains_key(name) {
            self.several.insert(name.to_string(), span);
        }
    }

    /// The names that are known at any call of a function of the file: all that are bound once.
    pub fn at_any_time(&self) -> KnownNames {
        let mut known = self.clone();
        let several: Vec<(String, Span)> = known.several.drain().collect();
        for (name, span) in several {
            known.forget(&name);
            known.unknown.insert(name, Unknown::Several(span));
        }
        known
    }

    /// `import tvm.script.relax as rx`, `import tvm`.
    pub fn import(&mut self, import: &py::StmtImport) {
        for alias in &import.names {
            let path = alias.name.as_str();
            match &alias.asname {
                Some(name) => self.bring(name.as_str(), path),
                None => {
                    let root = path.split('.').next().unwrap_or(path);
                    self.bring(root, root);
                }
            }
        }
    }

    /// `from tvm.script import relax as rx`.
    pub fn import_from(&mut self, import: &py::StmtImportFrom) {
        let module = import.module.as_ref().map(|module| module.as_str()).unwrap_or_default();
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.bring(name.as_str(), &format!("{module}.{}", alias.name.as_str()));
            if module.split('.').next() != Some("tvm") && name.as_str() != "TypeVar" {
                self.unknown.insert(name.to_string(), Unknown::Imported(span_of(alias)));
            }
        }
    }

    fn bring(&mut self, name: &str, path: &str) {
        self.forget(name);
        // Imports that readers know anyway, or do not need.
        let same = matches!(
            (name, path),
            ("R" | "relax", "tvm.script.relax") | ("T" | "tir", "tvm.script.tir") | ("I", "tvm.script.ir")
        );
        if path.split('.').next() == Some("tvm") && !same {
            self.imports.insert(name.to_string(), path.to_string());
        }
    }

    /// Sets a parameter of a function to the value in a call.
    pub fn give(&mut self, name: &str, value: StaticValue) {
        self.forget(name);
        self.constants.insert(name.to_string(), value);
    }

    /// A name for a map of indices, of which nothing else is known.
    pub fn give_map(&mut self, name: &str, map: &py::ExprLambda) {
        self.maps.insert(name.to_string(), map.clone());
    }

    /// The map of indices that a name stands for.
    pub fn map(&self, name: &str, shadowed: &FxHashSet<String>) -> Option<&py::ExprLambda> {
        self.maps.get(name).filter(|_| !shadowed.contains(name))
    }

    /// `N = 4 * 16`, `H, W = 3, 4`, `N: int = 4`. Returns whether the meaning of these names is now known.
    pub fn define(&mut self, targets: &[&py::Expr], value: &py::Expr) -> bool {
        let Some((value, _)) = self.value(value, &FxHashSet::default()) else { return false };
        self.set(targets, &value)
    }

    /// `N += 1`.
    pub fn augment(&mut self, assign: &py::StmtAugAssign) -> bool {
        let known = |e| self.value(e, &FxHashSet::default()).map(|(value, _)| value);
        let (Some(left), Some(right)) = (known(&assign.target), known(&assign.value)) else { return false };
        binary(assign.op, left, right).is_some_and(|value| self.set(&[&assign.target], &value))
    }

    fn set(&mut self, targets: &[&py::Expr], value: &StaticValue) -> bool {
        let mut named = Vec::new();
        if !targets.iter().all(|target| destructure(target, value, &mut named)) {
            return false;
        }
        for (name, span, value) in named {
            if self.constants.get(&name) != Some(&value) {
                self.again(&name, span);
            }
            self.forget(&name);
            self.constants.insert(name, value);
        }
        true
    }

    /// The reason why the meaning of a name is unknown, although the file binds it.
    pub fn unknown(&self, name: &str) -> Option<Unknown> {
        self.unknown.get(name).copied()
    }

    /// The dialect's name for an imported name: `rx.function` is `R.function`.
    pub fn in_dialect(&self, e: &py::Expr, shadowed: &FxHashSet<String>) -> Option<String> {
        let words = dotted(e)?;
        let (root, rest) = words.split_first()?;
        let path = self.imports.get(*root).filter(|_| !shadowed.contains(*root))?;
        let path = rest.iter().fold(path.clone(), |path, word| path + "." + word);
        DIALECTS.iter().find_map(|(prefix, name)| match path.strip_prefix(prefix)? {
            "" => Some((*name).to_string()),
            rest if rest.starts_with('.') => Some(format!("{name}{rest}")),
            _ => None,
        })
    }

    /// The value of an expression of literals and constants, with whether it contains a constant.
    pub fn value(&self, e: &py::Expr, shadowed: &FxHashSet<String>) -> Option<(StaticValue, bool)> {
        with_stack(|| self.value_inner(e, shadowed))
    }

    fn value_inner(&self, e: &py::Expr, shadowed: &FxHashSet<String>) -> Option<(StaticValue, bool)> {
        let literal = |value| Some((value, false));
        match e {
            py::Expr::NoneLiteral(_) => literal(StaticValue::None),
            py::Expr::BooleanLiteral(b) => literal(StaticValue::Bool(b.value)),
            py::Expr::StringLiteral(s) => literal(StaticValue::Text(s.value.to_str().to_string())),
            py::Expr::NumberLiteral(n) => match &n.value {
                py::Number::Int(i) => literal(StaticValue::Int(i.as_u64()?.into())),
                py::Number::Float(x) => literal(StaticValue::Float(*x)),
                py::Number::Complex { .. } => None,
            },
            py::Expr::Call(call) => match super::fault::float(e) {
                Some(float) => literal(StaticValue::Float(float)),
                None => Some((self.called(call, shadowed)?, true)),
            },
            py::Expr::FString(text) => Some((StaticValue::Text(self.formatted(text, shadowed)?), true)),
            py::Expr::If(choice) => {
                let (StaticValue::Bool(test), a) = self.value(&choice.test, shadowed)? else { return None };
                let (value, b) = self.value(if test { &choice.body } else { &choice.orelse }, shadowed)?;
                Some((value, a || b))
            }
            py::Expr::Name(name) if !shadowed.contains(name.id.as_str()) => {
                Some((self.constants.get(name.id.as_str())?.clone(), true))
            }
            py::Expr::Tuple(tuple) => {
                self.values(&tuple.elts, shadowed).map(|(values, used)| (StaticValue::Tuple(values), used))
            }
            py::Expr::List(list) => {
                self.values(&list.elts, shadowed).map(|(values, used)| (StaticValue::List(values), used))
            }
            py::Expr::UnaryOp(u) => {
                let (operand, used) = self.value(&u.operand, shadowed)?;
                Some((unary(u.op, operand)?, used))
            }
            py::Expr::BinOp(b) => {
                let ((left, a), (right, b_used)) = (self.value(&b.left, shadowed)?, self.value(&b.right, shadowed)?);
                Some((binary(b.op, left, right)?, a || b_used))
            }
            py::Expr::Subscript(s) => {
                let ((of, a), (at, b)) = (self.value(&s.value, shadowed)?, self.value(&s.slice, shadowed)?);
                Some((member(of, at)?, a || b))
            }
            _ => None,
        }
    }

    /// `len(SHAPE)`, `min(N, 3)` and `max(N, 3)`.
    fn called(&self, call: &py::ExprCall, shadowed: &FxHashSet<String>) -> Option<StaticValue> {
        let py::Expr::Name(function) = &*call.func else { return None };
        if !call.arguments.keywords.is_empty() {
            return None;
        }
        let (values, _) = self.values(&call.arguments.args, shadowed)?;
        match (function.id.as_str(), values.as_slice()) {
            ("len", [StaticValue::Tuple(of) | StaticValue::List(of)]) => {
                Some(StaticValue::Int(i128::try_from(of.len()).ok()?))
            }
            ("min", [StaticValue::Int(a), StaticValue::Int(b)]) => Some(StaticValue::Int(*a.min(b))),
            ("max", [StaticValue::Int(a), StaticValue::Int(b)]) => Some(StaticValue::Int(*a.max(b))),
            (_, _) => None,
        }
    }

    /// `f"conv_{N}"`, of texts and integers.
    fn formatted(&self, text: &py::ExprFString, shadowed: &FxHashSet<String>) -> Option<String> {
        let mut out = String::new();
        for part in text.value.elements() {
            match part {
                py::InterpolatedStringElement::Literal(literal) => out.push_str(&literal.value),
                py::InterpolatedStringElement::Interpolation(hole) => {
                    if hole.format_spec.is_some() || hole.debug_text.is_some() || !hole.conversion.is_none() {
                        return None;
                    }
                    match self.value(&hole.expression, shadowed)?.0 {
                        StaticValue::Text(value) => out.push_str(&value),
                        StaticValue::Int(value) => out.push_str(&value.to_string()),
                        _ => return None,
                    }
                }
            }
        }
        (out.len() <= LONGEST).then_some(out)
    }

    fn values(&self, items: &[py::Expr], shadowed: &FxHashSet<String>) -> Option<(Vec<StaticValue>, bool)> {
        let (mut values, mut any) = (Vec::with_capacity(items.len()), false);
        for item in items {
            let starred = match item {
                py::Expr::Starred(starred) => Some(&*starred.value),
                _ => None,
            };
            let (value, used) = self.value(starred.unwrap_or(item), shadowed)?;
            any |= used;
            match (starred, value) {
                (None, value) => values.push(value),
                (Some(_), StaticValue::Tuple(members) | StaticValue::List(members)) => values.extend(members),
                (
                    Some(_),
                    StaticValue::None
                    | StaticValue::Bool(_)
                    | StaticValue::Int(_)
                    | StaticValue::Float(_)
                    | StaticValue::Text(_),
                ) => {
                    return None;
                }
            }
        }
        Some((values, any))
    }
}

impl Unknown {
    /// The position of the binding.
    fn span(self) -> Span {
        match self {
            Unknown::NoLiteral(span) | Unknown::Imported(span) | Unknown::Several(span) => span,
        }
    }

    /// The reason, in words.
    pub fn reason(self, text: &str, name: &str) -> String {
        let start = usize::try_from(self.span().start).unwrap_or(usize::MAX);
        let line = text.get(..start).map_or(0, |before| before.matches('\n').count()) + 1;
        match self {
            Unknown::NoLiteral(_) => format!(
                "`{name}` is not known: line {line} binds it outside of the module to what is neither a literal nor arithmetic on literals"
            ),
            Unknown::Imported(_) => {
                format!("`{name}` is not known: line {line} imports it, and no other file is read")
            }
            Unknown::Several(_) => format!(
                "`{name}` is not known: line {line} binds it anew, and the function around the module may run before or after it"
            ),
        }
    }
}

/// The names of a target, each with its part of the value.
fn destructure(target: &py::Expr, value: &StaticValue, named: &mut Vec<(String, Span, StaticValue)>) -> bool {
    match (target, value) {
        (py::Expr::Name(name), value) => {
            named.push((name.id.to_string(), span_of(name), value.clone()));
            true
        }
        (
            py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }),
            StaticValue::Tuple(values) | StaticValue::List(values),
        ) => {
            elts.len() == values.len()
                && elts.iter().zip(values).all(|(target, value)| with_stack(|| destructure(target, value, named)))
        }
        _ => false,
    }
}

fn unary(op: py::UnaryOp, operand: StaticValue) -> Option<StaticValue> {
    match (op, operand) {
        (py::UnaryOp::USub, StaticValue::Int(i)) => i.checked_neg().map(StaticValue::Int),
        (py::UnaryOp::USub, StaticValue::Float(x)) => Some(StaticValue::Float(-x)),
        (py::UnaryOp::UAdd, value @ (StaticValue::Int(_) | StaticValue::Float(_))) => Some(value),
        (py::UnaryOp::Invert, StaticValue::Int(i)) => Some(StaticValue::Int(!i)),
        (py::UnaryOp::Not, StaticValue::Bool(b)) => Some(StaticValue::Bool(!b)),
        _ => None,
    }
}

fn binary(op: py::Operator, left: StaticValue, right: StaticValue) -> Option<StaticValue> {
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
        _ => None,
    }
}

fn joined(mut a: Vec<StaticValue>, b: Vec<StaticValue>) -> Option<Vec<StaticValue>> {
    a.extend(b);
    (a.len() <= LONGEST).then_some(a)
}

fn repeated(values: &[StaticValue], n: i128) -> Option<Vec<StaticValue>> {
    let n = usize::try_from(n.max(0)).ok()?;
    (values.len().checked_mul(n)? <= LONGEST).then(|| (0..n).flat_map(|_| values.iter().cloned()).collect())
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

fn member(of: StaticValue, at: StaticValue) -> Option<StaticValue> {
    let (StaticValue::Tuple(members) | StaticValue::List(members), StaticValue::Int(at)) = (of, at) else {
        return None;
    };
    let at = if at < 0 { at + members.len() as i128 } else { at };
    members.into_iter().nth(usize::try_from(at).ok()?)
}

impl StaticValue {
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
        })
    }
}

fn string(text: &str, range: TextRange) -> py::Expr {
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
    py::Expr::Call(py::ExprCall {
        node_index: py::AtomicNodeIndex::NONE,
        range_start: range.start(),
        func: name("float", range).into(),
        arguments: py::Arguments {
            range,
            node_index: py::AtomicNodeIndex::NONE,
            args: vec![string(word, range)].into(),
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
