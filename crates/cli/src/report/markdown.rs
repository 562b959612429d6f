//! Runs as Markdown that fits a comment on a forge: the figures, then findings as long as there is room.

use std::fmt::Write as _;

use serde_json::Value;

use super::page::summary;
use super::runs::{KeptRun, counts, id};
use super::template::{as_block, as_code, as_text};
use relax_spec::grammar::visible;

/// The maximum length in bytes. A forge takes 65,536 characters, and others may quote it.
pub const LONGEST: usize = 30_000;
/// The maximum length of one finding, and of one list.
const LONGEST_FINDING: usize = 4_000;
const LISTED: usize = 12;
/// What is kept free for the sentence on what was left out.
const REST: usize = 300;

/// The page of some runs.
pub fn markdown(runs: &[KeptRun]) -> String {
    let mut out = String::new();
    for run in runs {
        let title = visible(&run.title()).into_owned();
        let _ = writeln!(out, "# {} against relax-spec\n\n{}\n", as_text(&title), as_text(&visible(&summary(run))));
        for said in run.diagnosis() {
            let _ = writeln!(out, "* {}\n", as_text(&visible(said)));
        }
        out.push_str(&cut(&chapters(run), LONGEST / (3 * runs.len())));
        reasons(&mut out, run);
        stale(&mut out, run);
    }
    out = cut(&out, LONGEST - LONGEST_FINDING);
    let found = runs.iter().flat_map(|run| run.cases.iter().map(move |case| (run, case)));
    let (new, known): (Vec<_>, Vec<_>) =
        found.filter(|(_, case)| !case["divergence"].is_null()).partition(|(_, case)| case["unexpected"] == true);
    let mut left = 0;
    for (run, case) in &new {
        let finding = cut(&finding(run, case, runs.len() > 1), LONGEST_FINDING);
        if out.len() + finding.len() + REST > LONGEST {
            left += 1;
        } else {
            out.push_str(&finding);
        }
    }
    if left > 0 {
        let _ = writeln!(out, "\n{left} more unexpected findings are in the HTML and JSON Lines reports.");
    }
    if !known.is_empty() {
        let _ = writeln!(out, "\n{} known divergences are in the HTML and JSON Lines reports.", known.len());
    }
    out
}

fn chapters(run: &KeptRun) -> String {
    let totals = run.totals();
    let mut chapters: Vec<&str> = run.cases.iter().filter_map(|case| case["chapter"].as_str()).collect();
    chapters.dedup();
    let mut seen: Vec<&str> = Vec::new();
    chapters.retain(|chapter| {
        let is_new = !seen.contains(chapter);
        seen.push(*chapter);
        is_new
    });
    let names = totals.iter().map(|(name, _)| format!(" {name} |")).collect::<String>();
    let mut out = format!("| chapter |{names}\n| --- |{}\n", " ---: |".repeat(totals.len()));
    let line = |out: &mut String, name: &str, of: &[(&str, usize)]| {
        let count = |column: &str| of.iter().find(|(name, _)| *name == column).map_or(0, |(_, count)| *count);
        let cells = totals.iter().map(|(column, _)| format!(" {} |", count(column))).collect::<String>();
        let _ = writeln!(out, "| {name} |{cells}");
    };
    for chapter in chapters {
        let of: Vec<Value> = run.cases.iter().filter(|case| case["chapter"] == chapter).cloned().collect();
        line(&mut out, &as_text(chapter), &counts(&of));
    }
    line(&mut out, "**total**", &totals);
    out
}

/// The number of cases that were not asked, by reason.
fn reasons(out: &mut String, run: &KeptRun) {
    let reasons = run.reasons();
    if reasons.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{} not asked:\n", reasons.iter().map(|(_, count)| count).sum::<usize>());
    for (reason, count) in reasons.iter().take(LISTED) {
        let _ = writeln!(out, "* {count}: {}", as_text(&visible(reason).chars().take(160).collect::<String>()));
    }
    if let Some(rest) = reasons.get(LISTED..).filter(|rest| !rest.is_empty()) {
        let _ = writeln!(out, "* {} for {} other reasons", rest.iter().map(|(_, n)| n).sum::<usize>(), rest.len());
    }
}

fn stale(out: &mut String, run: &KeptRun) {
    for case in run.stale().iter().take(LISTED) {
        let case = visible(case);
        let _ = writeln!(out, "\nThe ledger lists the case {}, which the suite does not have.", as_code(&case));
    }
}

fn finding(run: &KeptRun, case: &Value, named: bool) -> String {
    let of = if named { format!(" ({})", run.title()) } else { String::new() };
    let verdict = case["verdict"].as_str().unwrap_or_default();
    let mut out = format!("\n## {}: {verdict}, unexpected{}\n\n", as_text(id(case)), as_text(&visible(&of)));
    let divergence = &case["divergence"];
    let texts = |name: &str| divergence[name].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut field = |name: &str, text: &str| {
        let text = visible(text);
        let _ = match text.contains('\n') {
            true => writeln!(out, "* {name}:\n\n{}\n", as_block(&text)),
            false if text.is_empty() => Ok(()),
            false => writeln!(out, "* {name}: {}", as_code(&text)),
        };
    };
    field("rules", &texts("rules").collect::<Vec<&str>>().join(", "));
    field("question", divergence["question"].as_str().unwrap_or_default());
    texts("programs").for_each(|program| field("program", program));
    texts("expected").for_each(|expected| field("expected", expected));
    field("given", divergence["given"].as_str().unwrap_or_default());
    let diff = divergence["diff"].as_str().unwrap_or_default();
    field("diff", if diff.lines().count() > 2 { diff } else { "" });
    field("again", divergence["command"].as_str().unwrap_or_default());
    let notes = case["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for note in case["case_why"].as_str().into_iter().chain(notes) {
        let _ = writeln!(out, "* {}", as_text(&visible(note)));
    }
    out
}

/// A text up to a length, cut at a line, with every block of code closed.
fn cut(text: &str, longest: usize) -> String {
    const NOTE: &str = "\n.. cut\n";
    if text.len() <= longest {
        return text.to_string();
    }
    let mut out = String::new();
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let closing = fence.as_ref().map_or(0, String::len) + NOTE.len() + 2;
        if out.len() + line.len() + closing > longest {
            break;
        }
        out.push_str(line);
        out.push('\n');
        let is_fence = line.trim_start().starts_with("```");
        match &fence {
            Some(open) if open == line => fence = None,
            None if is_fence => fence = Some(line.to_string()),
            Some(_) | None => {}
        }
    }
    fence.iter().for_each(|fence| out.push_str(&format!("{fence}\n")));
    out + NOTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::read;
    use serde_json::json;

    #[test]
    fn whatever_happens_a_page_fits() {
        for (count, long, reasons) in [(2_000, 40, 1), (3, 200_000, 1), (1_000, 2_000, 900), (0, 0, 900)] {
            let finding = |n: usize| {
                json!({"type": "case", "case": format!("x/{n}"), "chapter": format!("chapter {n}"),
                "verdict": "diverge", "unexpected": true, "divergence": {"programs": ["```\n".repeat(long / 4)],
                "given": "g".repeat(long), "question": "q\n".repeat(long), "command": "relax-spec"}})
            };
            let other = |n: usize| {
                json!({"type": "case", "case": format!("y/{n}"), "chapter": "y", "rules": [],
                "verdict": "unsupported", "unexpected": false, "divergence": null,
                "message": format!("unsupported: {}{n}", "reason ".repeat(100))})
            };
            let lines = (0..count).map(finding).chain((0..reasons).map(other));
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            let page = markdown(&read(&text).unwrap());
            assert!(page.len() <= LONGEST, "{}", page.len());
            // A few findings have room, each cut.
            assert!(count <= 3 || page.contains("more unexpected findings"), "{count}");
            let open = page.lines().fold(None, |open: Option<&str>, line| match open {
                Some(fence) if fence == line => None,
                None if line.trim_start().starts_with("```") => Some(line),
                open => open,
            });
            assert_eq!(open, None, "every block of code ends");
        }
    }
}
