//! What is known of the name at a place.

use std::fmt::Write as _;

use relax_spec::grammar::visit::{Visitor, walk_module, walk_var_def};
use relax_spec::grammar::{Binder, GlobalVar, IrModule, Name, Span, Var, VarKind};

use super::analysis::{Analysis, JudgedModule};
use super::document::Document;
use crate::why::{DerivedProgram, of_var};

/// A name in a text.
#[derive(Clone, Debug)]
pub(crate) enum NameUse {
    Local(Var),
    Global(Name),
}

/// The name around an offset, with its module and its place.
pub(crate) fn name_at(analysis: &Analysis, offset: usize) -> Option<(&JudgedModule, NameUse, Span)> {
    analysis.modules.iter().find_map(|judged| {
        let mut names = NamesAt { offset, found: None };
        names.all(&judged.module);
        names.found.map(|(name, span)| (judged, name, span))
    })
}

/// The place where a name is bound.
pub(crate) fn binding_of(judged: &JudgedModule, name: &NameUse) -> Option<Span> {
    let span = match name {
        NameUse::Local(var) => {
            let mut binders = Binders { var, found: None };
            walk_module(&mut binders, &judged.module);
            binders.found?
        }
        NameUse::Global(name) => judged.module.funcs.iter().find(|(gv, _)| gv.name == *name)?.0.span,
    };
    (!span.is_none()).then_some(span)
}

/// What is known of a name, in Markdown.
pub(crate) fn told(judged: &JudgedModule, name: &NameUse, document: &Document) -> Option<String> {
    let derived = judged.derived();
    let edition = judged.cx.basis();
    let mut out = String::new();
    match name {
        NameUse::Global(name) => {
            let info = derived.report.info_of_function(name)?;
            let _ = writeln!(out, "```\n{name}: {info}\n```\nedition {}", edition.edition());
        }
        NameUse::Local(var) => {
            let line_of = |offset: u32| document.position(offset as usize).line as usize + 1;
            let program = DerivedProgram { module: &derived.module, derived: &derived.report, line_of: &line_of };
            let why = of_var(&mut judged.cx.unobserved(), program, var);
            let (first, reasons) = why.split_once('\n')?;
            let info = first.rsplit_once("  (line ").map_or(first, |(info, _)| info);
            let purity = if derived.impure.contains(var) { "impure, " } else { "" };
            let _ = writeln!(out, "```\n{info}\n```\n{purity}edition {}", edition.edition());
            if !reasons.trim().is_empty() {
                let _ = writeln!(out, "```\n{}\n```", reasons.trim_end());
            }
        }
    }
    Some(out)
}

struct NamesAt {
    offset: usize,
    found: Option<(NameUse, Span)>,
}

impl NamesAt {
    fn all(&mut self, module: &IrModule) {
        for (gv, _) in &module.funcs {
            self.visit_global_var(gv);
        }
        walk_module(self, module);
    }

    fn is_at(&self, span: Span) -> bool {
        !span.is_none() && (span.start as usize..=span.end as usize).contains(&self.offset)
    }

    fn local(&mut self, var: &Var) {
        if self.is_at(var.span) {
            self.found = Some((NameUse::Local(var.clone()), var.span));
        }
    }
}

impl Visitor for NamesAt {
    fn visit_var_def(&mut self, binder: &Binder) {
        self.local(&binder.var);
        walk_var_def(self, binder);
    }

    fn visit_var(&mut self, var: &Var, _: VarKind) {
        self.local(var);
    }

    fn visit_global_var(&mut self, gv: &GlobalVar) {
        if self.is_at(gv.span) {
            self.found = Some((NameUse::Global(gv.name.clone()), gv.span));
        }
    }
}

struct Binders<'v> {
    var: &'v Var,
    found: Option<Span>,
}

impl Visitor for Binders<'_> {
    fn visit_var_def(&mut self, binder: &Binder) {
        if binder.var == *self.var && !binder.var.span.is_none() {
            self.found.get_or_insert(binder.var.span);
        }
        walk_var_def(self, binder);
    }
}
