//! Conflicts between the source documents, as their chapter lists them.

use super::errata_text::field;

const CHAPTER: &str = include_str!("../../../spec/src/conflicts.md");

/// A conflict in full, if the chapter has one with that id.
pub(super) fn one(id: &str) -> Option<String> {
    let row = CHAPTER.lines().find_map(|line| line.strip_prefix(&format!("| {id} | ")))?;
    let mut cells = row.trim_end_matches('|').split(" | ").map(str::trim);
    let mut out = format!("{id} (conflict between documents): {}\n\n", cells.next()?);
    for (name, text) in ["one side", "the other", "outcome", "seen at"].into_iter().zip(cells) {
        field(&mut out, name, text);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_told_and_others_are_not() {
        let told = one("C25").unwrap_or_default();
        let names: Vec<&str> = told.lines().skip(2).filter_map(|line| line.get(..9)).map(str::trim).collect();
        assert!(told.starts_with("C25 ") && told.contains("GRAM.PRIM.INTIMM"), "{told}");
        assert_eq!(names, ["one side", "the other", "outcome", "seen at"]);
        assert_eq!(one("C26"), None);
    }
}
