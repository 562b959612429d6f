//! Inference rules, made from the rows and premises in the code, so that they cannot disagree with it: what has to hold
//! stands over the line, what follows below it.
//!
//! A row is `(rule!("ID"), condition, answer)` in a definition by cases; the last row, `(rule!("ID"), answer)`, holds
//! in all other cases. A premise is `(rule!("ID"), number, condition)`. A conclusion is
//! `cx.conclude(rule!("ID"), answer)`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// One form of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inference {
    /// The file and line.
    pub place: String,
    /// The function with its parameters, which is what is judged.
    pub judgement: String,
    /// What has to hold, in the words of the code.
    pub premises: Vec<String>,
    /// What follows.
    pub answer: String,
    /// The definitions of the names in the premises.
    pub names: Vec<String>,
}

/// The forms of each rule in the sources below a directory.
///
/// # Errors
///
/// A file cannot be read.
pub fn inferences(root: &Path) -> Result<BTreeMap<String, Vec<Inference>>, String> {
    let mut pending = vec![root.join("src")];
    let mut found: BTreeMap<String, Vec<Inference>> = BTreeMap::new();
    while let Some(path) = pending.pop() {
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(told)? {
                pending.push(entry.map_err(told)?.path());
            }
            pending.sort();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            of_file(&name, &fs::read_to_string(&path).map_err(told)?, &mut found);
        }
    }
    Ok(found)
}

/// The judgements themselves, which only pass rows on.
const GENERAL: &str = "src/judge/";

fn of_file(name: &str, text: &str, found: &mut BTreeMap<String, Vec<Inference>>) {
    // Tests come last in a file.
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    if name.starts_with(GENERAL) {
        return;
    }
    for (at, _) in text.match_indices("(rule!(\"") {
        let Some(parts) = parts(text, at) else { continue };
        let Some(id) = parts.first().and_then(|part| part.split('"').nth(1)) else { continue };
        let Some(function) = Function::around(text, at) else { continue };
        let before = &text[..at];
        let place = format!("{name}:{}", before.matches('\n').count() + 1);
        let called = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let form = match (called, parts.as_slice()) {
            ("conclude", [_, answer]) => Some((Vec::new(), answer.clone())),
            ("by_kind", [_, answer]) => {
                Some((vec!["the kinds of both are those of this arm".to_string()], answer.clone()))
            }
            ("premise", [_, number, condition]) => Some((vec![condition.clone()], format!("premise {number} holds"))),
            ("", [_, number, condition]) if number.parse::<usize>().is_ok() => {
                Some((vec![condition.clone()], format!("premise {number} holds")))
            }
            ("", [_, condition, answer]) => Some((vec![condition.clone()], answer.clone())),
            ("", [_, answer]) => Some((vec!["no row above applies".to_string()], answer.clone())),
            (_, _) => None,
        };
        let Some((premises, answer)) = form else { continue };
        let names = function.definitions(at, &[&premises[..], std::slice::from_ref(&answer)].concat());
        let form = Inference { place, judgement: function.judgement(), premises, answer, names };
        found.entry(id.to_string()).or_default().push(form);
    }
}

/// The parts of a tuple or of arguments that begin at an opening bracket, in one line each. `None` if it does not end.
fn parts(text: &str, open: usize) -> Option<Vec<String>> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let mut parts = Vec::new();
    let mut from = open + 1;
    for (at, c) in text.get(open..)?.char_indices().map(|(at, c)| (open + at, c)) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    parts.push(plain(&text[from..at]));
                    parts.retain(|part| !part.is_empty());
                    return Some(parts);
                }
            }
            ',' if depth == 1 => {
                parts.push(plain(&text[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// A text in one line.
fn plain(text: &str) -> String {
    text.lines()
        .map(|line| line.split(" // ").next().unwrap_or(line))
        .collect::<Vec<&str>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<&str>>()
        .join(" ")
}

/// A function of the source.
struct Function<'t> {
    text: &'t str,
    /// The offset of its name.
    name: usize,
    /// The offset of the bracket of its parameters.
    open: usize,
}

impl<'t> Function<'t> {
    /// The function around a place.
    fn around(text: &'t str, at: usize) -> Option<Function<'t>> {
        let name = text[..at].rfind("fn ")? + "fn ".len();
        let open = name + text[name..].find('(')?;
        Some(Function { text, name, open })
    }

    /// `subtype::tensor(t1, t2)` without the module: the name with its parameters, without the context.
    fn judgement(&self) -> String {
        let name = self.text[self.name..self.open].split('<').next().unwrap_or_default();
        let params = parts(self.text, self.open).unwrap_or_default();
        let names =
            params.iter().map(|param| param.split(':').next().unwrap_or(param).trim_start_matches("mut ").trim());
        let names: Vec<&str> = names.filter(|name| !["cx", "&self", "&mut self", "self"].contains(name)).collect();
        format!("{name}({})", names.join(", "))
    }

    /// The `let`s above a place that define names in some texts, and names in those.
    fn definitions(&self, at: usize, texts: &[String]) -> Vec<String> {
        let mut wanted = texts.join(" ");
        let lets: Vec<String> = self.text[self.open..at]
            .split("let ")
            .skip(1)
            .filter_map(|rest| rest.split(';').next())
            .map(plain)
            .collect();
        let mut chosen = Vec::new();
        for definition in lets
            .iter()
            .rev()
            .filter(|definition| definition.contains(" = ") && !definition.contains('{') && definition.len() < LONGEST)
        {
            let names =
                definition.split(" = ").next().unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_');
            if names.filter(|name| !name.is_empty() && *name != "mut").any(|name| mentions(&wanted, name)) {
                wanted.push_str(definition);
                chosen.push(definition.trim_start_matches("mut ").to_string());
            }
        }
        chosen.reverse();
        chosen
    }
}

/// The maximum length of a definition that is shown.
const LONGEST: usize = 240;

/// Whether a text has a word.
fn mentions(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

impl Inference {
    /// The rule over and below a line, in HTML.
    pub fn html(&self, id: &str) -> String {
        let code = |text: &String| format!("<code>{}</code>", escaped(text));
        let premises: Vec<String> = self.premises.iter().map(code).collect();
        let mut out = format!(
            "<table class=\"inference\"><tbody><tr><td>{}</td><td rowspan=\"2\">{id}</td></tr><tr><td>{} = {}</td></tr></tbody></table>",
            premises.join(" "),
            code(&self.judgement),
            code(&self.answer),
        );
        if !self.names.is_empty() {
            let _ = write!(out, "<p>where {}</p>", self.names.iter().map(code).collect::<Vec<String>>().join(", "));
        }
        out
    }
}

/// A text in HTML. Backticks would begin code in Markdown.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '*' | '_' | '`' | '[' | ']' | '\\' | '|' | '$' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}
