//! Documents from templates, in HTML and Markdown, and texts in Markdown.

use minijinja::Environment;
use serde_json::{Value, json};

use super::{DivergenceReport, ReportError};
use relax_spec::grammar::visible;

/// The common parts of pages about runs and campaigns, by the placeholder that they replace.
const PARTS: [(&str, &str, &str); 4] = [
    (".html", "{# style #}\n", include_str!("style.css")),
    (".html", "{# report.css #}\n", include_str!("report.css")),
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

/// A divergence in the form for the templates: its fields in order, each with whether it has more than one line.
pub(super) fn fields(divergence: &DivergenceReport) -> Vec<Value> {
    let field = |(name, text): (&str, String)| json!({"name": name, "text": text, "is_block": text.contains('\n')});
    divergence.fields().into_iter().chain([("again", divergence.command.clone())]).map(field).collect()
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

/// A text in Markdown without any markup.
pub(super) fn as_text(text: &str) -> String {
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
pub(super) fn as_block(text: &str) -> String {
    let fence = "`".repeat(text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2) + 1);
    let lines = [fence.as_str()].into_iter().chain(text.lines()).chain([fence.as_str()]);
    lines.map(|line| format!("  {line}").trim_end().to_string()).collect::<Vec<String>>().join("\n")
}

/// A text in Markdown as code, with more backticks than it has in a row.
pub(super) fn as_code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, text) = ("`".repeat(longest + 1), text.replace('\n', " "));
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(as_text("<b>|[x](y)\n# _z_"), "\\<b\\>\\|\\[x\\](y) \\# \\_z\\_");
        assert_eq!(as_code("a"), "`a`");
        assert_eq!(as_code("``a`"), "``` ``a` ```");
        assert_eq!(as_block("a\n```"), "  ````\n  a\n  ```\n  ````");
    }
}
