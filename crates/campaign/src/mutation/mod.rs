//! One-step mutants: programs that differ from a given one in one place, as the mistakes of compilers do. What does not
//! tell them from the program would not see such a mistake.

mod relax;
mod tir;

use std::sync::Arc;

use relax_spec::grammar::{GlobalFunc, IrModule, Span};

/// A program with one change.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What was changed, for people.
    pub what: String,
    /// Where it is written.
    pub span: Span,
    /// The whole program.
    pub module: IrModule,
}

/// All mutants, in the order of the text, each made when it is asked for. Not each of them is a program that a check
/// accepts.
pub fn mutants(module: &IrModule) -> impl Iterator<Item = Mutant> + '_ {
    let mut sites = MutationSites::default();
    sites.module(&mut module.clone());
    let found = std::mem::take(&mut sites.found);
    let mutant = move |(nth, (what, span))| {
        let mut changed = module.clone();
        MutationSites { wanted: Some(nth), ..MutationSites::default() }.module(&mut changed);
        Mutant { what, span, module: changed }
    };
    found.into_iter().enumerate().map(mutant)
}

/// Goes through a program from change to change; makes one of them, or lists them all.
#[derive(Default)]
struct MutationSites {
    /// Which change is made; `None` lists them.
    wanted: Option<usize>,
    next: usize,
    found: Vec<(String, Span)>,
}

impl MutationSites {
    /// A change that can be made here.
    fn change<T>(&mut self, place: &mut T, what: impl FnOnce() -> String, span: Span, changed: T) {
        match self.wanted {
            Some(wanted) if wanted == self.next => *place = changed,
            Some(_) => {}
            None => self.found.push((what(), span)),
        }
        self.next += 1;
    }

    fn module(&mut self, module: &mut IrModule) {
        for (_, func) in &mut module.funcs {
            match func {
                GlobalFunc::Function(function) => self.expr(&mut Arc::make_mut(function).body),
                GlobalFunc::PrimFunc(func) => self.stmts(&mut Arc::make_mut(func).body),
                GlobalFunc::ExternFunc(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
