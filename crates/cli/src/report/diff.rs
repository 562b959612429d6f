//! Compares two answers line by line. A single long line is first laid out with one part per line.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, get_diff_ratio, group_diff_ops};

/// The maximum length of a line before it is laid out, and the indent of its parts.
const WIDTH: usize = 72;
const INDENT: &str = "  ";
/// The maximum depth of the layout. Deeper parts stay on one line.
const DEPTH: usize = 24;
/// The number of lines to show around a difference.
const CONTEXT: usize = 3;
/// The time limit of the search for the shortest difference. After that it may be longer than necessary.
const TIME: Duration = Duration::from_secs(1);

/// The difference between the given answer and the nearest expected one. `-` marks lines only in the expected answer,
/// and `+` lines only in the given one. Empty if they are equal, or if nothing is expected.
pub fn difference(expected: &[String], given: &str) -> String {
    let mut nearest: Option<(f32, String)> = None;
    for text in expected {
        let (here, there) = lines(text, given);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &here, &there, Some(Instant::now() + TIME));
        let ratio = get_diff_ratio(&ops, here.len(), there.len());
        if nearest.as_ref().is_none_or(|(best, _)| ratio > *best) {
            nearest = Some((ratio, shown(ops, &here, &there)));
        }
    }
    nearest.map(|(_, shown)| shown).unwrap_or_default()
}

/// The lines of both. If one is laid out, the other is too, so that common parts look the same.
fn lines(a: &str, b: &str) -> (Vec<String>, Vec<String>) {
    let is_line = |text: &str| !text.trim_end().contains('\n');
    let is_long = |text: &str| is_line(text) && text.len() > WIDTH;
    let wanted = is_line(a) && is_line(b) && (is_long(a) || is_long(b));
    let own = |text: &str| match wanted {
        true => {
            let mut out = Vec::new();
            lay_out(text.trim(), 0, &mut out);
            out
        }
        false => text.trim_end().lines().map(str::to_string).collect(),
    };
    (own(a), own(b))
}

fn shown(ops: Vec<DiffOp>, here: &[String], there: &[String]) -> String {
    let mut out: Vec<String> = Vec::new();
    for (i, group) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        if i > 0 {
            out.push("  ..".to_string());
        }
        for op in group {
            let old = || here.iter().take(op.old_range().end).skip(op.old_range().start);
            let new = || there.iter().take(op.new_range().end).skip(op.new_range().start);
            match op.tag() {
                DiffTag::Equal => out.extend(old().map(|line| format!("  {line}"))),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    out.extend(old().map(|line| format!("- {line}")));
                    out.extend(new().map(|line| format!("+ {line}")));
                }
            }
        }
    }
    out.join("\n")
}

/// A text with brackets as lines that are as short as its brackets and commas allow. A single item is always opened.
fn lay_out(text: &str, depth: usize, out: &mut Vec<String>) {
    let indent = INDENT.repeat(depth);
    let shape = if depth < DEPTH { LineBreaks::of(text) } else { LineBreaks::default() };
    let items = items(text, &shape.commas);
    if items.len() > 1 {
        for item in items {
            if item.len() <= WIDTH { out.push(format!("{indent}{item}")) } else { open(item, depth, out) }
        }
        return;
    }
    open(text, depth, out);
}

/// One item: the contents of its longest brackets get lines of their own.
fn open(item: &str, depth: usize, out: &mut Vec<String>) {
    let indent = INDENT.repeat(depth);
    let is_short = depth > 0 && item.len() <= WIDTH;
    let group = if is_short || depth >= DEPTH { None } else { LineBreaks::of(item).longest };
    let parts = group.and_then(|(start, end)| Some((item.get(..start)?, item.get(start..end)?, item.get(end..)?)));
    match parts {
        Some((before, inside, after)) if !inside.trim().is_empty() => {
            out.push(format!("{indent}{before}"));
            lay_out(inside, depth + 1, out);
            out.push(format!("{indent}{after}"));
        }
        Some(_) | None => out.push(format!("{indent}{item}")),
    }
}

/// The places where a text can be broken: outside of quotes and brackets.
#[derive(Default)]
struct LineBreaks {
    /// The positions of the commas.
    commas: Vec<usize>,
    /// The span of the contents of the longest brackets.
    longest: Option<(usize, usize)>,
}

impl LineBreaks {
    fn of(text: &str) -> LineBreaks {
        let mut shape = LineBreaks::default();
        let (mut depth, mut start, mut quoted, mut escaped) = (0_usize, 0, false, false);
        for (at, c) in text.char_indices() {
            if quoted {
                quoted = escaped || c != '"';
                escaped = !escaped && c == '\\';
                continue;
            }
            match c {
                '"' => quoted = true,
                '(' | '[' | '{' => {
                    if depth == 0 {
                        start = at + 1;
                    }
                    depth += 1;
                }
                ')' | ']' | '}' => {
                    if depth == 1 && shape.longest.is_none_or(|(from, to)| at - start > to - from) {
                        shape.longest = Some((start, at));
                    }
                    depth = depth.saturating_sub(1);
                }
                ',' if depth == 0 => shape.commas.push(at + 1),
                _ => {}
            }
        }
        shape
    }
}

/// The text cut after its commas, which are kept.
fn items<'t>(text: &'t str, commas: &[usize]) -> Vec<&'t str> {
    let ends = commas.iter().copied().chain([text.len()]);
    let mut start = 0;
    let mut items = Vec::new();
    for end in ends {
        let item = text.get(start..end).unwrap_or_default().trim();
        if !item.is_empty() {
            items.push(item);
        }
        start = end;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_their_own_difference() {
        assert_eq!(difference(&["true".to_string()], "false"), "- true\n+ false");
        assert_eq!(difference(&["true".to_string()], "true"), "");
        assert_eq!(difference(&[], "true"), "");
    }

    #[test]
    fn a_long_answer_is_laid_out_and_only_the_part_that_differs_is_marked() {
        let answer = |dim: &str| {
            let wide = "Tensor((batch, channels, height, width), float32)";
            format!("Tuple({wide}, Func(({wide}, Shape(\"a, (b\", {dim})) -> Object, pure), {wide})")
        };
        let shown = difference(&[answer("n")], &answer("m"));
        let marked: Vec<&str> = shown.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(marked, ["-       Shape(\"a, (b\", n)", "+       Shape(\"a, (b\", m)"], "{shown}");
    }

    #[test]
    fn the_nearest_permitted_answer_is_shown() {
        let expected = ["a\nb\nc", "a\nx\nd\ne"].map(str::to_string);
        assert_eq!(difference(&expected, "a\ny\nd\ne"), "  a\n- x\n+ y\n  d\n  e");
    }

    #[test]
    fn what_is_no_structure_is_shown_all_the_same() {
        for text in ["(".repeat(100_000), ")".repeat(300), "[(".repeat(50_000) + &")]".repeat(50_000), "é".repeat(90)]
        {
            assert!(difference(&[text], "short").contains("+ short"));
        }
    }
}
