//! One-step mutants: programs that differ from a given one in one place, as a compiler's mistake would. A test that
//! does not detect the mutant would not detect such a mistake.

mod relax;
mod tir;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use relax_spec::grammar::{GlobalFunc, GlobalVar, IrModule, Name, Span};
use relax_spec::refine::called_from;

/// A program with one change.
#[derive(Clone, Debug)]
pub struct Mutant<'m> {
    /// What was changed, for people.
    pub what: String,
    /// The place of the change in the text.
    pub span: Span,
    /// What kind of change it is.
    pub kind: MutationKind,
    /// The program that is changed, which of its changes this is, and the functions to change; all if absent.
    of: (&'m IrModule, usize, Option<Rc<BTreeSet<Name>>>),
}

impl Mutant<'_> {
    /// The whole program.
    pub fn module(&self) -> IrModule {
        let (module, nth, only) = &self.of;
        let mut changed = (*module).clone();
        MutationSites { wanted: Some(*nth), only: only.clone(), ..MutationSites::default() }.module(&mut changed);
        changed
    }
}

/// The kinds of changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutationKind {
    /// A constant is twice as large, or 1 instead of 0.
    Constant,
    /// Iterations that ran in order may run in parallel.
    Order,
    /// Any other.
    Other,
}

/// All mutants, in the order of the text. The checks may reject some of them.
pub fn mutants(module: &IrModule) -> impl Iterator<Item = Mutant<'_>> {
    mutants_of(module, None)
}

/// The mutants that change a function which the entry calls.
pub fn mutants_from<'m>(module: &'m IrModule, entry: &str) -> impl Iterator<Item = Mutant<'m>> + use<'m> {
    mutants_of(module, Some(Rc::new(called_from(module, entry))))
}

fn mutants_of(module: &IrModule, only: Option<Rc<BTreeSet<Name>>>) -> impl Iterator<Item = Mutant<'_>> {
    let mut sites = MutationSites { only: only.clone(), ..MutationSites::default() };
    sites.module(&mut module.clone());
    let found = std::mem::take(&mut sites.found);
    let mutant = move |(nth, (kind, what, span))| Mutant { what, span, kind, of: (module, nth, only.clone()) };
    found.into_iter().enumerate().map(mutant)
}

/// Walks over a program from change to change, and makes one of them, or lists them all.
#[derive(Default)]
struct MutationSites {
    /// Which change is made; `None` lists them.
    wanted: Option<usize>,
    next: usize,
    /// The functions to change; all if absent.
    only: Option<Rc<BTreeSet<Name>>>,
    found: Vec<(MutationKind, String, Span)>,
}

impl MutationSites {
    /// A change that can be made here.
    fn change<T>(&mut self, place: &mut T, what: impl FnOnce() -> String, span: Span, changed: T) {
        self.change_of(MutationKind::Other, place, what, span, changed);
    }

    /// Changes a float constant.
    fn constant<T>(&mut self, place: &mut T, x: f64, span: Span, changed: impl FnOnce(f64) -> T) {
        let other = doubled(x);
        if other != x && x.is_finite() {
            self.change_of(MutationKind::Constant, place, || format!("{other:?} for {x:?}"), span, changed(other));
        }
    }

    fn change_of<T>(
        &mut self,
        kind: MutationKind,
        place: &mut T,
        what: impl FnOnce() -> String,
        span: Span,
        changed: T,
    ) {
        match self.wanted {
            Some(wanted) if wanted == self.next => *place = changed,
            Some(_) => {}
            None => self.found.push((kind, what(), span)),
        }
        self.next += 1;
    }

    fn module(&mut self, module: &mut IrModule) {
        let only = self.only.clone();
        let is_changed = |name: &GlobalVar| only.as_ref().is_none_or(|only| only.contains(&name.name));
        for (_, func) in module.funcs.iter_mut().filter(|(name, _)| is_changed(name)) {
            match func {
                GlobalFunc::Function(function) => self.expr(&mut Arc::make_mut(function).body),
                GlobalFunc::PrimFunc(func) => self.stmts(&mut Arc::make_mut(func).body),
                GlobalFunc::ExternFunc(_) => {}
            }
        }
    }
}

/// Twice a number, and 1 for 0.
fn doubled(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x * 2.0 }
}

#[cfg(test)]
mod tests;
