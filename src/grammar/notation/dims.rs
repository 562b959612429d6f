//! Dimensions, with the operator precedences of Python.

use super::tokens::{NotationResult, Parser, Token};
use crate::grammar::source::MAX_NESTING;
use crate::grammar::{BinaryOp, PrimExpr, ShapeVar};

/// A dimension with its depth, which limits the recursion of later traversals.
struct Sized(PrimExpr, usize);

impl Parser<'_> {
    pub(super) fn dim(&mut self) -> NotationResult<PrimExpr> {
        self.disjunction().map(|Sized(dim, _)| dim)
    }

    /// The dimensions in brackets after the opening bracket.
    pub(super) fn dims(&mut self, close: &str) -> NotationResult<Vec<PrimExpr>> {
        self.list(close, |parser| parser.dim())
    }

    fn binary(&mut self, op: BinaryOp, Sized(a, da): Sized, Sized(b, db): Sized) -> NotationResult<Sized> {
        let depth = da.max(db) + 1;
        if depth > MAX_NESTING {
            return Err(self.too_deep());
        }
        Ok(Sized(PrimExpr::binary(op, a, b), depth))
    }

    fn disjunction(&mut self) -> NotationResult<Sized> {
        let mut left = self.conjunction()?;
        while self.accept_word("or") {
            let right = self.conjunction()?;
            left = self.binary(BinaryOp::Or, left, right)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> NotationResult<Sized> {
        let mut left = self.negation()?;
        while self.accept_word("and") {
            let right = self.negation()?;
            left = self.binary(BinaryOp::And, left, right)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> NotationResult<Sized> {
        if self.accept_word("not") {
            let Sized(a, depth) = self.nested(|parser| parser.negation())?;
            return Ok(Sized(PrimExpr::Not(a.into()), depth + 1));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> NotationResult<Sized> {
        let left = self.sum()?;
        let Some(op) = self.comparison_op() else { return Ok(left) };
        let right = self.sum()?;
        if self.comparison_op().is_some() {
            return Err(self.expected("`and`, for comparisons do not chain"));
        }
        self.binary(op, left, right)
    }

    fn comparison_op(&mut self) -> Option<BinaryOp> {
        let op = match self.peek() {
            Token::Symbol("==") => BinaryOp::Eq,
            Token::Symbol("!=") => BinaryOp::Ne,
            Token::Symbol("<") => BinaryOp::Lt,
            Token::Symbol("<=") => BinaryOp::Le,
            Token::Symbol(">") => BinaryOp::Gt,
            Token::Symbol(">=") => BinaryOp::Ge,
            _ => return None,
        };
        self.next();
        Some(op)
    }

    fn sum(&mut self) -> NotationResult<Sized> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Token::Symbol("+") => BinaryOp::Add,
                Token::Symbol("-") => BinaryOp::Sub,
                _ => return Ok(left),
            };
            self.next();
            let right = self.product()?;
            left = self.binary(op, left, right)?;
        }
    }

    fn product(&mut self) -> NotationResult<Sized> {
        let mut left = self.sign()?;
        loop {
            let op = match self.peek() {
                Token::Symbol("*") => BinaryOp::Mul,
                Token::Symbol("//") => BinaryOp::FloorDiv,
                Token::Symbol("%") => BinaryOp::FloorMod,
                _ => return Ok(left),
            };
            self.next();
            let right = self.sign()?;
            left = self.binary(op, left, right)?;
        }
    }

    fn sign(&mut self) -> NotationResult<Sized> {
        if self.accept("+") {
            return self.nested(|parser| parser.sign());
        }
        if !self.accept("-") {
            return self.atom();
        }
        if let Token::Int(digits) = self.peek() {
            let literal = format!("-{digits}");
            return self.int(&literal);
        }
        let operand = self.nested(|parser| parser.sign())?;
        self.binary(BinaryOp::Mul, operand, Sized(PrimExpr::IntImm(-1), 1))
    }

    fn int(&mut self, literal: &str) -> NotationResult<Sized> {
        match literal.parse() {
            Ok(value) => {
                self.next();
                Ok(Sized(PrimExpr::IntImm(value), 1))
            }
            Err(_) => Err(self.expected(&format!("an integer that fits in int64 ({})", rule!("GRAM.PRIM.INTIMM")))),
        }
    }

    fn atom(&mut self) -> NotationResult<Sized> {
        match self.peek().clone() {
            Token::Int(digits) => self.int(digits),
            Token::Symbol("(") => {
                self.next();
                let inner = self.nested(|parser| parser.disjunction())?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Name(name) if *self.peek_after(1) == Token::Symbol("(") => self.function(name),
            Token::Name(name) => match ShapeVar::parse(name) {
                Some(var) if !name.contains('.') && !is_reserved(name) => {
                    self.next();
                    Ok(Sized(PrimExpr::Var(var), 1))
                }
                Some(_) | None => Err(self.expected("a dimension")),
            },
            Token::Str(text) => self.quoted(text),
            Token::Symbol(_) | Token::End => Err(self.expected("a dimension")),
        }
    }

    /// An expression over shape variables in quotation marks, as in TVMScript: `"n"`, `"n + 1"`.
    fn quoted(&mut self, text: &str) -> NotationResult<Sized> {
        let inside = self.nested(|_| {
            let mut parser = Parser::new(text)?;
            let dim = parser.disjunction()?;
            parser.finish().map(|()| dim)
        });
        let dim = inside.map_err(|_| self.expected("a dimension"))?;
        self.next();
        Ok(dim)
    }

    /// `min(a, b)`, `T.Select(c, a, b)`, `T.int64(3)`.
    fn function(&mut self, name: &str) -> NotationResult<Sized> {
        let unknown = |parser: &mut Self| Err(parser.expected("a function of dimensions, such as min or max"));
        let word = name.strip_prefix("T.").or(name.strip_prefix("tir.")).unwrap_or(name);
        let op = match word {
            "select" | "Select" | "if_then_else" | "Not" | "int64" => None,
            other => match BinaryOp::from_function(other) {
                Some(op) => Some(op),
                None => return unknown(self),
            },
        };
        self.next();
        self.next();
        let args = self.nested(|parser| parser.list(")", |parser| parser.disjunction()))?;
        match (op, word, <[Sized; 1]>::try_from(args)) {
            (None, "int64", Ok([a])) => Ok(a),
            (None, "Not", Ok([Sized(a, depth)])) => Ok(Sized(PrimExpr::Not(a.into()), depth + 1)),
            (Some(op), _, Err(args)) => match <[Sized; 2]>::try_from(args) {
                Ok([a, b]) => self.binary(op, a, b),
                Err(_) => Err(self.expected("two arguments in front")),
            },
            (None, _, Err(args)) => match <[Sized; 3]>::try_from(args) {
                Ok([Sized(c, dc), Sized(t, dt), Sized(f, df)]) => {
                    Ok(Sized(PrimExpr::Select(c.into(), t.into(), f.into()), dc.max(dt).max(df) + 1))
                }
                Err(_) => Err(self.expected("three arguments in front")),
            },
            (_, _, Ok(_)) => Err(self.expected("another number of arguments in front")),
        }
    }
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "and" | "or" | "not")
}
