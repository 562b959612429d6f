//! The list of the errata, each with an anchor.

use std::fmt::Write as _;

use relax_spec::book::Erratum;

use super::Links;
use super::chapter::with_links;

/// The page that the list is added to.
pub const PATH: &str = "errata.md";

/// Every erratum: its title, the literal meaning of the text, and the corrected one.
///
/// # Errors
///
/// The file of an erratum cannot be read.
pub fn list(links: &Links) -> Result<String, String> {
    let mut out = String::from("\n## All errata\n");
    for erratum in Erratum::ALL {
        let info = erratum.info().map_err(|error| format!("spec/errata/{erratum}.ron: {error}"))?;
        let rules: Vec<String> =
            info.rules.iter().map(|rule| format!("[{rule}]({})", links.rule(PATH, *rule))).collect();
        let file = links.place(PATH, &format!("spec/errata/{erratum}.ron:1"), "its file");
        let _ = write!(
            out,
            "\n<a id=\"e-{erratum}\"></a>\n\n**[{erratum}](#e-{erratum})** {} ({}; {file})\n\n* literal: {}\n* corrected: {}\n",
            with_links(links, PATH, &info.title),
            rules.join(", "),
            with_links(links, PATH, &info.literal),
            with_links(links, PATH, &info.corrected),
        );
    }
    Ok(out)
}
