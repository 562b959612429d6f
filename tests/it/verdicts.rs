//! Pairs of small functions, and whether the second is an allowed form of the first: how many verdicts are right, of
//! either kind.

use std::fmt::Write as _;

use regex::Regex;
use relax_spec::book::Edition;
use relax_spec::judge::Cx;
use relax_spec::refine::{RefinementVerdict, Settings, refine};
use relax_spec::syntax::tvmscript::parse_module;

/// The pairs, a line each.
const PAIRS: &str = include_str!("verdicts/pairs.txt");

/// A pair in one data type.
struct Pair {
    is_legal: bool,
    dtype: &'static str,
    params: String,
    bodies: [String; 2],
}

/// The data type that a letter stands for.
fn dtype(letter: char) -> &'static str {
    match letter {
        'h' => "float16",
        'b' => "bfloat16",
        's' => "float32",
        'd' => "float64",
        'i' => "int32",
        'l' => "int64",
        other => panic!("`{other}` stands for no data type"),
    }
}

/// The pairs of each line in the data types that are chosen of those it names.
fn pairs(chosen: impl Fn(usize, usize, usize) -> bool) -> Vec<Pair> {
    let lines = PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let of_line = |(nth, line): (usize, &str)| {
        let fields: Vec<String> = line.split(" | ").map(|field| field.trim().to_string()).collect();
        let [kind, letters, params, before, after, _] = fields.as_slice() else { panic!("{line}") };
        let count = letters.chars().count();
        let chosen = letters.chars().enumerate().filter(|(i, _)| chosen(nth, *i, count));
        let pair = |(_, letter)| Pair {
            is_legal: kind == "legal",
            dtype: dtype(letter),
            params: params.clone(),
            bodies: [before.clone(), after.clone()],
        };
        chosen.map(pair).collect::<Vec<Pair>>()
    };
    lines.enumerate().flat_map(of_line).collect()
}

/// An expression with its constants, its operators and its data type spelled out.
fn expression(text: &str, dtype: &str) -> String {
    let constant = Regex::new(r"\bK\(([^()]*)\)").unwrap();
    let operator = Regex::new(r"(^|[^\w.])([a-z_][\w.]*)\(").unwrap();
    let own = Regex::new(r"\bD\b").unwrap();
    let text = constant.replace_all(text, format!("R.const($1, \"{dtype}\")"));
    // Two that follow each other share the character between.
    let text = operator.replace_all(&text, "${1}R.$2(").into_owned();
    let text = operator.replace_all(&text, "${1}R.$2(").into_owned();
    own.replace_all(&text, format!("\"{dtype}\"")).into_owned()
}

fn program(pair: &Pair, body: &str) -> String {
    let param = |param: &str| {
        let mut parts = param.trim().split(':');
        let (name, dims) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default().replace('x', ", "));
        format!("{name}: R.Tensor(({dims},), \"{}\")", parts.next().unwrap_or(pair.dtype))
    };
    let params: Vec<String> = pair.params.split(',').map(param).collect();
    let mut text = format!("@I.ir_module\nclass Module:\n    @R.function\n    def main({}):\n", params.join(", "));
    let statements: Vec<&str> = body.split(';').map(str::trim).collect();
    let (result, bindings) = statements.split_last().unwrap();
    for binding in bindings {
        let (name, value) = binding.split_once(" = ").unwrap();
        let _ = writeln!(text, "        {name} = {}", expression(value, pair.dtype));
    }
    let _ = writeln!(text, "        return {}", expression(result, pair.dtype));
    text
}

/// What is said of the pair, if it is not what is to be said.
fn mistake(pair: &Pair) -> Option<String> {
    let modules = [0, 1].map(|side| {
        let text = program(pair, &pair.bodies[side]);
        parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    });
    let mut cx = Cx::new().with_edition(Edition::E2024_04);
    let refinement = refine(&mut cx, &modules[0], &modules[1], "main", &[], &Settings::runs(100)).unwrap();
    let right = match refinement.verdict {
        RefinementVerdict::Allowed => pair.is_legal,
        RefinementVerdict::NotAllowed { .. } => !pair.is_legal,
        RefinementVerdict::Vacuous(_) | RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_) => false,
    };
    let [before, after] = &pair.bodies;
    (!right).then(|| format!("{}: {before} -> {after}: {:?}", pair.dtype, refinement.verdict))
}

fn assert_right(pairs: &[Pair]) {
    let mistakes: Vec<String> = pairs.iter().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{} of {} verdicts\n{}", mistakes.len(), pairs.len(), mistakes.join("\n"));
}

#[test]
fn there_are_pairs_of_both_kinds() {
    let all = pairs(|_, _, _| true);
    let legal = all.iter().filter(|pair| pair.is_legal).count();
    assert!(legal >= 40 && all.len() - legal >= 60, "{legal} of {}", all.len());
}

#[test]
fn verdicts_on_pairs_are_right() {
    // Each line in one of its data types.
    assert_right(&pairs(|nth, i, count| i == nth % count));
}

#[test]
#[ignore = "takes minutes"]
fn verdicts_on_pairs_are_right_in_all_data_types() {
    assert_right(&pairs(|_, _, _| true));
}
