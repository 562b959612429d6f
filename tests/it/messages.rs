//! Messages are for people. In a thousand ill-typed programs no message has a value in Rust's debug form, a name that
//! is not in the text, or no position.

use std::sync::LazyLock;

use campaign::generate::Tape;
use campaign::programs::{ProgramSource, Restriction};
use regex_lite::Regex;
use relax_spec::book::Edition;
use relax_spec::check::{all_findings, check_program};
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::syntax::tvmscript::{Dialect, parse_module_all, print_module};

/// The forms of `{:?}` for structs, variants and options.
static RUST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[A-Z]\w* \{ ?\w+:|\bSome\(|\b(Prim|Var|List|Int|IntImm|Float|FloatBits|Str|Name|Dims|Other)\((\[|\w+\(|-?\d)|\b[A-Z]\w+\(\[")
        .expect("a regular expression")
});

/// Internally, variables have numbers, and new variables of the specification have a mark.
static INTERNAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w#\d|\u{2035}").expect("a regular expression"));

/// Words of TVMScript, which messages quote from the text.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[IRT]\.\w+").expect("a regular expression"));

fn fault_of(message: &str) -> Option<&'static str> {
    if RUST.is_match(&QUOTED.replace_all(message, "_")) {
        Some("shows a value as Rust prints it")
    } else if INTERNAL.is_match(message) {
        Some("shows an internal name")
    } else {
        None
    }
}

/// The messages about a text, each with whether it has a position.
fn messages(edition: Edition, text: &str) -> Vec<(String, bool)> {
    match parse_module_all(text) {
        Err(errors) => errors.into_iter().map(|error| (error.message, error.line > 0)).collect(),
        Ok(module) => found(edition, &module),
    }
}

fn found(edition: Edition, module: &IrModule) -> Vec<(String, bool)> {
    let mut cx = Cx::new().with_edition(edition);
    let report = check_program(&mut cx, module);
    let findings = all_findings(&mut cx, &report, Vec::new());
    let said = findings.into_iter().map(|finding| {
        let hint = finding.hint.as_deref().unwrap_or_default();
        (format!("{} {hint}", finding.message), !finding.span.is_none())
    });
    said.collect()
}

/// Replaces one to three words of a text by others, as a typing error might.
fn damaged(text: &str, tape: &mut Tape) -> String {
    const OTHERS: [&str; 12] =
        ["-1", "0", "\"int8\"", "None", "[n, 2]", "(x, x)", "\"NCHW\"", "R.Object", "float32", "True", "1.5", "n + 1"];
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""[^"]*"|[\w.]+"#).expect("a regular expression"));
    let mut text = text.to_string();
    for _ in 0..=tape.choose(3) {
        let words: Vec<(usize, usize)> =
            WORD.find_iter(&text).map(|word| (word.start(), word.end())).filter(|(start, _)| *start > 60).collect();
        let (Some((start, end)), Some((from, to))) = (tape.pick(&words).copied(), tape.pick(&words).copied()) else {
            return text;
        };
        let other = match tape.choose(2) {
            0 => text[from..to].to_string(),
            _ => OTHERS[tape.choose(OTHERS.len())].to_string(),
        };
        text.replace_range(start..end, &other);
    }
    text
}

/// The faults in messages about the programs that `made` produces.
fn faults(made: impl Fn(&ProgramSource, u64) -> String, edition: Edition, count: u64) -> (usize, Vec<String>) {
    let suite = ask::conformance::suite().expect("the suite");
    let source = ProgramSource::of(&suite, Restriction { edition, ..Restriction::default() });
    let mut told = 0;
    let mut wrong = Vec::new();
    for number in 0..count {
        let text = made(&source, number);
        for (message, has_place) in messages(edition, &text) {
            told += 1;
            let place = (!has_place).then_some("has no place");
            wrong.extend(fault_of(&message).or(place).map(|fault| format!("{edition} {number} {fault}: {message}")));
        }
    }
    (told, wrong)
}

fn assert_plain(made: impl Fn(&ProgramSource, u64) -> String, count: u64) {
    for edition in [Edition::E2023_02, Edition::E2024_04] {
        let (told, wrong) = faults(&made, edition, count);
        assert!(told > count as usize / 2, "only {told} messages of {count} programs");
        assert!(wrong.is_empty(), "{} of {told} messages:\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[test]
fn programs_with_a_broken_rule_are_told_plainly() {
    let broken = |source: &ProgramSource, number| {
        source.violating(7, number).map_or(String::new(), |(drawn, _)| print_module(&drawn.module, Dialect::default()))
    };
    assert_plain(broken, 300);
}

#[test]
fn damaged_texts_are_told_plainly() {
    let slip = |source: &ProgramSource, number| {
        let text = print_module(&source.program(11, number).module, Dialect::default());
        damaged(&text, &mut Tape::from_seed(number, 40))
    };
    assert_plain(slip, 500);
}

#[test]
fn the_faults_are_seen() {
    let shown =
        ["must be an integer, it is List([Prim(Var(ShapeVar { name: \"n\" }))])", "it is Some(3)", "n#1 is free"];
    assert!(shown.iter().all(|message| fault_of(message).is_some()));
    let plain = [
        "found `n(R.Shape([2, 2]))`",
        "it is Tensor((n, 4), float32), not Shape((n))",
        "`f` is Func((Object) -> Object, pure)",
        "[1, 2]",
    ];
    assert!(plain.iter().all(|message| fault_of(message).is_none()));
}
