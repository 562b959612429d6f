//! Changes to a text that remove a finding.
//!
//! Each remedy that a finding knows becomes a candidate, made from Python's syntax tree. A candidate is offered only if
//! the text with it has fewer errors and no longer has the finding, so a wrong guess costs time and nothing else.

use std::ops::Range;
use std::path::Path;

use relax_spec::book::{Edition, nearest};
use relax_spec::grammar::visit::{Visitor, walk_module};
use relax_spec::grammar::{Binder, IrModule, stated_edition};

use super::analysis::{Analysis, Choices, Finding};
use super::python::PythonSyntax;

/// A change to a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fix {
    pub title: String,
    /// What is replaced, and by what, from the end of the text to its start.
    pub edits: Vec<(Range<usize>, String)>,
}

impl Fix {
    fn one(title: impl Into<String>, range: Range<usize>, text: impl Into<String>) -> Fix {
        Fix { title: title.into(), edits: vec![(range, text.into())] }
    }

    /// The text after the change.
    pub fn applied(&self, text: &str) -> Option<String> {
        let mut text = text.to_string();
        for (range, new) in &self.edits {
            text.get(range.clone())?;
            text.replace_range(range.clone(), new);
        }
        Some(text)
    }
}

/// The largest number of candidates that are tried for a finding. Each trial reads and judges the text.
const MOST_TRIED: usize = 6;

/// The changes that remove a finding.
pub(crate) fn fixes(choices: &dyn Choices, path: &Path, analysis: &Analysis, finding: &Finding) -> Vec<Fix> {
    let helps = |fix: &Fix| {
        let Some(text) = fix.applied(&analysis.text) else { return false };
        let after = Analysis::of(choices, path, &text);
        let is_gone = !after.findings.iter().any(|other| other.is_like(finding));
        is_gone && after.errors() < analysis.errors() + usize::from(!finding.is_error())
    };
    let mut fixes = candidates(analysis, finding);
    fixes.truncate(MOST_TRIED);
    fixes.retain(helps);
    fixes
}

/// What might help.
fn candidates(analysis: &Analysis, finding: &Finding) -> Vec<Fix> {
    let place = PlaceOfFinding {
        text: &analysis.text,
        syntax: PythonSyntax::of(&analysis.text),
        module: finding.module.and_then(|number| analysis.modules.get(number)).map(|judged| &judged.module),
        finding,
    };
    let edition = finding.module.and_then(|number| analysis.modules.get(number)).map(|judged| judged.cx.edition());
    let mut fixes = Vec::new();
    fixes.extend(place.name_meant());
    fixes.extend(place.bound_name_meant());
    fixes.extend(place.output());
    fixes.extend(place.rank());
    fixes.extend(place.without_annotation());
    fixes.extend(place.without_result());
    fixes.extend(place.annotated_parameter());
    fixes.extend(place.pure_packed_call());
    fixes.extend(place.impure_function());
    fixes.extend(edition.and_then(|edition| place.later_edition(edition)));
    fixes
}

/// A finding in its text.
struct PlaceOfFinding<'a> {
    text: &'a str,
    syntax: PythonSyntax,
    module: Option<&'a IrModule>,
    finding: &'a Finding,
}

impl PlaceOfFinding<'_> {
    fn start(&self) -> usize {
        self.finding.span.start as usize
    }

    fn range(&self) -> Range<usize> {
        let end = (self.finding.span.end as usize).min(self.text.len());
        self.start().min(end)..end
    }

    fn hint(&self) -> &str {
        self.finding.hint.as_deref().unwrap_or_default()
    }

    /// The name that the message is about: the last one in it.
    fn name(&self) -> Option<&str> {
        quoted(&self.finding.message).last()
    }

    /// A word of the text at the finding, else on its line.
    fn word(&self, word: &str) -> Option<Range<usize>> {
        let line = self.start()..self.start() + self.text.get(self.start()..)?.find('\n').unwrap_or(0);
        [self.range(), line].into_iter().find_map(|range| word_in(self.text, range, word))
    }

    /// `did you mean ..?`
    fn name_meant(&self) -> Option<Fix> {
        let meant = self.hint().strip_prefix("did you mean `")?.strip_suffix("`?")?;
        let wrong = self.name()?;
        // `relax.nn.rellu` is `R.nn.rellu` in the text.
        let shared = wrong.bytes().zip(meant.bytes()).take_while(|(a, b)| a == b).count();
        let shared = wrong.get(..shared)?.rfind('.').map_or(0, |dot| dot + 1);
        let (wrong, meant) = (wrong.get(shared..)?, meant.get(shared..)?);
        Some(Fix::one(format!("Write `{meant}`"), self.word(wrong)?, meant))
    }

    /// A name that is not bound, and is near to one that is.
    fn bound_name_meant(&self) -> Option<Fix> {
        if !self.finding.message.contains("is not bound") {
            return None;
        }
        let (wrong, mut bound) = (self.name()?, BoundNames::default());
        walk_module(&mut bound, self.module?);
        let function = self.syntax.function_at(self.start())?;
        let is_near = |binder: &&Binder| function.range.contains(&(binder.var.span.start as usize));
        let known = bound.0.iter().filter(is_near).map(|binder| &*binder.var.name);
        let meant = nearest(wrong, known.filter(|name| *name != wrong))?;
        Some(Fix::one(format!("Write `{meant}`"), self.word(wrong)?, meant))
    }

    /// A variable of a dataflow block that is used behind it: the block gives it out.
    fn output(&self) -> Option<Fix> {
        if !self.hint().contains("bind the value to an ordinary Var") {
            return None;
        }
        let name = self.name()?;
        let end = self.syntax.output_before(self.start())?;
        Some(Fix::one(format!("Give `{name}` out of the dataflow block"), end..end, format!(", {name}")))
    }

    /// `set ndim to 2`.
    fn rank(&self) -> Option<Fix> {
        let rank = self.hint().strip_prefix("set ndim to ")?;
        let line = self.text.get(self.start()..)?;
        let at = self.start() + line.find("ndim")?;
        let rest = self.text.get(at..)?;
        let digits = at + rest.find(|c: char| c.is_ascii_digit())?;
        let end = digits + self.text.get(digits..)?.find(|c: char| !c.is_ascii_digit())?;
        Some(Fix::one(format!("Set ndim to {rank}"), digits..end, rank))
    }

    /// An annotation of a variable that does not fit: without it, or as a check at run time.
    fn without_annotation(&self) -> Vec<Fix> {
        let about = ["leave out the annotation of the variable", "correct the annotation", "use a match_cast"];
        if !about.iter().any(|about| self.hint().starts_with(about)) && !self.hint().starts_with("set ndim") {
            return Vec::new();
        }
        let Some(assign) = self.syntax.annotated_at(self.start()) else { return Vec::new() };
        let target = self.text.get(assign.target.clone()).unwrap_or_default();
        let annotation = self.text.get(assign.annotation.clone()).unwrap_or_default();
        let title = format!("Leave out the annotation of `{target}`");
        let without = Fix::one(title, assign.target.end..assign.annotation.end, "");
        let mut fixes = vec![without];
        if self.hint().contains("match_cast") {
            fixes.push(Fix {
                title: format!("Check at run time that `{target}` is as annotated"),
                edits: vec![
                    (assign.value.end..assign.value.end, format!(", {annotation})")),
                    (assign.value.start..assign.value.start, "R.match_cast(".to_string()),
                    (assign.target.end..assign.annotation.end, String::new()),
                ],
            });
        }
        fixes
    }

    /// The annotation of a result that does not fit.
    fn without_result(&self) -> Option<Fix> {
        if !self.hint().contains("return annotation") && !self.hint().starts_with("cast the result") {
            return None;
        }
        let function = self.syntax.function_at(self.start())?;
        let returns = function.returns.clone()?;
        let arrow = self.text.get(..returns.start)?.rfind("->")?;
        let start = self.text.get(..arrow)?.trim_end().len();
        Some(Fix::one(format!("Leave out the return annotation of `{}`", function.name), start..returns.end, ""))
    }

    /// `annotate it, with R.Object if nothing is known`.
    fn annotated_parameter(&self) -> Option<Fix> {
        if !self.hint().starts_with("annotate it, with R.Object") {
            return None;
        }
        let end = self.range().end;
        Some(Fix::one(format!("Annotate `{}` with R.Object", self.name()?), end..end, ": R.Object"))
    }

    /// `call it by call_pure_packed if it has no effect`.
    fn pure_packed_call(&self) -> Option<Fix> {
        if !self.hint().contains("pure") {
            return None;
        }
        let at = self.word("call_packed")?;
        Some(Fix::one("Call it by call_pure_packed: it has no effect", at, "call_pure_packed"))
    }

    /// A function that makes an impure call: it says so.
    fn impure_function(&self) -> Option<Fix> {
        if !self.hint().contains("pure") && !self.finding.message.contains("pure") {
            return None;
        }
        let function = self.syntax.function_at(self.start())?;
        let title = format!("Declare `{}` impure", function.name);
        let decorator = self.text.get(function.decorator.clone()?)?;
        let base = function.decorator.as_ref()?.start;
        let fix = match (decorator.find("pure=True"), decorator.rfind(')')) {
            (Some(at), _) => Fix::one(title, base + at..base + at + "pure=True".len(), "pure=False"),
            (None, Some(close)) => {
                let is_first = decorator.get(..close)?.trim_end().ends_with('(');
                let more = if is_first { "pure=False" } else { ", pure=False" };
                Fix::one(title, base + close..base + close, more)
            }
            (None, None) => {
                let end = base + decorator.len();
                Fix::one(title, end..end, "(pure=False)")
            }
        };
        Some(fix)
    }

    /// A later edition that accepts the module: the module names it.
    fn later_edition(&self, edition: Edition) -> Option<Fix> {
        let latest = Edition::ALL.into_iter().max()?;
        let module = self.module?;
        if edition >= latest || !matches!(stated_edition(&module.attrs), Ok(None)) || !module.attrs.is_empty() {
            return None;
        }
        let first = self.syntax.class_body_at(self.start())?;
        let line = self.text.get(..first)?.rfind('\n').map_or(0, |at| at + 1);
        let indent = self.text.get(line..first)?;
        let text = format!("I.module_attrs({{\"relax_spec.edition\": \"{latest}\"}})\n{indent}");
        Some(Fix::one(format!("Judge this module by edition {latest}"), first..first, text))
    }
}

/// The names that a message quotes.
fn quoted(message: &str) -> impl DoubleEndedIterator<Item = &str> {
    message.split('`').enumerate().filter(|(i, _)| i % 2 == 1).map(|(_, name)| name).collect::<Vec<_>>().into_iter()
}

/// The first whole word in a range.
fn word_in(text: &str, range: Range<usize>, word: &str) -> Option<Range<usize>> {
    let part = text.get(range.clone())?;
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = part.match_indices(word).find(|(at, _)| {
        let before = part.get(..*at).and_then(|before| before.chars().next_back());
        let after = part.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    })?;
    let start = range.start + whole.0;
    Some(start..start + word.len())
}

/// The variables that a module binds.
#[derive(Default)]
struct BoundNames(Vec<Binder>);

impl Visitor for BoundNames {
    fn visit_var_def(&mut self, binder: &Binder) {
        self.0.push(binder.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found() {
        assert_eq!(word_in("R.addx(R.add(x))", 0..16, "add"), Some(9..12));
        assert_eq!(word_in("R.addx", 0..6, "add"), None);
        assert_eq!(quoted("`f` is no `g`").last(), Some("g"));
        assert_eq!(quoted("nothing").last(), None);
    }

    #[test]
    fn a_fix_outside_of_the_text_is_none() {
        assert_eq!(Fix::one("", 3..9, "x").applied("abc"), None);
        assert_eq!(Fix::one("", 1..2, "xy").applied("abc").as_deref(), Some("axyc"));
    }
}
