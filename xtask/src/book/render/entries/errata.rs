//! The page of an erratum: both readings, and the question that shows the difference.

use std::fmt::Write as _;
use std::fs;

use relax_spec::book::{Edition, Erratum};

use super::super::Links;
use super::super::chapter::with_links;
use super::super::links::root;
use super::{Entry, of, path_of_erratum};

/// The page of an erratum.
///
/// # Errors
///
/// Its file is not readable.
pub fn of_erratum(links: &Links, erratum: Erratum) -> Result<Entry, String> {
    let info = erratum.info().map_err(|error| format!("spec/errata/{erratum}.ron: {error}"))?;
    let path = path_of_erratum(erratum);
    let rules: Vec<String> = info.rules.iter().map(|rule| of(&path, *rule)).collect();
    let mut out = format!("# {erratum}\n\n{}\n\n", with_links(links, &path, &info.title));
    let _ = write!(
        out,
        "Rules: {}\n\n* literal: {}\n* corrected: {}\n",
        rules.join(", "),
        with_links(links, &path, &info.literal),
        with_links(links, &path, &info.corrected)
    );
    for alternative in &info.alternatives {
        let _ = writeln!(out, "* or: {}", with_links(links, &path, alternative));
    }
    if let Ok(text) = fs::read_to_string(root().join(format!("spec/errata/{erratum}.ron")))
        && let Some((_, witness)) = text.split_once("    witness: ")
    {
        let _ = write!(out, "\n## Witness\n\n```text\n{}\n```\n", witness.trim_end().trim_end_matches(')').trim_end());
    }
    let all: Vec<String> =
        Edition::ALL.iter().filter(|edition| erratum.stands_in(**edition)).map(ToString::to_string).collect();
    let _ = write!(
        out,
        "\nIt stands in {}. {}\n",
        all.join(", "),
        links.place(&path, &format!("spec/errata/{erratum}.ron:1"), "its file")
    );
    Ok(Entry { path, title: format!("{erratum}: {}", info.title.replace(['[', ']', '<', '>'], "")), content: out })
}
