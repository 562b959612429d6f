//! How errata are set: folded paragraphs, and two derivations beside each other.

/// How long a line gets before it is folded, and how many lines two derivations may share before they are left out.
const WIDTH: usize = 100;
const SHARED: usize = 12;

/// A paragraph in lines that begin with the indent.
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

/// A name and a paragraph that hangs from it.
pub(super) fn field(out: &mut String, name: &str, text: &str) {
    const INDENT: &str = "           ";
    let folded = fold(text, INDENT);
    out.push_str(&format!("{name:<11}{}\n", folded.strip_prefix(INDENT).unwrap_or(&folded)));
}

/// A derivation, without the beginning and the end that it shares with the other one if those are long.
pub(super) fn told_apart(here: &[String], there: &[String]) -> Vec<String> {
    if here.is_empty() {
        return vec!["  no rule is used".to_string()];
    }
    // The first line names the question and its answer.
    let head = 1 + here.iter().zip(there).skip(1).take_while(|(a, b)| a == b).count();
    let rest = here.len().min(there.len()).saturating_sub(head);
    let tail = here.iter().rev().zip(there.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (head, tail) = (if head > SHARED { head } else { 1 }, if tail > SHARED { tail } else { 0 });
    let mut lines: Vec<String> = here.iter().take(1).cloned().collect();
    let leave_out = |lines: &mut Vec<String>, count: usize| {
        if count > 0 {
            lines.push(format!("  .. {count} lines that the readings share"));
        }
    };
    leave_out(&mut lines, head - 1);
    lines.extend(here.iter().take(here.len() - tail).skip(head).cloned());
    leave_out(&mut lines, tail);
    lines.iter().map(|line| format!("  {line}")).collect()
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
        assert_eq!(shown, ["  line 0", "    .. 29 lines that the readings share", "  a"]);
        let mut other = lines(30, "end");
        other[1] = "different".to_string();
        let shown = told_apart(&other, &lines(30, "end"));
        assert_eq!(shown, ["  line 0", "  different", "    .. 29 lines that the readings share"]);
    }
}
