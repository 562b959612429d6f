//! `PrimExpr`: the int64 expressions that compute the dimensions of a shape.
//!
//! In addition to the productions of the text there are the floor forms, the truncating remainder and the comparisons.
//! E1: without them `Select` has no useful condition, and implementations print them.
//!
//! Serialized, a constant is an integer, a variable is its name, and any other node is a map with one key, for example
//! `{"Add": ["n", 1]}`. Input may also have a text in mathematical notation: `"n + 1"`, `"min(n, 4)"`, `"2 * (m - 1)"`.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::ShapeVar;
use crate::book::Rule;
use crate::judge::with_stack;

/// An expression over int64.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrimExpr {
    /// `GRAM.PRIM.VAR`: a use of a shape variable.
    Var(ShapeVar),
    /// `GRAM.PRIM.INTIMM`: a constant.
    IntImm(i64),
    /// An operator with its two operands.
    Binary(BinaryOp, Arc<PrimExpr>, Arc<PrimExpr>),
    /// `GRAM.PRIM.NOT`: 1 for zero, 0 for anything else.
    Not(Arc<PrimExpr>),
    /// `Select(condition, true_value, false_value)`. Only the selected side is evaluated (A35).
    Select(Arc<PrimExpr>, Arc<PrimExpr>, Arc<PrimExpr>),
}

/// The binary nodes of `PrimExpr`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinaryOp {
    /// `GRAM.PRIM.ADD`: the sum.
    Add,
    /// `GRAM.PRIM.SUB`: the difference.
    Sub,
    /// `GRAM.PRIM.MUL`: the product.
    Mul,
    /// Truncating division (A35).
    Div,
    /// The remainder of [`BinaryOp::Div`].
    Mod,
    /// Division that rounds down. Division by zero is an error.
    FloorDiv,
    /// The remainder of [`BinaryOp::FloorDiv`]. Division by zero is an error.
    FloorMod,
    /// `GRAM.PRIM.MIN`: the smaller one.
    Min,
    /// `GRAM.PRIM.MAX`: the larger one.
    Max,
    /// `GRAM.PRIM.AND`: 1 if both operands are nonzero, else 0.
    And,
    /// `GRAM.PRIM.OR`: 1 if at least one operand is nonzero, else 0.
    Or,
    /// 1 if they are equal, else 0.
    Eq,
    /// 1 if they differ, else 0.
    Ne,
    /// 1 if the first is smaller, else 0.
    Lt,
    /// 1 if the first is not larger, else 0.
    Le,
    /// 1 if the first is larger, else 0.
    Gt,
    /// 1 if the first is not smaller, else 0.
    Ge,
}

/// The textual notation of an operator.
enum OperatorNotation {
    Infix(&'static str, Precedence),
    Prefix(&'static str),
}

/// The precedence of an expression, from loosest to tightest, in our notation as in Python.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precedence {
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `not`.
    Not,
    /// `==`, `<` and similar operators, which Python chains.
    Comparison,
    /// `+` and `-`.
    Sum,
    /// `*`, `//` and `%`.
    Product,
    /// An expression that never needs parentheses.
    Atom,
}

impl Precedence {
    /// The next tighter one.
    pub fn tighter(self) -> Precedence {
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

impl PrimExpr {
    /// Whether it is a truth value: a comparison, or a combination of such.
    pub fn is_truth_value(&self) -> bool {
        match self {
            PrimExpr::Var(_) | PrimExpr::IntImm(_) => false,
            PrimExpr::Not(_) => true,
            PrimExpr::Binary(op, ..) => op.is_predicate(),
            PrimExpr::Select(_, this, that) => with_stack(|| this.is_truth_value() && that.is_truth_value()),
        }
    }
}

impl BinaryOp {
    /// Whether the result is a Boolean.
    pub fn is_predicate(self) -> bool {
        match self {
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::Min
            | BinaryOp::Max => false,
        }
    }

    /// The rule of the grammar that states the operator.
    pub fn rule(self) -> Rule {
        match self {
            BinaryOp::Add => rule!("GRAM.PRIM.ADD"),
            BinaryOp::Sub => rule!("GRAM.PRIM.SUB"),
            BinaryOp::Mul => rule!("GRAM.PRIM.MUL"),
            BinaryOp::Div => rule!("GRAM.PRIM.DIV"),
            BinaryOp::Min => rule!("GRAM.PRIM.MIN"),
            BinaryOp::Max => rule!("GRAM.PRIM.MAX"),
            BinaryOp::And => rule!("GRAM.PRIM.AND"),
            BinaryOp::Or => rule!("GRAM.PRIM.OR"),
            BinaryOp::Mod
            | BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => rule!("GRAM.PRIM.EXTENSIBLE"),
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

    /// The name of the grammar node.
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

    /// The operator with this [`BinaryOp::name`].
    pub fn from_name(name: &str) -> Option<BinaryOp> {
        BinaryOp::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The operator of a function of two dimensions, under any of its names: `min`, `floordiv`, or the name of the
    /// node.
    pub fn from_function(name: &str) -> Option<BinaryOp> {
        match name {
            "min" => Some(BinaryOp::Min),
            "max" => Some(BinaryOp::Max),
            "truncdiv" => Some(BinaryOp::Div),
            "truncmod" => Some(BinaryOp::Mod),
            "floordiv" => Some(BinaryOp::FloorDiv),
            "floormod" => Some(BinaryOp::FloorMod),
            node => BinaryOp::from_name(node),
        }
    }

    /// The infix symbol and its precedence; `None` if the operator is written as a function.
    pub fn infix(self) -> Option<(&'static str, Precedence)> {
        if let OperatorNotation::Infix(sign, precedence) = self.notation() { Some((sign, precedence)) } else { None }
    }

    /// The name of the operator when it is written as a function.
    pub fn function(self) -> &'static str {
        if let OperatorNotation::Prefix(name) = self.notation() { name } else { self.name() }
    }

    fn notation(self) -> OperatorNotation {
        match self {
            BinaryOp::Add => OperatorNotation::Infix("+", Precedence::Sum),
            BinaryOp::Sub => OperatorNotation::Infix("-", Precedence::Sum),
            BinaryOp::Mul => OperatorNotation::Infix("*", Precedence::Product),
            BinaryOp::FloorDiv => OperatorNotation::Infix("//", Precedence::Product),
            BinaryOp::FloorMod => OperatorNotation::Infix("%", Precedence::Product),
            BinaryOp::And => OperatorNotation::Infix("and", Precedence::And),
            BinaryOp::Or => OperatorNotation::Infix("or", Precedence::Or),
            BinaryOp::Eq => OperatorNotation::Infix("==", Precedence::Comparison),
            BinaryOp::Ne => OperatorNotation::Infix("!=", Precedence::Comparison),
            BinaryOp::Lt => OperatorNotation::Infix("<", Precedence::Comparison),
            BinaryOp::Le => OperatorNotation::Infix("<=", Precedence::Comparison),
            BinaryOp::Gt => OperatorNotation::Infix(">", Precedence::Comparison),
            BinaryOp::Ge => OperatorNotation::Infix(">=", Precedence::Comparison),
            BinaryOp::Div => OperatorNotation::Prefix("truncdiv"),
            BinaryOp::Mod => OperatorNotation::Prefix("truncmod"),
            BinaryOp::Min => OperatorNotation::Prefix("min"),
            BinaryOp::Max => OperatorNotation::Prefix("max"),
        }
    }
}

impl PrimExpr {
    /// The variable `name` with number 0.
    pub fn var(name: &str) -> PrimExpr {
        PrimExpr::Var(ShapeVar::new(name))
    }

    /// An operator with its two operands.
    pub fn binary(op: BinaryOp, a: PrimExpr, b: PrimExpr) -> PrimExpr {
        PrimExpr::Binary(op, Arc::new(a), Arc::new(b))
    }

    /// Calls `visit` on every occurrence of a variable, from left to right. It is iterative, so depth does not matter.
    pub fn for_each_var<'a>(&'a self, mut visit: impl FnMut(&'a ShapeVar)) {
        let mut stack: SmallVec<[&PrimExpr; 8]> = smallvec![self];
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

    /// As [`PrimExpr::for_each_var`], but visits shared operands once. `seen` holds the addresses of visited operands,
    /// which must stay alive while it is used. A number doubled many times has few operands and many occurrences.
    pub fn for_each_var_once<'a>(&'a self, seen: &mut FxHashSet<usize>, mut visit: impl FnMut(&'a ShapeVar)) {
        let mut stack: SmallVec<[&PrimExpr; 8]> = smallvec![self];
        let mut new = |operand: &Arc<PrimExpr>| seen.insert(Arc::as_ptr(operand) as usize);
        while let Some(e) = stack.pop() {
            match e {
                PrimExpr::Var(v) => visit(v),
                PrimExpr::IntImm(_) => {}
                PrimExpr::Binary(_, a, b) => stack.extend([b, a].into_iter().filter(|e| new(e)).map(|e| &**e)),
                PrimExpr::Not(a) => stack.extend(Some(a).filter(|e| new(e)).map(|e| &**e)),
                PrimExpr::Select(c, t, f) => stack.extend([f, t, c].into_iter().filter(|e| new(e)).map(|e| &**e)),
            }
        }
    }

    /// Its variables, constants and operators; each operator precedes its operands. It is iterative, so depth does not
    /// matter.
    pub fn parts(&self) -> impl Iterator<Item = &PrimExpr> {
        let mut stack: SmallVec<[&PrimExpr; 8]> = smallvec![self];
        std::iter::from_fn(move || {
            let e = stack.pop()?;
            match e {
                PrimExpr::Var(_) | PrimExpr::IntImm(_) => {}
                PrimExpr::Binary(_, a, b) => stack.extend([&**b, &**a]),
                PrimExpr::Not(a) => stack.push(a),
                PrimExpr::Select(c, t, f) => stack.extend([&**f, &**t, &**c]),
            }
            Some(e)
        })
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, at: Precedence) -> fmt::Result {
        let precedence = match self {
            PrimExpr::Binary(op, ..) => match op.notation() {
                OperatorNotation::Infix(_, precedence) => precedence,
                OperatorNotation::Prefix(_) => Precedence::Atom,
            },
            PrimExpr::Not(_) => Precedence::Not,
            // A negative constant binds like a sum: `n - -1`, but `(-1) * n`.
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
                OperatorNotation::Infix(symbol, precedence) => {
                    // Comparisons do not chain in the notation, so both operands must bind tighter.
                    let left = if precedence == Precedence::Comparison { precedence.tighter() } else { precedence };
                    a.write(f, left)?;
                    write!(f, " {symbol} ")?;
                    b.write(f, precedence.tighter())
                }
                OperatorNotation::Prefix(word) => write!(f, "{word}({a}, {b})"),
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
