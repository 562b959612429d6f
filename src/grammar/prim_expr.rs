//! `PrimExpr`: the int64 expressions that compute the dimensions of a shape.
//!
//! Beside the productions of the text there are the floor forms, the truncating remainder and the comparisons
//! (E1: without them `Select` has no interesting condition, and implementations print them).
//!
//! Serialized, a constant is an integer, a variable its name, and any other node a map with one key, for
//! example `{"Add": ["n", 1]}`. On input a text may also be an expression as on paper: `"n + 1"`,
//! `"min(n, 4)"`, `"2 * (m - 1)"`.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ShapeVar;

/// An expression over int64.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrimExpr {
    Var(ShapeVar),
    IntImm(i64),
    Binary(BinaryOp, Arc<PrimExpr>, Arc<PrimExpr>),
    Not(Arc<PrimExpr>),
    /// `Select(condition, true_value, false_value)`; only the chosen side is evaluated (A35).
    Select(Arc<PrimExpr>, Arc<PrimExpr>, Arc<PrimExpr>),
}

/// The binary nodes of `PrimExpr`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Truncating division (A35).
    Div,
    /// The remainder of [`BinaryOp::Div`].
    Mod,
    FloorDiv,
    FloorMod,
    Min,
    Max,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// How an operator is written on paper.
enum Notation {
    Infix(&'static str, Precedence),
    Prefix(&'static str),
}

/// From loosest to tightest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Atom,
}

impl Precedence {
    fn tighter(self) -> Precedence {
        match self {
            Precedence::Or => Precedence::And,
            Precedence::And => Precedence::Not,
            Precedence::Not => Precedence::Comparison,
            Precedence::Comparison => Precedence::Sum,
            Precedence::Sum => Precedence::Product,
            Precedence::Product | Precedence::Atom => Precedence::Atom,
        }
    }
}

impl BinaryOp {
    /// Every operator.
    pub const ALL: [BinaryOp; 17] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Mod,
        BinaryOp::FloorDiv,
        BinaryOp::FloorMod,
        BinaryOp::Min,
        BinaryOp::Max,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
    ];

    /// The name of the node.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "Add",
            BinaryOp::Sub => "Sub",
            BinaryOp::Mul => "Mul",
            BinaryOp::Div => "Div",
            BinaryOp::Mod => "Mod",
            BinaryOp::FloorDiv => "FloorDiv",
            BinaryOp::FloorMod => "FloorMod",
            BinaryOp::Min => "Min",
            BinaryOp::Max => "Max",
            BinaryOp::And => "And",
            BinaryOp::Or => "Or",
            BinaryOp::Eq => "EQ",
            BinaryOp::Ne => "NE",
            BinaryOp::Lt => "LT",
            BinaryOp::Le => "LE",
            BinaryOp::Gt => "GT",
            BinaryOp::Ge => "GE",
        }
    }

    pub fn from_name(name: &str) -> Option<BinaryOp> {
        BinaryOp::ALL.into_iter().find(|op| op.name() == name)
    }

    fn notation(self) -> Notation {
        match self {
            BinaryOp::Add => Notation::Infix("+", Precedence::Sum),
            BinaryOp::Sub => Notation::Infix("-", Precedence::Sum),
            BinaryOp::Mul => Notation::Infix("*", Precedence::Product),
            BinaryOp::FloorDiv => Notation::Infix("//", Precedence::Product),
            BinaryOp::FloorMod => Notation::Infix("%", Precedence::Product),
            BinaryOp::And => Notation::Infix("and", Precedence::And),
            BinaryOp::Or => Notation::Infix("or", Precedence::Or),
            BinaryOp::Eq => Notation::Infix("==", Precedence::Comparison),
            BinaryOp::Ne => Notation::Infix("!=", Precedence::Comparison),
            BinaryOp::Lt => Notation::Infix("<", Precedence::Comparison),
            BinaryOp::Le => Notation::Infix("<=", Precedence::Comparison),
            BinaryOp::Gt => Notation::Infix(">", Precedence::Comparison),
            BinaryOp::Ge => Notation::Infix(">=", Precedence::Comparison),
            BinaryOp::Div => Notation::Prefix("truncdiv"),
            BinaryOp::Mod => Notation::Prefix("truncmod"),
            BinaryOp::Min => Notation::Prefix("min"),
            BinaryOp::Max => Notation::Prefix("max"),
        }
    }
}

impl PrimExpr {
    /// The variable `name` with number 0.
    pub fn var(name: &str) -> PrimExpr {
        PrimExpr::Var(ShapeVar::new(name))
    }

    pub fn binary(op: BinaryOp, a: PrimExpr, b: PrimExpr) -> PrimExpr {
        PrimExpr::Binary(op, Arc::new(a), Arc::new(b))
    }

    /// Calls `visit` on every variable occurrence, left to right. Iterative, so depth does not matter.
    pub fn for_each_var<'a>(&'a self, mut visit: impl FnMut(&'a ShapeVar)) {
        let mut stack = vec![self];
        while let Some(e) = stack.pop() {
            match e {
                PrimExpr::Var(v) => visit(v),
                PrimExpr::IntImm(_) => {}
                PrimExpr::Binary(_, a, b) => stack.extend([&**b, &**a]),
                PrimExpr::Not(a) => stack.push(a),
                PrimExpr::Select(c, t, f) => stack.extend([&**f, &**t, &**c]),
            }
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, at: Precedence) -> fmt::Result {
        let precedence = match self {
            PrimExpr::Binary(op, ..) => match op.notation() {
                Notation::Infix(_, precedence) => precedence,
                Notation::Prefix(_) => Precedence::Atom,
            },
            PrimExpr::Not(_) => Precedence::Not,
            // A negative constant is not an atom to its neighbours: `n - -1`, but `(-1) * n`.
            PrimExpr::IntImm(i) if *i < 0 => Precedence::Sum,
            PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Select(..) => Precedence::Atom,
        };
        if precedence < at {
            f.write_str("(")?;
            self.write_inner(f)?;
            f.write_str(")")
        } else {
            self.write_inner(f)
        }
    }

    fn write_inner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self {
            PrimExpr::Var(v) => write!(f, "{v}"),
            PrimExpr::IntImm(i) => write!(f, "{i}"),
            PrimExpr::Binary(op, a, b) => match op.notation() {
                Notation::Infix(symbol, precedence) => {
                    // Comparisons do not chain on paper, so both sides bind tighter.
                    let left = if precedence == Precedence::Comparison { precedence.tighter() } else { precedence };
                    a.write(f, left)?;
                    write!(f, " {symbol} ")?;
                    b.write(f, precedence.tighter())
                }
                Notation::Prefix(word) => write!(f, "{word}({a}, {b})"),
            },
            PrimExpr::Not(a) => {
                f.write_str("not ")?;
                a.write(f, Precedence::Not)
            }
            PrimExpr::Select(c, t, e) => write!(f, "select({c}, {t}, {e})"),
        })
    }
}

impl From<i64> for PrimExpr {
    fn from(value: i64) -> PrimExpr {
        PrimExpr::IntImm(value)
    }
}

impl fmt::Display for PrimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Precedence::Or)
    }
}

impl Serialize for PrimExpr {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        // Slices, because RON writes arrays as tuples.
        match self {
            PrimExpr::Var(v) => v.serialize(s),
            PrimExpr::IntImm(i) => s.serialize_i64(*i),
            PrimExpr::Binary(op, a, b) => s.collect_map([(op.name(), [a, b].as_slice())]),
            PrimExpr::Not(a) => s.collect_map([("Not", [a].as_slice())]),
            PrimExpr::Select(c, t, e) => s.collect_map([("Select", [c, t, e].as_slice())]),
        }
    }
}

/// The text itself if it is a name and not a longer expression; by far the most frequent dimension.
fn lone_name(text: &str) -> Option<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#');
    (text.chars().all(word) && !text.starts_with(|c: char| c.is_ascii_digit())).then_some(text)
}

impl<'de> Deserialize<'de> for PrimExpr {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<PrimExpr, D::Error> {
        struct PrimExprVisitor;
        impl<'de> Visitor<'de> for PrimExprVisitor {
            type Value = PrimExpr;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "an int64, a shape variable, an expression such as \"n + 1\", or a map such as {\"Add\": [..]}",
                )
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<PrimExpr, E> {
                Ok(PrimExpr::IntImm(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<PrimExpr, E> {
                i64::try_from(value).map(PrimExpr::IntImm).map_err(|_| E::custom(format!("{value} is not an int64")))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PrimExpr, E> {
                match lone_name(text).and_then(ShapeVar::parse) {
                    Some(var) => Ok(PrimExpr::Var(var)),
                    None => crate::grammar::notation::parse_prim_expr(text).map_err(E::custom),
                }
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<PrimExpr, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(de::Error::custom("expected one key, the name of the node"));
                };
                let operands: Vec<Arc<PrimExpr>> = map.next_value()?;
                if let Some(key) = map.next_key::<String>()? {
                    return Err(de::Error::custom(format!("unexpected second key `{key}`")));
                }
                let node = match (name.as_str(), operands.as_slice()) {
                    ("Not", [a]) => Some(PrimExpr::Not(a.clone())),
                    ("Select", [c, t, e]) => Some(PrimExpr::Select(c.clone(), t.clone(), e.clone())),
                    (name, [a, b]) => BinaryOp::from_name(name).map(|op| PrimExpr::Binary(op, a.clone(), b.clone())),
                    _ => None,
                };
                node.ok_or_else(|| {
                    de::Error::custom(format!("no PrimExpr node `{name}` with {} operands", operands.len()))
                })
            }
        }
        d.deserialize_any(PrimExprVisitor)
    }
}
