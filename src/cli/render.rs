//! Findings as people and tools read them.

use std::io::IsTerminal as _;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use super::input::{InputError, Source};
use crate::book::Rule;
use crate::findings::{Diagnostic, Severity};
use crate::grammar::Span;
use crate::grammar::source::{SyntaxError, locate};
use crate::syntax::load::LoadError;

/// A renderer with colours where a terminal shows them.
pub fn renderer() -> Renderer {
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if colours { Renderer::styled().decor_style(DecorStyle::Unicode) } else { Renderer::plain() }
}

/// A finding with the source line, the rule and its reason.
pub fn human(renderer: &Renderer, source: &Source, finding: &Diagnostic) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.rule.id());
    let group = if finding.span.is_none() {
        Group::with_title(title).element(Level::NOTE.message(format!("{}: at {}", source.name, finding.path)))
    } else {
        let range = finding.span.start as usize..finding.span.end as usize;
        snippet(Group::with_title(title), source, range)
    };
    let group = group.element(Level::NOTE.message(format!("{}: {}", finding.rule, reason(finding.rule))));
    let group = match &finding.hint {
        Some(hint) => group.element(Level::HELP.message(hint.as_str())),
        None => group,
    };
    renderer.render(&[group]) + "\n\n"
}

/// The rule's text up to the end of its first sentence.
fn reason(rule: Rule) -> String {
    let text = rule.info().text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..=end].to_string(),
        None => text,
    }
}

/// Adds the lines around a range. Only these are given to the renderer, whose time grows with the text.
fn snippet<'a>(group: Group<'a>, source: &'a Source, range: Range<usize>) -> Group<'a> {
    let text = &source.text;
    let (start, end) = (floor(text, range.start), floor(text, range.end.max(range.start)));
    let from = text[..start].rfind('\n').map_or(0, |i| i + 1);
    // A finding about a whole function shows its first line.
    let end = text[start..end].find('\n').map_or(end, |i| start + i);
    let to = text[end..].find('\n').map_or(text.len(), |i| end + i);
    let (line, _, _) = locate(text, start);
    let annotation = AnnotationKind::Primary.span(start - from..end - from);
    group.element(Snippet::source(&text[from..to]).line_start(line).path(source.name.as_str()).annotation(annotation))
}

/// The last character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Why an input cannot be read, with the place where that is known.
pub fn input_error(renderer: &Renderer, error: &InputError) -> String {
    match error {
        InputError::Load(name, LoadError::Syntax(errors)) => {
            errors.iter().map(|error| syntax_error(renderer, name, error)).collect()
        }
        InputError::Io(..) | InputError::NoPrograms(_) | InputError::Load(..) => format!("error: {error}\n"),
    }
}

fn syntax_error(renderer: &Renderer, name: &str, error: &SyntaxError) -> String {
    const LONGEST: usize = 400;
    let title = Level::ERROR.primary_title(error.message.as_str());
    if error.source_line.len() > LONGEST {
        return format!("error: {name}:{error}\n");
    }
    let line = error.source_line.as_str();
    let start = line.char_indices().nth(error.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let end = line[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    let snippet =
        Snippet::source(line).line_start(error.line).path(name).annotation(AnnotationKind::Primary.span(start..end));
    renderer.render(&[Group::with_title(title).element(snippet)]) + "\n"
}

/// A finding in a module in JSON. Lines and columns count from 1.
pub fn finding_json(source: &Source, module: &str, finding: &Diagnostic) -> Value {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
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

/// Where something is, if that is known.
pub fn put_place(value: &mut Value, source: &Source, span: Span) {
    if !span.is_none() {
        let (line, column, _) = locate(&source.text, span.start as usize);
        let (end_line, end_column, _) = locate(&source.text, span.end as usize);
        value["start"] = json!({"line": line, "column": column});
        value["end"] = json!({"line": end_line, "column": end_column});
    }
}

/// The note on the statements of a file that belong to no module.
pub fn skipped_json(source: &Source, (first, count): (Span, usize)) -> Value {
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
        InputError::Io(..) | InputError::NoPrograms(_) | InputError::Load(..) => {
            vec![json!({"file": file, "severity": "error", "rule": null, "message": error.to_string()})]
        }
    }
}
