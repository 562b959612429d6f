//! What means something else by another edition.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::fresh;
use campaign::trials::inputs_of;
use relax_spec::arguments::linked;
use relax_spec::book::{Edition, Rule};
use relax_spec::check::{Claim, UnknownOps, all_findings, check_as, unknown_names};
use relax_spec::derivation::{DeriveReport, derive_module};
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::{AttrValue, GlobalFunc, IrModule, Name, Span};
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize_reporting;
use relax_spec::oracle::answer_evaluate;
use relax_spec::question::RunAnswer;

/// Something that means something else.
#[derive(Clone, Debug)]
pub struct MeaningChange {
    /// `verdict`, `information`, `run` or `text`.
    pub kind: &'static str,
    /// The line of OLD.
    pub line: Option<usize>,
    pub message: String,
    pub rules: Vec<Rule>,
}

impl MeaningChange {
    pub fn json(&self) -> Value {
        json!({"kind": self.kind, "line": self.line, "message": self.message, "rules": self.rules})
    }
}

impl fmt::Display for MeaningChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}", self.message)?;
        match self.rules.as_slice() {
            [] => Ok(()),
            rules => write!(f, " [{}]", rules.iter().map(|rule| rule.id()).collect::<Vec<&str>>().join(", ")),
        }
    }
}

/// A program and the context by which it is judged.
type Judged<'a> = (&'a Cx, &'a IrModule);

/// What two editions say of the program, where they differ.
pub fn changes(
    (old_cx, old): Judged<'_>,
    (new_cx, new): Judged<'_>,
    runs: usize,
    line_of: &dyn Fn(u32) -> usize,
) -> Vec<MeaningChange> {
    let (before, after) = (errors(old_cx, old), errors(new_cx, new));
    let mut changes = verdicts(&before, &after, (old_cx.edition(), new_cx.edition()), line_of);
    changes.extend(informations((old_cx, old), (new_cx, new), line_of));
    if before.is_empty() && after.is_empty() {
        changes.extend(results((old_cx, old), (new_cx, new), runs));
    }
    changes
}

fn errors(cx: &Cx, module: &IrModule) -> Vec<Diagnostic> {
    let report = check_as(&mut fresh(cx), module, Claim::Fragment);
    let unknown = unknown_names(module, UnknownOps::Errors);
    let mut findings = all_findings(&mut fresh(cx), &report, unknown);
    findings.retain(|finding| finding.severity == Severity::Error);
    findings
}

/// Errors at places where the other edition has none.
fn verdicts(
    before: &[Diagnostic],
    after: &[Diagnostic],
    (from, to): (Edition, Edition),
    line_of: &dyn Fn(u32) -> usize,
) -> Vec<MeaningChange> {
    let place = |finding: &Diagnostic| (finding.span.start, finding.path.function().to_string());
    let only = |here: &[Diagnostic], there: &[Diagnostic], says: (Edition, Edition)| {
        let there: Vec<_> = there.iter().map(place).collect();
        let new = here.iter().filter(|finding| !there.contains(&place(finding)));
        let change = |finding: &Diagnostic| MeaningChange {
            kind: "verdict",
            line: at(finding.span, line_of),
            message: format!("only {} rejects this, {} does not: {}", says.0, says.1, finding.message),
            rules: vec![finding.rule],
        };
        new.map(change).collect::<Vec<MeaningChange>>()
    };
    only(after, before, (to, from)).into_iter().chain(only(before, after, (from, to))).collect()
}

fn at(span: Span, line_of: &dyn Fn(u32) -> usize) -> Option<usize> {
    (!span.is_none()).then(|| line_of(span.start))
}

fn derived(cx: &Cx, module: &IrModule) -> DeriveReport {
    let normalized = normalize_reporting(&mut fresh(cx), module).module;
    derive_module(&mut fresh(cx), &normalized)
}

/// Names of which the editions know different things. What only follows from a variable that is listed is listed, too,
/// up to this many.
const MOST_NAMES: usize = 50;

fn informations(
    (old_cx, old): Judged<'_>,
    (new_cx, new): Judged<'_>,
    line_of: &dyn Fn(u32) -> usize,
) -> Vec<MeaningChange> {
    let (before, after) = (derived(old_cx, old), derived(new_cx, new));
    let (from, to) = (old_cx.edition(), new_cx.edition());
    let change = |name: &str, span: Span, old: String, new: String| MeaningChange {
        kind: "information",
        line: at(span, line_of),
        message: format!("`{name}` is {old} by {from}, {new} by {to}"),
        rules: Vec::new(),
    };
    let places: BTreeMap<&Name, Span> = old.funcs.iter().map(|(gv, _)| (&gv.name, gv.span)).collect();
    let functions = before.functions.iter().filter_map(|(name, info)| {
        let other = after.info_of_function(name)?;
        let (old, new) = (without_purity(&info.to_string()), without_purity(&other.to_string()));
        (old != new).then(|| change(name, places.get(name).copied().unwrap_or_default(), old, new))
    });
    let known: BTreeMap<(&str, u32, u32), String> =
        after.vars.iter().map(|(var, info)| ((&*var.name, var.id, var.span.start), info.to_string())).collect();
    let vars = before.vars.iter().filter_map(|(var, info)| {
        let new = without_purity(known.get(&(&*var.name, var.id, var.span.start))?);
        let old = without_purity(&info.to_string());
        (old != new).then(|| change(&var.name, var.span, old, new))
    });
    functions.chain(vars).take(MOST_NAMES).collect()
}

/// Information without what it says of purity, which the first edition infers, and later ones declare.
fn without_purity(info: &str) -> String {
    info.replace(", pure)", ")").replace(", impure)", ")")
}

/// Runs of the externally linked functions that end differently.
fn results((old_cx, old): Judged<'_>, (new_cx, new): Judged<'_>, runs: usize) -> Vec<MeaningChange> {
    let entries = old.funcs.iter().filter_map(|(_, func)| match func {
        GlobalFunc::Function(function) => match function.attrs.get("global_symbol") {
            Some(AttrValue::Str(symbol)) => Some(symbol.clone()),
            Some(_) | None => None,
        },
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    });
    let mut changes = Vec::new();
    for entry in entries.filter(|entry| linked(new, entry).is_some()) {
        let differs = inputs_of(old_cx.edition(), old, &entry, runs).into_iter().find_map(|input| {
            let before = answer_evaluate(&mut fresh(old_cx), old, &entry, &input).ok()?;
            let after = answer_evaluate(&mut fresh(new_cx), new, &entry, &input).ok()?;
            (!is_same(&before, &after)).then_some((input, before, after))
        });
        if let Some((input, before, after)) = differs {
            let given: Vec<String> = input.iter().map(crate::value::argument).collect();
            changes.push(MeaningChange {
                kind: "run",
                line: None,
                message: format!(
                    "`{entry}` on ({}) gives {before} by {}, {after} by {}",
                    given.join(", "),
                    old_cx.edition(),
                    new_cx.edition()
                ),
                rules: Vec::new(),
            });
        }
    }
    changes
}

/// Whether two runs end alike. Which rule fails is named differently by editions; a limit says nothing.
fn is_same(a: &RunAnswer, b: &RunAnswer) -> bool {
    match (a, b) {
        (RunAnswer::Fails(_, before), RunAnswer::Fails(_, after)) => before == after,
        (RunAnswer::OutOfFuel | RunAnswer::Unspecified, _) | (_, RunAnswer::OutOfFuel | RunAnswer::Unspecified) => true,
        (RunAnswer::Returns(..) | RunAnswer::Fails(..), RunAnswer::Returns(..) | RunAnswer::Fails(..)) => a == b,
    }
}
