//! How rules, editions and the whole specification are cited, and the forms in which a rule is shown elsewhere.

use std::fmt::Write as _;

use relax_spec::book::{Edition, Rule};

/// The title of the book, as `spec/book.toml` has it.
const TITLE: &str = "The Relax IR: a specification in rules";
const AUTHOR: &str = "The relax-spec maintainers";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The subject of a citation.
#[derive(Clone, Copy)]
pub enum Cited {
    Whole,
    Edition(Edition),
    Rule(Rule),
}

impl Cited {
    /// The whole by its name, an edition by its own; rules are found elsewhere.
    pub fn named(id: &str) -> Option<Cited> {
        match id {
            "relax-spec" => Some(Cited::Whole),
            other => other.parse().ok().map(Cited::Edition),
        }
    }

    /// An entry for BibTeX.
    pub fn bibtex(self) -> String {
        let (key, title, note) = match self {
            Cited::Whole => ("relax-spec".to_string(), TITLE.to_string(), "executable reference semantics".to_string()),
            Cited::Edition(edition) => {
                (format!("relax-spec:{edition}"), format!("{TITLE}, edition {edition}"), stated(edition))
            }
            Cited::Rule(rule) => {
                let info = rule.info();
                let note = format!("{}; editions {}; {}", info.kind, info.editions.join(", "), info.file);
                (format!("relax-spec:{rule}"), format!("Rule {rule}, in: {TITLE}"), note)
            }
        };
        let mut out = format!("@misc{{{key},\n");
        // The braces keep a group from being read as first and last names.
        let _ = writeln!(out, "  author = {{{{{AUTHOR}}}}},");
        for (name, text) in [("title", title.as_str()), ("version", VERSION), ("note", note.as_str())] {
            let _ = writeln!(out, "  {name} = {{{}}},", escaped(text, &[]));
        }
        out + "}\n"
    }
}

fn stated(edition: Edition) -> String {
    let rules = Rule::ALL.iter().filter(|rule| rule.statement(edition).is_some()).count();
    format!("{rules} rules")
}

/// A rule for a paper: its statement, in an edition if it has one there, with the id as its label.
pub fn latex(rule: Rule, edition: Option<Edition>) -> String {
    let info = rule.info();
    let statement = edition.and_then(|edition| rule.statement(edition)).map_or(info.text, |said| said.text);
    let mut out = format!("% {rule}, {}, editions {}\n", info.kind, info.editions.join(", "));
    let _ = writeln!(out, "\\paragraph{{\\texttt{{{}}}}}\\label{{rule:{rule}}}", escaped(rule.id(), &[]));
    for (at, part) in statement.split('`').enumerate() {
        // Every second part is in backticks.
        let _ = match at % 2 {
            1 => write!(out, "\\texttt{{{}}}", escaped(part, &[])),
            _ => write!(out, "{}", escaped(part, &[("**", ""), ("\n* ", "\n\\par\\noindent\\textbullet\\ ")])),
        };
    }
    out.push('\n');
    out
}

/// A text in which no character is a command of TeX.
fn escaped(text: &str, marks: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((mark, tex)) = marks.iter().find(|(mark, _)| rest.starts_with(mark)) {
            out.push_str(tex);
            rest = &rest[mark.len()..];
            continue;
        }
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// A rule as a section of Markdown.
pub fn markdown(rule: Rule, edition: Option<Edition>) -> String {
    let info = rule.info();
    let statement = edition.and_then(|edition| rule.statement(edition)).map_or(info.text, |said| said.text);
    let errata = if info.errata.is_empty() { String::new() } else { format!(" · errata {}", info.errata.join(", ")) };
    let about = format!("*{} · editions {} · source {}{errata}*", info.kind, info.editions.join(", "), info.source);
    format!("### `{rule}`\n\n{statement}\n\n{about}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_cited_without_a_stray_command() {
        for rule in Rule::ALL {
            for text in [latex(*rule, None), Cited::Rule(*rule).bibtex()] {
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
                assert!(!text.contains('`') && !text.contains('<'), "{text}");
            }
        }
        assert!(latex(Rule::ALL[0], None).contains("\\label{rule:"));
        assert_eq!(escaped("a_b <: {c}", &[]), "a\\_b \\textless{}: \\{c\\}");
        assert!(Cited::named("2023-12").unwrap().bibtex().starts_with("@misc{relax-spec:2023-12,"));
    }
}
