//! Expressions that stand in one place and are meant in another: what `T.meta_var` names, and the dimensions of a buffer.
//!
//! The tree has no place for a name of an expression, so the expression is put where the name is. That must not make it mean
//! other variables, nor make a short text a tree without end.

use std::rc::Rc;

use ruff_text_size::Ranged;

use super::{ParseResult, ParsedName, Parser};
use crate::grammar::Name;
use crate::grammar::tir::Expr;

/// How many nodes all such expressions of a function may have together.
const MAX_SPLICED: usize = 1_000_000;

impl Parser<'_> {
    /// The expression that `name` stands for, or that is a part of what it stands for, once more.
    pub(super) fn spliced(&mut self, at: &impl Ranged, name: &str, e: &Expr) -> ParseResult<Expr> {
        let since = self.defined_at(name);
        let mut pending = vec![e];
        while let Some(e) = pending.pop() {
            self.spliced += 1;
            if self.spliced > MAX_SPLICED {
                return self.error(at, format!("`{name}` and what it stands for would be too large a tree"));
            }
            if let Some(used) = named(e)
                && self.defined_at(used) > since
            {
                return self.error(at, format!("`{used}` is another variable here than where `{name}` was defined"));
            }
            pending.extend(parts(e));
        }
        Ok(e.clone())
    }

    /// The dimensions of a buffer once more, where it is named.
    pub(super) fn spliced_all(&mut self, at: &impl Ranged, name: &str, list: &[Expr]) -> ParseResult<Vec<Expr>> {
        list.iter().map(|e| self.spliced(at, name, e)).collect()
    }

    /// When a name was defined that is seen here: later ones have larger numbers.
    fn defined_at(&self, name: &str) -> usize {
        self.defs.get(name).map_or(0, |(at, _)| *at)
    }

    pub(super) fn define(&mut self, name: &Name, def: ParsedName) {
        self.definitions += 1;
        self.defs.enter(name.clone(), (self.definitions, def));
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&ParsedName> {
        self.defs.get(name).map(|(_, def)| def)
    }

    /// A buffer that is compact and begins where its memory does.
    pub(super) fn compact(&self, name: &str) -> Option<Rc<crate::grammar::tir::Buffer>> {
        match self.lookup(name) {
            Some(ParsedName::Buffer(buffer)) if buffer.strides.is_empty() && buffer.elem_offset.is_none() => {
                Some(Rc::clone(buffer))
            }
            Some(_) | None => None,
        }
    }
}

/// The variable or buffer that an expression itself names.
fn named(e: &Expr) -> Option<&str> {
    if let Expr::Var(var) = e {
        Some(&var.name)
    } else if let Expr::Load(load) = e {
        Some(&load.buffer.name)
    } else if let Expr::Data(buffer) = e {
        Some(&buffer.name)
    } else {
        None
    }
}

/// The expressions that an expression is made of.
fn parts(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Var(_) | Expr::Int(..) | Expr::Float(..) | Expr::Str(_) | Expr::Data(_) => Vec::new(),
        Expr::Binary(binary) => vec![&binary.a, &binary.b],
        Expr::Not(e) | Expr::Cast(_, e) | Expr::Broadcast(e, _) => vec![e],
        Expr::Select(choice) | Expr::IfThenElse(choice) => vec![&choice.condition, &choice.then, &choice.otherwise],
        Expr::Load(load) => load.indices.iter().collect(),
        Expr::Let(inner) => vec![&inner.value, &inner.body],
        Expr::Call(call) => call.args.iter().collect(),
        Expr::Extern(call) => call.args.iter().collect(),
        Expr::Ramp(ramp) => vec![&ramp.base, &ramp.stride],
        Expr::Shuffle(shuffle) => shuffle.vectors.iter().chain(&shuffle.indices).collect(),
    }
}
