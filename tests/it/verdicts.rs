//! Pairs of small functions, and whether the second is an allowed form of the first: how many verdicts are right, of
//! either kind.

use std::rc::Rc;

use std::fmt::Write as _;

use regex_lite::Regex;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::refine::{EDITION_OF_PRIM_FUNCS, RefinementVerdict, Settings, refine, with_entry};
use relax_spec::syntax::tvmscript::parse_module;

/// The pairs, a line each.
const PAIRS: &str = include_str!("verdicts/pairs.txt");
const MORE: &str = include_str!("verdicts/more.txt");
const KERNELS: &str = include_str!("verdicts/kernels.txt");
/// The seeds of inputs.
const SEEDS: u64 = 10;

/// What the bodies of pairs are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Relax,
    Kernel,
}

/// A pair in one data type.
struct Pair {
    kind: Kind,
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
        'c' => "int8",
        'j' => "int16",
        'u' => "uint8",
        'v' => "uint32",
        other => panic!("`{other}` stands for no data type"),
    }
}

/// The pairs of all files.
fn pairs(chosen: impl Fn(usize, usize, usize) -> bool) -> Vec<Pair> {
    let of_file = |(text, kind)| of_file(text, kind, &chosen);
    [(PAIRS, Kind::Relax), (MORE, Kind::Relax), (KERNELS, Kind::Kernel)].into_iter().flat_map(of_file).collect()
}

/// The pairs of each line in the data types that are chosen of those it names.
fn of_file(text: &str, kind: Kind, chosen: &impl Fn(usize, usize, usize) -> bool) -> Vec<Pair> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let of_line = |(nth, line): (usize, &str)| {
        let fields: Vec<String> = line.split(" | ").map(|field| field.trim().to_string()).collect();
        let [expected, letters, params, before, after, _] = fields.as_slice() else { panic!("{line}") };
        let count = letters.chars().count();
        let chosen = letters.chars().enumerate().filter(|(i, _)| chosen(nth, *i, count));
        let pair = |(_, letter)| Pair {
            kind,
            is_legal: expected == "legal",
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

/// A `PrimFunc` with its constants and its data type spelled out.
fn kernel(pair: &Pair, body: &str) -> String {
    let constant = Regex::new(r"\bK\(([^()]*)\)").unwrap();
    let own = Regex::new(r"\bD\b").unwrap();
    let param = |param: &str| {
        let (name, dims) = param.trim().split_once(':').unwrap();
        format!("{name}: T.Buffer(({},), \"{}\")", dims.replace('x', ", "), pair.dtype)
    };
    let params: Vec<String> = pair.params.split(',').map(param).collect();
    let body = constant.replace_all(body, format!("T.{}($1)", pair.dtype));
    let body = own.replace_all(&body, format!("\"{}\"", pair.dtype)).replace("\\n", "\n        ");
    format!("@I.ir_module\nclass Module:\n    @T.prim_func\n    def f({}):\n        {body}\n", params.join(", "))
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

/// What is said of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Said {
    Right,
    Wrong,
    Undecided,
}

/// What is said of the pair on inputs of a seed, and the verdict in words.
fn said(pair: &Pair, seed: u64) -> (Said, String) {
    let mut cx = Cx::new().with_edition(EDITION_OF_PRIM_FUNCS);
    let modules = [0, 1].map(|side| {
        let body = &pair.bodies[side];
        let text = if pair.kind == Kind::Kernel { kernel(pair, body) } else { program(pair, body) };
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        match pair.kind {
            Kind::Relax => (module, "main".into()),
            Kind::Kernel => with_entry(&cx, &module, "f").unwrap(),
        }
    });
    let [(before, entry), (after, _)] = &modules;
    let settings = Settings { seed, ..Settings::runs(100) };
    let verdict = refine(&mut cx, before, after, entry, &[], &settings).unwrap().verdict;
    let said = match &verdict {
        RefinementVerdict::Allowed if pair.is_legal => Said::Right,
        RefinementVerdict::NotAllowed { .. } if !pair.is_legal => Said::Right,
        RefinementVerdict::Allowed | RefinementVerdict::NotAllowed { .. } => Said::Wrong,
        RefinementVerdict::Vacuous(_) | RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_) => {
            Said::Undecided
        }
    };
    let [before, after] = &pair.bodies;
    (said, format!("{} (seed {seed}): {before} -> {after}: {verdict:?}", pair.dtype))
}

fn assert_right(pairs: &[Pair], seeds: impl Fn(usize) -> std::ops::Range<u64>) {
    let (mut counts, mut mistakes) = (std::collections::BTreeMap::new(), Vec::new());
    for (nth, pair) in pairs.iter().enumerate() {
        for seed in seeds(nth) {
            let (said, verdict) = said(pair, seed);
            *counts.entry((pair.is_legal, said)).or_insert(0) += 1;
            if said != Said::Right {
                mistakes.push(verdict);
            }
        }
    }
    // In proportion to all, by whether the pair is legal.
    println!("{counts:?}");
    assert!(mistakes.is_empty(), "{counts:?}\n{}", mistakes.join("\n"));
}

#[test]
fn there_are_pairs_of_both_kinds() {
    let all = pairs(|_, _, _| true);
    let legal = all.iter().filter(|pair| pair.is_legal).count();
    assert!(legal >= 300 && all.len() - legal >= 300, "{legal} of {}", all.len());
}

#[test]
fn verdicts_on_pairs_are_right() {
    // Each line in one of its data types, and with one of the seeds.
    assert_right(&pairs(|nth, i, count| i == nth % count), |nth| nth as u64 % SEEDS..nth as u64 % SEEDS + 1);
}

#[test]
#[ignore = "takes minutes"]
fn verdicts_on_pairs_are_right_in_all_data_types() {
    assert_right(&pairs(|_, _, _| true), |_| 0..SEEDS);
}

/// OP.CALLPURE.PURE: what the source says to be pure is no effect where the target calls it in another way.
#[test]
fn a_function_that_the_source_says_to_be_pure_has_no_effects_in_the_target() {
    let program = |call: &str, more: &str| {
        let text = format!(
            "@R.function(pure=False)\ndef main(x: R.Tensor((2,), \"float32\")):\n{more}    \
             y = R.{call}(\"somewhere.else\", x, sinfo_args=(R.Tensor((2,), \"float32\"),))\n    return y\n"
        );
        parse_module(&text).expect(&text)
    };
    let settings = || Settings { unknown: Some(std::collections::BTreeMap::new()), ..Settings::runs(5) };
    let allowed = |before: &IrModule, after: &IrModule| {
        let refinement =
            refine(&mut Cx::new().with_edition(EDITION_OF_PRIM_FUNCS), before, after, "main", &[], &settings())
                .unwrap();
        matches!(refinement.verdict, RefinementVerdict::Allowed)
    };
    let (pure, plain) = (program("call_pure_packed", ""), program("call_packed", ""));
    assert!(allowed(&pure, &plain));
    assert!(!allowed(&plain, &pure));
    // One that the source also calls otherwise is not said to be pure.
    let other = "    _ = R.call_packed(\"somewhere.else\", x, sinfo_args=(R.Object,))\n";
    assert!(!allowed(&program("call_pure_packed", other), &program("call_packed", other)));
}

/// A call in an executable does not say what a function returns, of which nothing else is known, either.
#[test]
fn a_call_without_the_declared_result_of_the_source_is_undecided() {
    let program = |declared: &str| {
        let text = format!(
            "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    \
             y = R.call_pure_packed(\"somewhere.else\", x{declared})\n    \
             z = R.match_cast(y, R.Tensor((2, 3), \"float32\"))\n    return z\n"
        );
        parse_module(&text).expect(&text)
    };
    let settings = Settings { unknown: Some(std::collections::BTreeMap::new()), ..Settings::runs(5) };
    let verdict = |before: &str, after: &str| {
        let mut cx = Cx::new().with_edition(EDITION_OF_PRIM_FUNCS);
        refine(&mut cx, &program(before), &program(after), "main", &[], &settings).unwrap().verdict
    };
    let tensor = ", sinfo_args=(R.Tensor((2, 3), \"float32\"),)";
    assert!(matches!(verdict(tensor, tensor), RefinementVerdict::Allowed));
    assert!(matches!(verdict(tensor, ""), RefinementVerdict::Undecided(_)));
}

/// OP.CALLDPS.CALL: what the program calls in destination-passing style writes its last arguments, however it is called
/// behind a pass, and without reading them. A pass leaves nothing of that in its source.
#[test]
fn a_function_in_destination_passing_style_writes_its_outputs() {
    let program = |body: &str| {
        let text = format!(
            "@R.function(pure=False)\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n{body}    return y\n"
        );
        Rc::new(parse_module(&text).expect(&text))
    };
    let dps = program("    y = R.call_dps_packed(\"somewhere.else\", (x,), out_sinfo=R.Tensor((2,), \"float32\"))\n");
    let lowered = |args: &str| {
        let alloc = "R.builtin.alloc_tensor(R.shape([2]), R.dtype(\"float32\"), R.prim_value(0), R.str(\"global\"))";
        program(&format!(
            "    y = {alloc}\n    _ = R.call_packed(\"somewhere.else\", {args}, sinfo_args=(R.Object,))\n"
        ))
    };
    let verdict = |origin: Option<&Rc<IrModule>>, before: &IrModule, after: &IrModule| {
        let unknown = Some(std::collections::BTreeMap::new());
        let settings = Settings { unknown, origin: origin.cloned(), ..Settings::runs(5) };
        let mut cx = Cx::new().with_edition(EDITION_OF_PRIM_FUNCS);
        refine(&mut cx, before, after, "main", &[], &settings).unwrap().verdict
    };
    assert_eq!(verdict(None, &dps, &lowered("x, y")), RefinementVerdict::Allowed);
    assert_eq!(verdict(Some(&dps), &lowered("x, y"), &lowered("x, y")), RefinementVerdict::Allowed);
    // A function that a pass has introduced is what the source says it is.
    let other = program("    y = R.add(x, x)\n");
    assert_eq!(verdict(Some(&other), &dps, &lowered("x, y")), RefinementVerdict::Allowed);
    assert!(matches!(verdict(None, &dps, &lowered("y, x")), RefinementVerdict::NotAllowed { .. }));
    assert_ne!(verdict(None, &lowered("x, y"), &lowered("x, y")), RefinementVerdict::Allowed);
}
