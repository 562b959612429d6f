//! A chapter: anchors, badges and links for its rules, and links for all ids in it.

use std::fmt::Write as _;

use relax_spec::book::{Edition, Erratum, Rule};

use super::Links;
use super::entries::path_of_rule;

/// The text of a page, with the information about its rules.
///
/// # Errors
///
/// It states a rule that the tables do not have.
pub fn render(links: &Links, page: &str, content: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut in_code = false;
    let mut rule: Option<Rule> = None;
    for line in content.lines() {
        let quoted = line.trim_start_matches(['>', ' ']);
        if quoted.starts_with("```") {
            in_code = !in_code;
        }
        if in_code || quoted.starts_with("```") || line.starts_with("    ") {
            out.push_str(line);
        } else if let Some(id) = line.strip_prefix("r[").and_then(|rest| rest.strip_suffix(']')) {
            let stated: Rule = id.parse().map_err(|error| format!("{page}: {error}"))?;
            out.push_str(&head(links, page, stated));
            rule = Some(stated);
        } else if is_metadata(quoted) && rule.is_some() {
            out.push_str(&metadata(links, page, line));
        } else {
            out.push_str(&with_links(links, page, line));
        }
        out.push('\n');
    }
    Ok(out)
}

/// The anchor of a rule, a badge for each edition, and a list of links about it.
pub fn head(links: &Links, page: &str, rule: Rule) -> String {
    let own = format!("{}{}", "../".repeat(page.matches('/').count()), path_of_rule(rule));
    let mut out = format!("<a id=\"r-{rule}\"></a>\n\n**[{rule}](#r-{rule})** {} [page]({own})\n\n", badges(rule));
    let (cases, count) = links.cases(page, rule);
    let sites: Vec<String> = links.sites.of(rule).into_iter().map(|site| links.place(page, site, site)).collect();
    let errata: Vec<String> = errata_of(rule)
        .map(|erratum| format!("<a href=\"{}\">{erratum}</a>", links.erratum(page, erratum).replace(".md#", ".html#")))
        .collect();
    let _ = write!(
        out,
        "<details><summary>{}, {}, {}</summary>",
        counted(count, "case", "cases"),
        counted(sites.len(), "place in the code", "places in the code"),
        counted(errata.len(), "erratum", "errata"),
    );
    let more = if count > cases.len() { format!(" and {} more", count - cases.len()) } else { String::new() };
    for (name, items, rest) in
        [("Cases", cases, more), ("Code", sites, String::new()), ("Errata", errata, String::new())]
    {
        if !items.is_empty() {
            let _ = write!(out, " <p>{name}: {}{rest}</p>", items.join(", "));
        }
    }
    out.push_str("</details>");
    out
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// One badge per edition. It is plain if the text is that of the edition before, and marked if the rule is new or
/// changed.
pub fn badges(rule: Rule) -> String {
    let mut before: Option<Edition> = None;
    let mut out = Vec::new();
    for edition in Edition::ALL {
        if rule.is_stated_by(edition) {
            let change = before.and_then(|before| rule.change(before, edition));
            let mark = change.map_or_else(String::new, |change| format!(" {}", change.name()));
            out.push(format!("<kbd>{edition}{mark}</kbd>"));
        }
        before = Some(edition);
    }
    out.join(" ")
}

/// The errata about it, in any edition.
pub fn errata_of(rule: Rule) -> impl Iterator<Item = Erratum> {
    let info = rule.info();
    let ids = info.errata.iter().chain(info.later.iter().flat_map(|later| later.errata));
    let mut errata: Vec<Erratum> = ids.filter_map(|id| id.parse().ok()).collect();
    errata.sort_unstable();
    errata.dedup();
    errata.into_iter()
}

/// `*kind · editions .. · source ..*`
fn is_metadata(line: &str) -> bool {
    line.starts_with('*') && line.ends_with('*') && line.contains(" · ")
}

/// The metadata line with its sources, rules and errata as links.
fn metadata(links: &Links, page: &str, line: &str) -> String {
    let parts = line.split(" · ").map(|part| match part.split_once(' ') {
        Some(("source", sources)) => {
            let (sources, end) = unstarred(sources);
            let linked: Vec<String> = sources.split(", ").map(|source| links.source(source)).collect();
            format!("source {}{end}", linked.join(", "))
        }
        Some((name @ ("needs" | "errata" | "succeeds"), ids)) => {
            let (ids, end) = unstarred(ids);
            let linked: Vec<String> = ids.split(", ").map(|id| linked_id(links, page, id, id)).collect();
            format!("{name} {}{end}", linked.join(", "))
        }
        Some(_) | None => part.to_string(),
    });
    parts.collect::<Vec<String>>().join(" · ")
}

fn unstarred(text: &str) -> (&str, &str) {
    text.strip_suffix('*').map_or((text, ""), |text| (text, "*"))
}

/// A link, if the text is the id of a rule or an erratum.
fn linked_id(links: &Links, page: &str, id: &str, shown: &str) -> String {
    if let Ok(rule) = id.parse::<Rule>() {
        return format!("[{shown}]({})", links.rule(page, rule));
    }
    match id.parse::<Erratum>() {
        Ok(erratum) => format!("[{shown}]({})", links.erratum(page, erratum)),
        Err(_) => shown.to_string(),
    }
}

/// The text with all ids in backticks as links, except those that are links already.
pub fn with_links(links: &Links, page: &str, line: &str) -> String {
    let mut out = String::new();
    for (at, part) in line.split('`').enumerate() {
        // Every second part is in backticks. The text of a link is followed by a bracket.
        let opened = out.ends_with('[');
        match (at % 2, part.parse::<Rule>()) {
            (1, Ok(_)) if !opened => out.push_str(&linked_id(links, page, part, &format!("`{part}`"))),
            (1, Ok(_) | Err(_)) => {
                let _ = write!(out, "`{part}`");
            }
            (_, Ok(_) | Err(_)) => out.push_str(part),
        }
    }
    // A line with an odd number of backticks continues on the next.
    if line.matches('`').count().is_multiple_of(2) { out } else { line.to_string() }
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
