//! The whole static check of a program: well-formedness, normalization, typing, derivation.

mod beside;
mod later;
mod unknown;

pub use beside::errors_in_reading;
pub use later::{Accepted, RejectedProgram};
pub use unknown::{UnknownOps, unknown_names};

use rustc_hash::FxHashSet;

use crate::book::{ErratumSet, Rule};
use crate::derivation::{Beforehand, DeriveReport, derive_module, derive_module_in};
use crate::findings::{Diagnostic, FaultySpans, NodePath, Severity, place};
use crate::grammar::{GlobalFunc, IrModule, Name, Type};
use crate::judge::Cx;
use crate::normal_form::Normalized;
use crate::scope::{in_order_of_reference, unaffected};
use crate::type_checking::{TypeReport, check_module_in, known_of_vars};
use crate::types::{erase_struct_info, is_subtype};
use crate::{normal_form, well_formed};

/// The result of the whole check of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckReport {
    /// The program in normal form. If an earlier stage rejects the program, it is unchanged.
    pub module: IrModule,
    /// The last stage that the check reached.
    pub stage: CheckStage,
    /// The result of type checking; empty if that stage was not reached.
    pub types: TypeReport,
    /// The result of derivation; empty if that stage was not reached.
    pub derived: DeriveReport,
    /// The findings of all stages, warnings included, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether nothing in it can be started from outside although it does not [claim](Claim) to be a program.
    pub fragment: bool,
    /// The errata that well-formedness queried.
    pub asked_by_criteria: ErratumSet,
    /// The errata that the stages after well-formedness queried.
    pub asked: ErratumSet,
}

/// Whether a module is a whole program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Claim {
    /// A program that can be started (WF.11).
    #[default]
    Program,
    /// A part of a program.
    Fragment,
}

/// The last stage that the check reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CheckStage {
    /// The criteria `WF.*`. An error there ends the check.
    WellFormed,
    /// The conversion into normal form, `NF.*`.
    Normalize,
    /// The rules of the chapter Type Checking.
    Types,
    /// The rules of the chapter Derivation, which give the structural information of every expression.
    Derivation,
}

impl CheckReport {
    /// The report before any stage after well-formedness has run.
    fn of(module: IrModule, diagnostics: Vec<Diagnostic>) -> CheckReport {
        CheckReport {
            module,
            stage: CheckStage::WellFormed,
            types: TypeReport::default(),
            derived: DeriveReport::default(),
            diagnostics,
            fragment: false,
            asked_by_criteria: ErratumSet::default(),
            asked: ErratumSet::default(),
        }
    }

    /// Whether the report has no error.
    pub fn accepts(&self) -> bool {
        accepts(&self.diagnostics)
    }
}

fn accepts(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|finding| finding.severity == Severity::Warning)
}

/// WF.WHEN, NF.REQUIRED, NF.BEFORE-OPT, TC.BEFORE-SI: runs the stages in order and stops after the first one that finds
/// an error.
///
/// The check is deterministic, and the verdict does not depend on the order of the global functions.
pub fn check_program(cx: &mut Cx, module: &IrModule) -> CheckReport {
    check_as(cx, module, Claim::Program)
}

/// Checks a module as [`check_program`] does; the module need not be a whole program.
pub fn check_as(cx: &mut Cx, module: &IrModule, claim: Claim) -> CheckReport {
    let ((findings, fragment), asked_by_criteria) = cx.with_errata_noted(|cx| well_formed_as(cx, module, claim));
    CheckReport { asked_by_criteria, ..continued(cx, module, findings, fragment) }
}

/// The whole check, after the findings of well-formedness.
fn continued(cx: &mut Cx, module: &IrModule, findings: Vec<Diagnostic>, fragment: bool) -> CheckReport {
    let report = CheckReport { fragment, ..CheckReport::of(module.clone(), findings) };
    if !accepts(&report.diagnostics) && cx.fire(rule!("WF.WHEN")) {
        return report;
    }
    let (report, asked) = cx.with_errata_noted(|cx| after_well_formedness(cx, module, report));
    CheckReport { asked, ..report }
}

/// The findings of well-formedness, and whether there is another than those reported because the module is no whole
/// program.
fn well_formed_as(cx: &mut Cx, module: &IrModule, claim: Claim) -> (Vec<Diagnostic>, bool) {
    let mut findings = well_formed::check(cx, module);
    let of_program = findings.len();
    match claim {
        Claim::Program => {}
        Claim::Fragment => {
            let needs_entry = cx.stated_as(rule!("WF.11"));
            findings.retain(|finding| finding.rule != needs_entry);
        }
    }
    let fragment = findings.len() < of_program;
    (findings, fragment)
}

/// The stages after well-formedness.
fn after_well_formedness(cx: &mut Cx, module: &IrModule, mut report: CheckReport) -> CheckReport {
    report.stage = CheckStage::Normalize;
    let normalized = in_normal_form(cx, module);
    report.module = normalized.module;
    let malformed = !normalized.findings.is_empty();
    report.diagnostics.extend(normalized.findings);
    if malformed {
        return report;
    }
    let groups = in_order_of_reference(&report.module);
    let mut early = None;
    if has_types(cx) {
        report.stage = CheckStage::Types;
        let known = known_of_vars(cx, &report.module, &groups);
        report.types = check_module_in(cx, &report.module, &groups, &known.report, FaultySpans::default());
        report.diagnostics.extend(report.types.diagnostics.iter().cloned());
        if !report.types.accepts() && cx.fire(rule!("TC.BEFORE-SI")) {
            return report;
        }
        early = Some(known);
    }
    report.stage = CheckStage::Derivation;
    let pure = pure_functions(&report.types);
    let known = early.and_then(|early| early.after_types(cx, &report.module, &groups, &pure));
    report.derived = known.unwrap_or_else(|| {
        let beforehand = Beforehand { pure, ..Beforehand::default() };
        derive_module_in(cx, &report.module, &groups, beforehand)
    });
    report.diagnostics.extend(report.derived.diagnostics.iter().cloned());
    if report.accepts() && cx.fire(rule!("SI.ERASES-TO-TYPE")) {
        let disagreements = erases_to_type(cx, &report.types, &report.derived);
        report.diagnostics.extend(disagreements);
    }
    report
}

/// META.SINGLE-SYSTEM: whether the edition has types in addition to structural information.
fn has_types(cx: &Cx) -> bool {
    cx.has(rule!("TC.BEFORE-SI"))
}

/// All findings about a program: its unknown names, the findings of the check, and those of the stages that the check
/// did not reach.
pub fn all_findings(cx: &mut Cx, report: &CheckReport, unknown: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if accepts(&unknown) {
        let further = further_findings(cx, report);
        return unknown.into_iter().chain(report.diagnostics.iter().cloned()).chain(further).collect();
    }
    // The meaning of an unknown name is not known, so all stages after well-formedness run again.
    let well_formed = report.diagnostics.iter().filter(|_| report.stage == CheckStage::WellFormed).cloned();
    let told: Vec<Diagnostic> = unknown.into_iter().chain(well_formed).collect();
    let further = go_on(cx, &report.module, CheckStage::WellFormed, told.clone());
    told.into_iter().chain(further).collect()
}

/// The findings of the stages that the check did not reach, without those that depend on a place with an error.
///
/// In the text the first stage that finds an error ends the check (WF.WHEN, TC.BEFORE-SI), and the verdict follows it.
/// An author who repairs a program wants to see all findings at once. A later stage would only repeat earlier findings
/// at a place with an error, so variables bound there count as unknown.
pub fn further_findings(cx: &mut Cx, report: &CheckReport) -> Vec<Diagnostic> {
    if report.accepts() {
        return Vec::new();
    }
    let errors = report.diagnostics.iter().filter(|finding| finding.is_fatal());
    let without_place = errors.filter(|finding| finding.span.is_none() && !finding.path.function().is_empty()).count();
    if without_place > 0 {
        return of_unaffected_functions(cx, report);
    }
    go_on(cx, &report.module, report.stage, report.diagnostics.clone())
}

/// Runs the stages after `behind`. Each knows the findings so far.
fn go_on(cx: &mut Cx, module: &IrModule, behind: CheckStage, told: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut told = CheckFindings::new(module, told);
    let normalized = if behind < CheckStage::Normalize {
        let normalized = in_normal_form(cx, module);
        told.add(normalized.findings);
        Some(normalized.module)
    } else {
        None
    };
    let module = normalized.as_ref().unwrap_or(module);
    let groups = in_order_of_reference(module);
    let mut pure = FxHashSet::default();
    if behind < CheckStage::Types && has_types(cx) {
        let known = known_of_vars(cx, module, &groups);
        let types = check_module_in(cx, module, &groups, &known.report, told.places());
        pure = pure_functions(&types);
        told.add(types.diagnostics);
    }
    if behind < CheckStage::Derivation {
        let beforehand = Beforehand { pure, wrong: told.places(), ..Beforehand::default() };
        told.add(derive_module_in(cx, module, &groups, beforehand).diagnostics);
    }
    told.further
}

/// The findings of a program.
struct CheckFindings {
    /// The findings of the stages that the check has reached.
    before: Vec<Diagnostic>,
    further: Vec<Diagnostic>,
    /// Recognizes findings that repeat an earlier one.
    said: Said,
    /// The places that cover a whole function. Findings about its result and its purity have these places.
    whole: FxHashSet<(u32, u32)>,
}

impl CheckFindings {
    fn new(module: &IrModule, before: Vec<Diagnostic>) -> CheckFindings {
        let whole = |func: &GlobalFunc| match func {
            GlobalFunc::Function(function) => function.span,
            GlobalFunc::PrimFunc(func) => func.span,
            GlobalFunc::ExternFunc(func) => func.span,
        };
        let whole = module.funcs.iter().map(|(_, func)| place(whole(func))).collect();
        let mut said = Said::default();
        before.iter().for_each(|finding| said.add(finding));
        CheckFindings { before, further: Vec::new(), said, whole }
    }

    fn places(&self) -> FaultySpans {
        FaultySpans::of(self.before.iter().chain(&self.further), &self.whole)
    }

    /// Adds the findings of a stage that are new.
    fn add(&mut self, findings: Vec<Diagnostic>) {
        let places = self.places();
        let new: Vec<Diagnostic> = findings
            .into_iter()
            .filter(|finding| !self.said.has(finding))
            .filter(|finding| self.whole.contains(&place(finding.span)) || !places.touch(finding.span))
            .collect();
        new.iter().for_each(|finding| self.said.add(finding));
        self.further.extend(new);
    }
}

/// The findings so far, by function and place. It recognizes those that add nothing.
#[derive(Default)]
struct Said {
    rules: FxHashSet<(String, (u32, u32), Rule)>,
    results: FxHashSet<(String, (u32, u32))>,
    malformed: FxHashSet<String>,
}

impl Said {
    fn add(&mut self, finding: &Diagnostic) {
        let (function, place) = (finding.path.function().to_string(), place(finding.span));
        if finding.is_fatal() {
            self.malformed.insert(function.clone());
        }
        if is_of_result(finding) {
            self.results.insert((function.clone(), place));
        }
        self.rules.insert((function, place, finding.rule));
    }

    /// Whether a finding repeats an earlier one about the same function and place. Findings about a function's result
    /// count as the same even if their rules differ.
    fn has(&self, finding: &Diagnostic) -> bool {
        let (function, place) = (finding.path.function().to_string(), place(finding.span));
        // A variable that is not in scope is already reported by well-formedness.
        let scope = [rule!("TC.VAR.UNBOUND"), rule!("SI.DERIVE.CONTEXT")].contains(&finding.rule);
        let known = scope && self.malformed.contains(&function)
            || is_of_result(finding) && self.results.contains(&(function.clone(), place));
        known || self.rules.contains(&(function, place, finding.rule))
    }
}

fn is_of_result(finding: &Diagnostic) -> bool {
    finding.rule.id().contains(".FUNC.RET.")
}

/// [`further_findings`] for a program that was not read from text. It covers the functions without errors that refer,
/// directly and indirectly, only to functions without errors.
fn of_unaffected_functions(cx: &mut Cx, report: &CheckReport) -> Vec<Diagnostic> {
    let rejected = report.diagnostics.iter().filter(|finding| finding.is_fatal());
    let names = FxHashSet::from_iter(rejected.map(|finding| finding.path.function()));
    let funcs: Vec<_> =
        unaffected(&report.module, &names).into_iter().filter_map(|i| report.module.funcs.get(i).cloned()).collect();
    if funcs.is_empty() {
        return Vec::new();
    }
    let module = IrModule { funcs, ..report.module.clone() };
    match report.stage {
        CheckStage::WellFormed | CheckStage::Normalize => {
            let start = CheckReport::of(module.clone(), Vec::new());
            let later = after_well_formedness(cx, &module, start);
            let further = if later.stage > report.stage { further_findings(cx, &later) } else { Vec::new() };
            later.diagnostics.into_iter().chain(further).collect()
        }
        CheckStage::Types => derive_module(cx, &module).diagnostics,
        CheckStage::Derivation => Vec::new(),
    }
}

/// The functions whose types say that they are pure (TC.FUNC.PURE).
fn pure_functions(types: &TypeReport) -> FxHashSet<Name> {
    let pure = |ty: &Type| matches!(ty, Type::Func(func) if func.pure);
    types.functions.iter().filter(|(_, ty)| pure(ty)).map(|(name, _)| name.clone()).collect()
}

/// SI.ERASES-TO-TYPE: the structural information of a variable erases to its type. The erasure may be a supertype
/// (A42), especially since it has no purity (A18), and a subtype where an operator knows more about its arguments.
fn erases_to_type(cx: &mut Cx, types: &TypeReport, derived: &DeriveReport) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for ((var, ty), (other, info)) in types.vars.iter().zip(&derived.vars) {
        let erased = erase_struct_info(cx, info);
        let agrees = var == other && (erased == *ty || is_subtype(cx, ty, &erased) || is_subtype(cx, &erased, ty));
        if !agrees {
            let message =
                format!("`{var}` has the type {ty}, but its structural information {info} erases to {erased}");
            findings.push(Diagnostic::error(rule!("SI.ERASES-TO-TYPE"), NodePath::default(), var.span, message));
        }
    }
    findings
}

/// NF.REQUIRED, NF.BEFORE-OPT: converts the program to the form that the checkers see.
pub fn in_normal_form(cx: &mut Cx, module: &IrModule) -> Normalized {
    let mut program = Normalized { module: module.clone(), findings: Vec::new() };
    if cx.fire(rule!("NF.REQUIRED")) && cx.fire(rule!("NF.BEFORE-OPT")) {
        program = normal_form::normalize_reporting(cx, module);
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::syntax::tvmscript::parse_module;

    const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @R.function
    def a(x: R.Tensor((3,), "float32")):
        y = R.add(x, nowhere)
        return y

    @R.function
    def b(x: R.Tensor((3,), "float32")):
        y = x[0]
        return y

    @R.function
    def c(x: R.Tensor((3,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def calls_a(x: R.Tensor((3,), "float32")):
        y = Module.a(x, x)
        return y

    @R.function
    def calls_d(x: R.Tensor((3,), "float32")):
        y = Module.d(x, x)
        return y

    @R.function
    def d(x: R.Tensor((3,), "float32")):
        return x
"#;

    fn rules(findings: &[Diagnostic]) -> Vec<(Rule, &str)> {
        findings.iter().map(|finding| (finding.rule, finding.path.function())).collect()
    }

    #[test]
    fn later_stages_go_on_with_sound_functions() {
        let report = check_program(&mut Cx::new(), &parse_module(PROGRAM).unwrap());
        assert_eq!(rules(&report.diagnostics), [(rule!("WF.2.BOUND"), "a")]);
        let further = further_findings(&mut Cx::new(), &report);
        let mut found = rules(&further);
        found.sort_unstable();
        // Errors in `calls_a` depend on `a`, which is unknown.
        let expected = [
            (rule!("SI.DERIVE.FUNC.RET.ERR"), "c"),
            (rule!("TC.CALL.ARITY"), "calls_d"),
            (rule!("TC.TGI.NOTTUPLE"), "b"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_accepted_program_has_no_further_findings() {
        let text = "@R.function\ndef d(x: R.Tensor((3,), \"float32\")):\n    return x\n";
        let report = check_program(&mut Cx::new(), &parse_module(text).unwrap());
        assert_eq!(further_findings(&mut Cx::new(), &report), []);
    }

    /// A context that records more than rules derives after type checking, whatever was derived before.
    #[test]
    fn a_derivation_before_the_types_serves_only_where_a_later_one_says_the_same() {
        let alone = "@R.function\ndef d(x: R.Tensor((3,), \"float32\")):\n    y = R.add(x, x)\n    return y\n";
        let calls = PROGRAM
            .replace("nowhere", "x")
            .replace("x[0]", "R.add(x, x)")
            .replace("(x, x)\n        return", "(x)\n        return");
        let calls = calls.replace("R.add(x)", "R.add(x, x)").replace("((4,)", "((3,)");
        for text in [alone, PROGRAM, &calls] {
            let module = parse_module(text).unwrap();
            for reading in [Reading::corrected(), Reading::literal()] {
                let mut plain = Cx::new().with_reading(reading.clone());
                let mut noting = Cx::new().with_reading(reading).with_rows_noted();
                // A derivation that is not made queries no errata.
                let found = |cx: &mut Cx| CheckReport { asked: ErratumSet::default(), ..check_program(cx, &module) };
                assert_eq!(found(&mut plain), found(&mut noting));
                assert!(plain.recorded() == noting.recorded());
            }
        }
        assert!(check_program(&mut Cx::new(), &parse_module(&calls).unwrap()).accepts());
    }

    /// An element of a very large tuple is a tensor. That inference does not list every element is no error.
    #[test]
    fn what_inference_does_not_write_down_is_no_error() {
        let program = |count: i64| {
            let body = format!("        y = R.split(x, {count}, axis=0)\n        z = y[0]\n        return z\n");
            let head = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((7,), \"float32\")):\n";
            check_program(&mut Cx::new(), &parse_module(&format!("{head}{body}")).unwrap())
        };
        let severities = |count: i64| -> Vec<Severity> {
            program(count).diagnostics.iter().map(|finding| finding.severity).collect()
        };
        assert_eq!(severities(100), []);
        assert_eq!(severities(100_001), [Severity::Limit]);
    }
}
