//! The forms of findings for people and tools.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use super::input::{InputError, SourceFile};
use super::terminal::{in_colours, remark};
use super::{Exit, note};
use relax_spec::book::{Edition, Rule};
use relax_spec::check::Accepted;
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::source::SyntaxError;
use relax_spec::grammar::{Span, is_hidden, visible};
use relax_spec::syntax::load::LoadError;

/// A renderer, with colours as `--color` says.
pub fn renderer() -> Renderer {
    if in_colours() { Renderer::styled().decor_style(DecorStyle::Unicode) } else { Renderer::plain() }
}

/// A finding with the source line, the rule and its reason.
pub fn human(
    renderer: &Renderer,
    source: &SourceFile,
    edition: Edition,
    finding: &Diagnostic,
    accepted: Option<&Accepted>,
) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Limit => Level::WARNING.with_name("limit"),
    };
    let (message, hint) = (visible(&finding.message), finding.hint.as_deref().map(visible));
    let name = visible(&source.name);
    let title = Group::with_title(level.primary_title(message.as_ref()).id(finding.rule.id()));
    let group = match SourceExcerpt::of(source, finding.span) {
        SourceExcerpt::Nowhere => {
            title.element(Level::NOTE.message(format!("{name}: at {}", visible(&finding.path.0))))
        }
        SourceExcerpt::Place(line, column) => title.element(Level::NOTE.message(format!("{name}:{line}:{column}"))),
        SourceExcerpt::Line { line, text, range } => title.element(
            Snippet::source(text).line_start(line).path(name.as_ref()).annotation(AnnotationKind::Primary.span(range)),
        ),
    };
    let note = match finding.severity {
        Severity::Error | Severity::Warning => format!("{}: {}", finding.rule, reason(finding.rule, edition)),
        Severity::Limit => {
            "this is no fault of the program; the oracle goes no further, and says nothing of it".to_string()
        }
    };
    let group = group.element(Level::NOTE.message(note));
    let group = match accepted {
        Some(accepted) => group.element(Level::NOTE.message(accepted_by(accepted))),
        None => group,
    };
    let group = match &hint {
        Some(hint) => group.element(Level::HELP.message(hint.as_ref())),
        None => group,
    };
    renderer.render(&[group]) + "\n\n"
}

/// The exit status after a program is rejected with these findings. Without an error among them there is no answer.
/// `None` if nothing is rejected.
pub fn rejection<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> Option<Exit> {
    let exit = |finding: &Diagnostic| match finding.severity {
        Severity::Error => Some(Exit::Findings),
        Severity::Limit => Some(Exit::StoppedEarly),
        Severity::Warning => None,
    };
    findings.into_iter().filter_map(exit).min()
}

/// `accepted by 2024-04: PRIMFUNC.SI.RESULT`.
fn accepted_by(accepted: &Accepted) -> String {
    let rules: Vec<&str> = accepted.rules.iter().map(|rule| rule.id()).collect();
    let deciding = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
    format!("accepted by {}{deciding}", accepted.edition)
}

/// The same in JSON.
pub fn accepted_json(accepted: &Accepted) -> Value {
    json!({"edition": accepted.edition.name(), "rules": accepted.rules})
}

/// Writes findings to standard error; only the first if there are very many.
pub fn tell_all<'f>(source: &SourceFile, edition: Edition, findings: impl IntoIterator<Item = &'f Diagnostic>) {
    let renderer = renderer();
    let mut findings = findings.into_iter();
    findings.by_ref().take(MOST).for_each(|finding| note(&human(&renderer, source, edition, finding, None)));
    match findings.count() {
        0 => {}
        rest => remark(&format!("note: {}\n", not_shown(rest))),
    }
}

/// The default maximum number of findings to show.
pub const MOST: usize = 1_000;

/// The message about further findings.
pub fn not_shown(rest: usize) -> String {
    match rest {
        1 => "1 more finding is not shown".to_string(),
        _ => format!("{rest} more findings are not shown"),
    }
}

/// The rule's text up to the end of its first sentence, in the words of an edition.
fn reason(rule: Rule, edition: Edition) -> String {
    let words = rule.statement(edition).map_or(rule.info().text, |statement| statement.text);
    let text = words.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..=end].to_string(),
        None => text,
    }
}

/// The maximum length of a line to show, in bytes.
const LONGEST: usize = 400;

/// The source excerpt of a finding. The renderer gets only the line, because its time grows with the text.
enum SourceExcerpt<'t> {
    Nowhere,
    /// The position in a line that is too long, or that contains control characters.
    Place(usize, usize),
    Line {
        line: usize,
        text: &'t str,
        range: Range<usize>,
    },
}

impl SourceExcerpt<'_> {
    fn of(source: &SourceFile, span: Span) -> SourceExcerpt<'_> {
        if span.is_none() {
            return SourceExcerpt::Nowhere;
        }
        let text = &source.text;
        let (start, end) = (floor(text, span.start as usize), floor(text, span.end.max(span.start) as usize));
        let (line, column, from) = source.locate(span.start);
        // A finding about a whole function shows its first line.
        let rest = &text[from..];
        let to = from + rest.find('\n').unwrap_or(rest.len());
        let shown = &text[from..to];
        if shown.len() > LONGEST || shown.trim_end_matches('\r').contains(is_hidden) {
            return SourceExcerpt::Place(line, column);
        }
        SourceExcerpt::Line { line, text: shown, range: start - from..end.min(to).max(start) - from }
    }
}

/// The last character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The reason why an input cannot be read, with the position if it is known.
pub fn input_error(renderer: &Renderer, error: &InputError) -> String {
    match error {
        InputError::Load(name, LoadError::Syntax(errors)) => {
            errors.iter().map(|error| syntax_error(renderer, name, error)).collect()
        }
        InputError::Io(..) | InputError::NoPrograms(_) | InputError::Load(..) | InputError::Internal(_) => {
            format!("error: {}\n", visible(&error.to_string()))
        }
    }
}

fn syntax_error(renderer: &Renderer, name: &str, error: &SyntaxError) -> String {
    let (message, name) = (visible(&error.message), visible(name));
    let title = Level::ERROR.primary_title(message.as_ref());
    if error.source_line.len() > LONGEST || error.source_line.contains(is_hidden) {
        return format!("error: {name}:{}:{}: {message}\n", error.line, error.column);
    }
    let line = error.source_line.as_str();
    let start = line.char_indices().nth(error.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let end = line[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    let snippet = Snippet::source(line)
        .line_start(error.line)
        .path(name.as_ref())
        .annotation(AnnotationKind::Primary.span(start..end));
    renderer.render(&[Group::with_title(title).element(snippet)]) + "\n"
}

/// A finding in a module in JSON. Lines and columns count from 1.
pub fn finding_json(source: &SourceFile, module: &str, finding: &Diagnostic) -> Value {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Limit => "limit",
    };
    let mut value = json!({
        "file": source.name,
        "module": (!module.is_empty()).then_some(module),
        "severity": severity,
        "rule": finding.rule,
        "code": finding.code(),
        "message": finding.message,
        "path": finding.path,
        "hint": finding.hint,
    });
    put_place(&mut value, source, finding.span);
    value
}

/// Adds the position, if it is known.
pub fn put_place(value: &mut Value, source: &SourceFile, span: Span) {
    if !span.is_none() {
        let (line, column, _) = source.locate(span.start);
        let (end_line, end_column, _) = source.locate(span.end);
        value["start"] = json!({"line": line, "column": column});
        value["end"] = json!({"line": end_line, "column": end_column});
    }
}

/// The note about further findings.
pub fn not_shown_json(file: &str, rest: usize) -> Value {
    note_json(file, &not_shown(rest))
}

/// A note on a file.
pub fn note_json(file: &str, message: &str) -> Value {
    json!({"file": file, "severity": "note", "rule": null, "message": message})
}

/// The note on the statements of a file that belong to no module.
pub fn skipped_json(source: &SourceFile, first: Span, count: usize) -> Value {
    let message = source.skipped_words(first, count);
    let mut value = json!({"file": source.name, "severity": "note", "rule": null, "message": message});
    put_place(&mut value, source, first);
    value
}

/// An unreadable input in JSON: one object for each error.
pub fn input_error_json(file: &str, error: &InputError) -> Vec<Value> {
    match error {
        InputError::Load(_, LoadError::Syntax(errors)) => errors
            .iter()
            .map(|error| {
                json!({
                    "file": file,
                    "severity": "error",
                    "rule": error.rule,
                    "message": error.message,
                    "start": {"line": error.line, "column": error.column},
                })
            })
            .collect(),
        InputError::Io(..) | InputError::NoPrograms(_) | InputError::Load(..) | InputError::Internal(_) => {
            vec![json!({"file": file, "severity": "error", "rule": null, "message": error.to_string()})]
        }
    }
}
