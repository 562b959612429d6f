//! The reports as documents: HTML and Markdown, from templates.

use minijinja::Environment;
use serde_json::{Value, json};

use super::{CaseRow, ConformanceReport, DivergenceReport, ReportError};
use relax_spec::data::json::to_value;
use relax_spec::grammar::visible;
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::ledger::Standing;

const HTML: &str = include_str!("report.html");
const MARKDOWN: &str = include_str!("report.md");

/// An HTML page that needs no other file.
pub fn html(report: &ConformanceReport) -> Result<String, ReportError> {
    render("report.html", HTML, report)
}

/// A Markdown page.
pub fn markdown(report: &ConformanceReport) -> Result<String, ReportError> {
    render("report.md", MARKDOWN, report)
}

/// The common parts of pages about runs and campaigns, by the placeholder that they replace.
const PARTS: [(&str, &str, &str); 3] = [
    (".html", "{# style #}\n", include_str!("style.css")),
    (".html", "{# told #}\n", include_str!("told.html")),
    (".md", "{# told #}\n", include_str!("told.md")),
];

/// A page from a template and data. The extension of the name determines the escaping.
pub(super) fn page(name: &'static str, template: &'static str, data: &Value) -> Result<String, ReportError> {
    let parts = PARTS.iter().filter(|(ending, ..)| name.ends_with(ending));
    let whole = parts.fold(template.to_string(), |whole, (_, mark, part)| whole.replace(mark, part));
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("text", |text: String| as_text(&text));
    environment.add_filter("code", |text: String| as_code(&text));
    environment.add_filter("block", |text: String| as_block(&text));
    environment.add_template(name, &whole)?;
    Ok(environment.get_template(name)?.render(data)? + "\n")
}

fn render(name: &'static str, template: &'static str, report: &ConformanceReport) -> Result<String, ReportError> {
    let totals = report.totals();
    let columns: Vec<CaseVerdict> =
        CaseVerdict::ALL.into_iter().filter(|verdict| totals.contains_key(verdict)).collect();
    let counts = |counts: &super::Counts| -> Vec<usize> {
        columns.iter().map(|verdict| counts.get(verdict).copied().unwrap_or(0)).collect()
    };
    let chapters: Vec<Value> =
        report.by_chapter().iter().map(|(name, n)| json!({"name": name, "counts": counts(n)})).collect();
    // A case is listed if it has a divergence, or if it was not asked.
    let is_listed = |row: &&CaseRow| row.divergence.is_some() || row.verdict() != CaseVerdict::Agree;
    let data = json!({
        "implementation": shown(to_value(report.implementation)),
        "edition": report.edition.name(),
        "columns": columns,
        "chapters": chapters,
        "totals": counts(&totals),
        "cases": report.rows.len(),
        "summary": report.totals_line(),
        "classes": report.classes_line(),
        "unexpected": report.unexpected() + report.stale.len(),
        "stale": report.stale.iter().map(|known| shown(json!({"case": known.case}))).collect::<Vec<Value>>(),
        "stopped": report.stopped,
        "findings": report.rows.iter().filter(is_listed).map(finding).collect::<Vec<Value>>(),
    });
    page(name, template, &data)
}

/// A divergence in the form for the templates: its fields in order, each with whether it has more than one line.
pub(super) fn fields(divergence: &DivergenceReport) -> Vec<Value> {
    let field = |(name, text): (&str, String)| json!({"name": name, "text": text, "is_block": text.contains('\n')});
    divergence.fields().into_iter().chain([("again", divergence.command.clone())]).map(field).collect()
}

fn finding(row: &CaseRow) -> Value {
    let link = match &row.standing {
        Standing::Known(known) | Standing::Changed(known) => known.link.clone(),
        Standing::Expected | Standing::New => None,
    };
    shown(json!({
        "case": row.case.id,
        "verdict": row.verdict(),
        "unexpected": row.standing.is_unexpected(),
        "fields": row.divergence.as_ref().map(fields),
        "given": row.result.outcome.to_string(),
        "why": row.case.why,
        "notes": row.notes(),
        "link_leads": link.as_deref().is_some_and(leads),
        "link": link,
    }))
}

/// Data with escaped control characters in all texts.
pub(super) fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text).into_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(shown).collect()),
        Value::Object(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, shown(value))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether a link leads to the web or to a neighbouring file. No other text becomes a link.
fn leads(link: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | '\'' | '`' | '\\');
    let scheme = link.split(['/', '?', '#']).next().and_then(|start| start.split_once(':')).map(|(scheme, _)| scheme);
    let is_known = match scheme {
        Some(scheme) => ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)),
        // A host without a scheme would use the scheme of the page, which may have none.
        None => !link.starts_with("//"),
    };
    !link.is_empty() && link.chars().all(is_plain) && is_known
}

/// A text in Markdown without any markup.
fn as_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A text in Markdown as a code block below a list item. Its fence has more backticks than the text has in a row.
fn as_block(text: &str) -> String {
    let fence = "`".repeat(text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2) + 1);
    let lines = [fence.as_str()].into_iter().chain(text.lines()).chain([fence.as_str()]);
    lines.map(|line| format!("  {line}").trim_end().to_string()).collect::<Vec<String>>().join("\n")
}

/// A text in Markdown as code, with more backticks than it has in a row.
fn as_code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, text) = ("`".repeat(longest + 1), text.replace('\n', " "));
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_web_or_nearby() {
        for link in ["https://a.example/b?c#d", "HTTP://a", "notes.html", "../a:b/c", "#here"] {
            assert!(leads(link), "{link}");
        }
        let others = [
            "javascript:alert(1)",
            "JavaScript:x",
            "data:text/html,x",
            "//host",
            "",
            "a b",
            "https://a\u{202e}b",
            "vbscript:x",
            "file:///etc",
            "http://a<b",
        ];
        for link in others {
            assert!(!leads(link), "{link}");
        }
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(as_text("<b>|[x](y)\n# _z_"), "\\<b\\>\\|\\[x\\](y) \\# \\_z\\_");
        assert_eq!(as_code("a"), "`a`");
        assert_eq!(as_code("``a`"), "``` ``a` ```");
        assert_eq!(as_block("a\n```"), "  ````\n  a\n  ```\n  ````");
    }
}
