//! The whole static check of a program: well-formedness, normalization, typing, derivation.

use crate::cx::Cx;
use crate::diagnostic::{Diagnostic, NodePath, Severity};
use crate::grammar::IrModule;
use crate::normal_form::Normalized;
use crate::rule::Rule;
use crate::struct_info::derive::{DeriveReport, derive_module};
use crate::types::check::{TypeReport, check_module};
use crate::types::{erase_struct_info, is_subtype};
use crate::{normal_form, well_formed};

/// What the whole check says of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckReport {
    /// The program in normal form; as it was given if an earlier stage rejects it.
    pub module: IrModule,
    /// How far the check came.
    pub stage: Stage,
    pub types: TypeReport,
    pub derived: DeriveReport,
    /// The findings of all stages, warnings included, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// The last stage that was reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    WellFormed,
    Normalize,
    Types,
    Derivation,
}

impl CheckReport {
    /// Whether there is no error.
    pub fn accepts(&self) -> bool {
        accepts(&self.diagnostics)
    }
}

fn accepts(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|finding| finding.severity == Severity::Warning)
}

/// WF.WHEN, NF.REQUIRED, NF.BEFORE-OPT, TC.BEFORE-SI: the stages in their order. A stage that finds an error is the
/// last one.
///
/// Deterministic, and the verdict does not depend on the order of the global functions.
pub fn check_program(cx: &mut Cx, module: &IrModule) -> CheckReport {
    let mut report = CheckReport {
        module: module.clone(),
        stage: Stage::WellFormed,
        types: TypeReport::default(),
        derived: DeriveReport::default(),
        diagnostics: well_formed::check(cx, module),
    };
    if !accepts(&report.diagnostics) && cx.fire(Rule::WfWhen) {
        return report;
    }
    report.stage = Stage::Normalize;
    let normalized = in_normal_form(cx, module);
    report.module = normalized.module;
    let malformed = !normalized.findings.is_empty();
    report.diagnostics.extend(normalized.findings);
    if malformed {
        return report;
    }
    report.stage = Stage::Types;
    report.types = check_module(cx, &report.module);
    report.diagnostics.extend(report.types.diagnostics.iter().cloned());
    if !report.types.accepts() && cx.fire(Rule::TcBeforeSi) {
        return report;
    }
    report.stage = Stage::Derivation;
    report.derived = derive_module(cx, &report.module);
    report.diagnostics.extend(report.derived.diagnostics.iter().cloned());
    if report.accepts() {
        let disagreements = erases_to_type(cx, &report.types, &report.derived);
        report.diagnostics.extend(disagreements);
    }
    report
}

/// SI.ERASES-TO-TYPE: what is derived of a variable erases to its type. The erasure may lie above the type (A42), in
/// particular since it knows no purity (A18), and below it where an operator knows more of its arguments.
fn erases_to_type(cx: &mut Cx, types: &TypeReport, derived: &DeriveReport) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if !cx.fire(Rule::SiErasesToType) {
        return findings;
    }
    for ((var, ty), (other, info)) in types.vars.iter().zip(&derived.vars) {
        let erased = erase_struct_info(cx, info);
        let agrees = var == other && (erased == *ty || is_subtype(cx, ty, &erased) || is_subtype(cx, &erased, ty));
        if !agrees {
            let message =
                format!("`{var}` has the type {ty}, but its structural information {info} erases to {erased}");
            findings.push(Diagnostic::error(Rule::SiErasesToType, NodePath::default(), var.span, message));
        }
    }
    findings
}

/// NF.REQUIRED, NF.BEFORE-OPT: the program as the checkers see it. Where it must not be normalized, one that is not in
/// normal form is rejected.
pub fn in_normal_form(cx: &mut Cx, module: &IrModule) -> Normalized {
    if cx.fire(Rule::NfRequired) && cx.fire(Rule::NfBeforeOpt) {
        return normal_form::normalize_reporting(cx, module);
    }
    Normalized { module: module.clone(), findings: normal_form::check(cx, module) }
}
