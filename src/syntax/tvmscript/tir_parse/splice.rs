//! Expressions that are written in one place and used in another: those named by `T.meta_var`, and the dimensions of a
//! buffer.
//!
//! The tree has no names for expressions, so the expression replaces its name. Its variables must keep their meaning
//! there, and a short text must not become an unlimited tree.

use std::rc::Rc;

use ruff_text_size::Ranged;

use super::{ParseResult, ParsedName, Parser};
use crate::grammar::Name;
use crate::grammar::tir::Expr;

/// The maximum number of nodes of all such expressions of a function.
const MAX_SPLICED: usize = 1_000_000;

impl Parser<'_> {
    /// A copy of the expression with this name, or of a part of it.
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

    /// A copy of the dimensions of the named buffer.
    pub(super) fn spliced_all(&mut self, at: &impl Ranged, name: &str, list: &[Expr]) -> ParseResult<Vec<Expr>> {
        list.iter().map(|e| self.spliced(at, name, e)).collect()
    }

    /// The time of a visible name's definition: later ones have larger numbers.
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

    /// A compact buffer that starts at the beginning of its memory.
    pub(super) fn compact(&self, name: &str) -> Option<Rc<crate::grammar::tir::Buffer>> {
        match self.lookup(name) {
            Some(ParsedName::Buffer(buffer)) if buffer.strides.is_empty() && buffer.elem_offset.is_none() => {
                Some(Rc::clone(buffer))
            }
            Some(_) | None => None,
        }
    }
}

/// The variable or buffer that the root of an expression names.
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

/// The direct parts of an expression.
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
