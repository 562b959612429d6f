//! The page of an operator: its parameters, its clauses, and how far each release agrees.

use std::fmt::Write as _;

use campaign::agreement;
use relax_spec::book::Rule;
use relax_spec::ops::{self, AttrDefault, AttrKind, Clauses, OpDef, OpParam};

use super::super::Links;
use super::super::chapter::{escaped, with_links};
use super::super::links::page_of;
use super::{Entry, moved, of};

/// A page for each operator.
///
/// # Errors
///
/// The record of an agreement cannot be read.
pub fn operators(links: &Links) -> Result<Vec<Entry>, String> {
    let kept = agreement::kept().map_err(|error| format!("conformance/agreement: {error}"))?;
    Ok(ops::all().map(|op| operator(links, &kept, op)).collect())
}

fn operator(links: &Links, kept: &[(String, agreement::AgreementRecord)], op: &OpDef) -> Entry {
    let path = format!("operators/{}.md", op.name.trim_start_matches("relax."));
    let purity = if op.pure { "pure" } else { "impure" };
    let accuracy = format!("{:?}", op.accuracy).to_lowercase();
    let mut out = format!("# {}\n\nAccuracy: {accuracy}; {purity}.\n", op.name);
    if let Some(reason) = op.excluded {
        let _ = write!(out, "\nIts value is not specified: {}\n", escaped(reason));
    }
    parameters(&mut out, op);
    agreed(&mut out, kept, op);
    for rule in clauses(op) {
        let _ = write!(out, "\n## {}\n\n", of(&path, rule));
        rule.info().text.lines().for_each(|line| {
            let _ = writeln!(out, "{}", with_links(links, &path, &moved(line, page_of(rule))));
        });
    }
    Entry { path, title: op.name.to_string(), content: out }
}

/// The rules that define it: its own, or those of the chapter that name it.
fn clauses(op: &OpDef) -> Vec<Rule> {
    match op.clauses {
        Clauses::Tensor(own) => [Some(own.infer), Some(own.value), own.attrs].into_iter().flatten().collect(),
        Clauses::Text => {
            let name = op.name.trim_start_matches("relax.");
            let names = [format!("`{name}`"), format!("`R.{name}`"), format!("`{}`", op.name)];
            let says = |rule: &&Rule| names.iter().any(|name| rule.info().text.contains(name.as_str()));
            Rule::ALL.iter().filter(says).copied().collect()
        }
    }
}

fn parameters(out: &mut String, op: &OpDef) {
    if op.params.is_empty() {
        return;
    }
    out.push_str("\n| parameter | what it is |\n| --- | --- |\n");
    for param in op.params {
        let (name, what) = match param {
            OpParam::Arg(name) => (*name, "an argument".to_string()),
            OpParam::OptionalArg(name) => (*name, "an optional argument".to_string()),
            OpParam::Flag(name, default) => (*name, format!("a boxed Boolean, {default} if omitted")),
            OpParam::ShapeArg(name) => (*name, "a shape".to_string()),
            OpParam::DtypeArg(name) => (*name, "a data type".to_string()),
            OpParam::Rest(name) => (*name, "all further arguments".to_string()),
            OpParam::Attr(attr) => (attr.name, format!("an attribute: {}{}", kind(attr.kind), default(attr.default))),
        };
        let _ = writeln!(out, "| `{name}` | {} |", escaped(&what));
    }
}

fn kind(kind: AttrKind) -> String {
    let words = match kind {
        AttrKind::Int => "an integer",
        AttrKind::IntOrNone => "an integer or None",
        AttrKind::Bool => "a truth value",
        AttrKind::Float => "a number",
        AttrKind::Ints => "a list of integers",
        AttrKind::Floats => "a list of numbers",
        AttrKind::DataType => "a data type",
        AttrKind::Str([]) => "a string",
        AttrKind::Str(words) => return format!("one of {}", words.join(", ")),
        AttrKind::IndexMap => "a mapping of indices",
        AttrKind::Any => "a value",
        AttrKind::Opaque => "a value without a meaning here",
    };
    words.to_string()
}

fn default(default: AttrDefault) -> String {
    match default {
        AttrDefault::Required => String::new(),
        AttrDefault::Absent => "; it may be omitted".to_string(),
        AttrDefault::Int(value) => format!("; {value} if omitted"),
        AttrDefault::Bool(value) => format!("; {value} if omitted"),
        AttrDefault::Float(value) => format!("; {value} if omitted"),
        AttrDefault::Ints(values) => format!("; {values:?} if omitted"),
        AttrDefault::Floats(values) => format!("; {values:?} if omitted"),
        AttrDefault::Str(value) => format!("; {value} if omitted"),
        AttrDefault::DataType(value) => format!("; {value} if omitted"),
    }
}

/// How far each release agrees, over random calls, and how much of the permitted error its values need.
fn agreed(out: &mut String, kept: &[(String, agreement::AgreementRecord)], op: &OpDef) {
    let found: Vec<_> = kept.iter().filter_map(|(name, of)| Some((name, of.operators.get(op.name)?))).collect();
    if found.is_empty() {
        return;
    }
    out.push_str("\n| release | inference | values | headroom |\n| --- | ---: | ---: | ---: |\n");
    for (name, of) in found {
        let share = |tally: &agreement::AgreementTally| format!("{} of {} agree", tally.agree, tally.asked);
        let headroom = of.used.map_or("-".to_string(), |used| format!("{:.0} %", 100.0 * (1.0 - used)));
        let _ = writeln!(out, "| {name} | {} | {} | {headroom} |", share(&of.inference), share(&of.values));
    }
}
