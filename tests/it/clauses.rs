//! The chapters state each clause once and positively: the behaviour with a rule, never the behaviour of an
//! implementation without it. The latter is in the file `instead.rs` of each room.
//!
//! This is a text search that a reader could also do. `fire` and related functions are used where a rule applies:
//!
//! * `cx.by_cases(&[(rule, condition, conclusion), ..])` and `cx.by_cases((&[..], (rule, conclusion)))`: rows.
//! * `let (rule, conclusion) = match x { .. }; cx.by_kind(rule, conclusion)`: rows whose conditions are kinds.
//! * `cx.holds(&[(rule, n, condition), ..])` and `self.demand(span, &[..])`, with or without messages: conditions that
//!   must all hold.
//! * `cx.conclude(rule, conclusion)`: a single clause, after `let _ = cx.fire(rule)` if there may be no conclusion.
//! * `if cx.fire(rule) { action }`, without `else`: the rule states that something is done.
//! * `a || cx.fire(rule)`, `a && cx.fire(rule)` in a condition: something holds by the rule.
//! * `if condition && cx.fire(rule) { return .. }`: a clause that ends the judgement. The code after it is for other
//!   clauses.
//! * `if !cx.premise(rule, n, holds) { error }` and `cx.premise(rule, n, result)?`: a premise, with the consequence of
//!   its failure.
//!
//! Any other test whether a rule fires has a branch for the opposite case. That branch is a wrong answer, or the
//! behaviour of another edition. The same holds for a condition on the conclusion of a rule that is always `false`.
//! [`BOTH_WAYS`] lists the rules for which that is allowed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms and modules that must meet this. The list only grows.
const POSITIVE: &[&str] = &[
    "src/check",
    "src/data",
    "src/derivation",
    "src/eval",
    "src/normal_form",
    "src/ops",
    "src/oracle",
    "src/purity.rs",
    "src/refine",
    "src/relay",
    "src/scope.rs",
    "src/shape",
    "src/struct_info",
    "src/syntax",
    "src/tir",
    "src/type_checking",
    "src/types",
    "src/value",
    "src/vm",
    "src/well_formed",
];

/// The rules whose chapters state the behaviour without them in an `else`. The list only shrinks: a rule without such
/// code must be removed.
const BOTH_WAYS: &[&str] = &[
    "EVAL.CALL.CLOSURE.SCOPE",
    "EVAL.SEQ.PUSH",
    "GRAM.PROGRAM.PRIMFUNC-OPAQUE",
    "MEM.VIEW",
    "NF.UNIT.ANY-BINDER",
    "OP.CALLPURE.ARGS",
    "OP.TOVDEVICE",
    "OPT.LEFT-OPEN",
    "PRIMFUNC.CALL.ARGS",
    "PURITY.NESTED",
    "PURITY3.EXTERN",
    "PURITY3.FIELD",
    "PURITY3.FUNC.INFO",
    "PURITY3.GLOBAL.ONLY",
    "PURITY3.INFER",
    "PURITY3.LOCAL.SKIP",
    "R89.AST.FUNC-BODY",
    "R89.SHAPE.V0",
    "R89.SHAPE.V1",
    "R89.SHAPE.V2",
    "R89.VM.GOTO",
    "R89.VM.REGISTER",
    "R89.VM.SHAPEHEAP",
    "RELAY.OP.PRINT",
    "RELAY.VAR.BYKIND",
    "SCOPE.FOUR",
    "SI.BOUNDARY.FRESH",
    "SI.BOUNDARY.PARAM.BIND",
    "SI.BOUNDARY.RECURSIVE",
    "SI.ERASE_WD.FUNC.PURITY",
    "VDEV.FORWARD",
    "WF.6.IMPURE-WHEN",
    "WF.NF",
];

/// The fault of a use of `fire`, if there is one. `before` and `after` are the code around `fire(..)`.
fn fault(before: &str, after: &str) -> Option<&'static str> {
    let receiver = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let before = before.trim_end_matches(receiver);
    // The condition or statement that contains the call.
    let statement = before.rsplit([';', '{', '}', ',']).next().unwrap_or_default();
    let statement = statement.rsplit("=>").next().unwrap_or_default().trim_start();
    let is_condition = ["if ", "else if "].iter().any(|word| statement.starts_with(word))
        || [" if ", "(if "].iter().any(|word| statement.contains(word));
    if before.ends_with('!') {
        return Some("negated");
    }
    if statement.ends_with("match ") {
        return Some("matched");
    }
    if after.starts_with(".then") {
        return Some("nothing if it does not fire");
    }
    // With a condition of its own it is a row, and the code after it has other rows.
    if !is_condition || statement.trim_end().ends_with("&&") {
        return None;
    }
    let (condition, rest) = after.split_at(after.find(['{', ';']).unwrap_or(after.len()));
    if condition.contains("=>") {
        return Some("another arm if it does not fire");
    }
    let (block, rest) = rest.split_at(end_of_block(rest));
    if rest.trim_start().starts_with("else") {
        return Some("another answer if it does not fire");
    }
    // Messages may contain the word.
    let says = |word: &str| block.split('"').step_by(2).any(|code| code.contains(word));
    says("return").then_some("the rest if it does not fire")
}

/// The end of the block at the start of the text.
fn end_of_block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// The code of a module without its comments and its unit tests.
fn code(text: &str) -> String {
    let chapter = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    chapter.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The faulty uses of `fire` in code: the rule, with the fault.
fn faulty_uses(code: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    for (at, call) in code.match_indices("fire(") {
        let length = call.len() + code[at + call.len()..].find("\"))").map_or(0, |end| end + 3);
        let (before, after) = (&code[..at], &code[(at + length).min(code.len())..]);
        let rule = code[at..].split('"').nth(1).unwrap_or_default();
        if let Some(fault) = fault(before, after) {
            let line = code[..at].lines().last().unwrap_or_default().trim_start();
            found.push((rule, format!("{fault}: {line}{}", code[at..].lines().next().unwrap_or_default())));
        }
    }
    found
}

fn faults(text: &str) -> Vec<String> {
    let code = code(text);
    let of_others = faulty_uses(&code).into_iter().filter(|(rule, _)| !BOTH_WAYS.contains(rule));
    let mut found: Vec<String> = of_others.map(|(_, fault)| fault).collect();
    found.extend(branches_on_false(&code));
    found.extend(text.lines().filter(|line| line.contains("is_masked")).map(|line| format!("masks: {}", line.trim())));
    found
}

/// Conditions on a variable that is `false` by a rule. They depend only on whether the rule fires.
fn branches_on_false(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("\"), false)") {
        let statement = code[..at].rsplit([';', '{', '}']).next().unwrap_or_default().trim_start();
        let concludes = statement.contains("conclude(rule!(") || statement.contains("clause(rule!(");
        let Some(name) = statement.strip_prefix("let ").and_then(|rest| rest.split([' ', ':']).next()) else {
            if concludes && statement.starts_with("if ") {
                found.push(format!("a branch on what is false: {}", statement.trim()));
            }
            continue;
        };
        let rest = code[at..].split("\n    }\n").next().unwrap_or_default();
        let rest = rest.split("\n}\n").next().unwrap_or_default();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let is_tested = rest.split("if ").skip(1).any(|condition| {
            let condition = condition.split('{').next().unwrap_or_default();
            condition.split(|c: char| !word(c)).any(|token| token == name)
        });
        if concludes && is_tested {
            found.push(format!("a branch on what is false: {name}"));
        }
    }
    found
}

fn modules(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    fs::read_dir(path).unwrap().flat_map(|entry| modules(&entry.unwrap().path())).collect()
}

#[test]
fn no_chapter_says_what_would_be_without_a_rule() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = Vec::new();
    for module in POSITIVE.iter().flat_map(|room| modules(&root.join(room))) {
        let name = module.strip_prefix(root).unwrap().display().to_string();
        let faults = faults(&fs::read_to_string(&module).unwrap());
        found.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(found.is_empty(), "wrong answers in chapters:\n  {}", found.join("\n  "));
}

#[test]
fn each_rule_with_both_ways_is_used_so() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let chapters = POSITIVE.iter().flat_map(|room| modules(&root.join(room)));
    let code: Vec<String> = chapters.map(|module| code(&fs::read_to_string(module).unwrap())).collect();
    let used: BTreeSet<&str> = code.iter().flat_map(|code| faulty_uses(code)).map(|(rule, _)| rule).collect();
    let stale: Vec<&str> = BOTH_WAYS.iter().copied().filter(|rule| !used.contains(rule)).collect();
    assert!(stale.is_empty(), "no chapter says what is there without these rules: {stale:?}");
}

#[test]
fn each_way_to_say_it_is_found() {
    let wrong = [
        "if cx.fire(rule!(\"A\")) { right } else { wrong }",
        "if !self.cx.fire(rule!(\"A\")) { return wrong; }",
        "if cx.fire(rule!(\"A\")) {\n    return right;\n}\nwrong",
        "match cx.fire(rule!(\"A\")) { true => right, false => wrong }",
        "match x { Some(x) if cx.fire(rule!(\"A\")) => right, _ => wrong }",
        "cx.fire(rule!(\"A\")).then_some(right)",
        "known || !cx.fire(rule!(\"A\"))",
        "let opaque = cx.conclude(rule!(\"A\"), false);\nif known && opaque { wrong(); }",
        "let opaque = near && self.cx.conclude(rule!(\"A\"), false);\nif opaque {\n    wrong();\n}",
        "if cx.conclude(rule!(\"A\"), false) { wrong(); }",
    ];
    for code in wrong {
        assert_eq!(faults(code).len(), 1, "{code}");
    }
    let right = [
        "if cx.fire(rule!(\"OP.TOVDEVICE\")) { right } else { without }",
        "let x = if known && cx.fire(rule!(\"A\")) { right } else { other };",
        "if known && cx.fire(rule!(\"A\")) {\n    return right;\n}\nother",
        "let _ = cx.fire(rule!(\"A\"));\ncx.conclude(rule!(\"A\"), right)",
        "if cx.fire(rule!(\"A\")) { act(); }\nif b { c } else { d }",
        "if cx.fire(rule!(\"A\")) { act(\"return value\"); }",
        "let visible = near || cx.fire(rule!(\"A\"));",
        "match x { Some(x) if a => cx.fire(rule!(\"A\")), None => b }",
        "let opaque = cx.conclude(rule!(\"A\"), false);\nknown || opaque",
        "if a { b } else if cx.fire(rule!(\"A\")) { act() }",
        "// if cx.fire(rule!(\"A\")) { right } else { wrong }",
        "x\n#[cfg(test)]\nmod tests {\n    assert!(!cx.fire(rule!(\"A\")));\n}",
    ];
    for code in right {
        assert_eq!(faults(code), Vec::<String>::new(), "{code}");
    }
}
