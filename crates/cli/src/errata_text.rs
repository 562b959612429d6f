//! The layout of errata: folded paragraphs, and two derivations side by side.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// The maximum length of a line before it is folded.
const WIDTH: usize = 100;
/// The maximum length of a derivation that is shown in full, and the number of lines around a difference in a longer
/// one.
const SHORT: usize = 16;
const CONTEXT: usize = 2;

/// A paragraph as indented lines.
pub(super) fn fold(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_string()];
    for word in text.split_whitespace() {
        let here = lines.last().map_or(0, |line| line.chars().count());
        if here > indent.len() && here + 1 + word.chars().count() > WIDTH {
            lines.push(indent.to_string());
        }
        if let Some(line) = lines.last_mut() {
            if line.len() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// A name with a hanging paragraph.
pub(super) fn field(out: &mut String, name: &str, text: &str) {
    const INDENT: &str = "           ";
    let folded = fold(text, INDENT);
    out.push_str(&format!("{name:<11}{}\n", folded.strip_prefix(INDENT).unwrap_or(&folded)));
}

/// A derivation in comparison with another one. A long one is shown without most of the common lines; different lines
/// have a `>`.
pub(super) fn told_apart(here: &[String], there: &[String]) -> Vec<String> {
    let shown = |line: &String| format!("  {line}");
    if here.is_empty() {
        return vec!["  no rule is used".to_string()];
    }
    if here.len().max(there.len()) <= SHORT {
        return here.iter().map(shown).collect();
    }
    // The first line has the question with its answer.
    let mut lines: Vec<String> = here.iter().take(1).map(shown).collect();
    let mut done = 1;
    let leave_out = |lines: &mut Vec<String>, from: usize, to: usize| match to.saturating_sub(from) {
        few @ 0..=CONTEXT => lines.extend(here.iter().skip(from).take(few).map(shown)),
        many => lines.push(format!("    .. {many} lines that the readings share")),
    };
    for op in group_diff_ops(capture_diff_slices(Algorithm::Myers, here, there), CONTEXT).into_iter().flatten() {
        let range = op.old_range();
        leave_out(&mut lines, done, range.start);
        let mark = if op.tag() == DiffTag::Equal { ' ' } else { '>' };
        lines.extend(here.iter().take(range.end).skip(range.start.max(done)).map(|line| format!("{mark} {line}")));
        done = done.max(range.end);
    }
    leave_out(&mut lines, done, here.len());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, last: &str) -> Vec<String> {
        (0..count).map(|i| format!("line {i}")).chain([last.to_string()]).collect()
    }

    #[test]
    fn long_paragraphs_are_folded() {
        let folded = fold(&"word ".repeat(40), "  ");
        assert_eq!(folded.lines().count(), 3);
        assert!(folded.lines().all(|line| line.starts_with("  word") && line.len() <= WIDTH));
    }

    #[test]
    fn short_derivations_are_shown_in_full() {
        assert_eq!(told_apart(&lines(3, "a"), &lines(3, "b")), ["  line 0", "  line 1", "  line 2", "  a"]);
        assert_eq!(told_apart(&[], &lines(3, "b")), ["  no rule is used"]);
    }

    #[test]
    fn what_long_derivations_share_is_left_out() {
        let shown = told_apart(&lines(30, "a"), &lines(30, "b"));
        let left_out = "    .. 27 lines that the readings share";
        assert_eq!(shown, ["  line 0", left_out, "  line 28", "  line 29", "> a"]);
        let mut other = lines(30, "end");
        other[1] = "different".to_string();
        let shown = told_apart(&other, &lines(30, "end"));
        assert_eq!(shown, ["  line 0", "> different", "  line 2", "  line 3", left_out]);
        assert_eq!(
            told_apart(&lines(30, "a"), &lines(30, "a")),
            ["  line 0", "    .. 30 lines that the readings share"]
        );
    }
}
