//! Statistics of the program generator: `cargo xtask programs 10000 [FIRST]` generates that many programs, and checks
//! and runs each at its example sizes. It prints how often each construct and operator occurs, which rules were
//! applied, and how fast programs of ten bindings are generated.
//!
//! A well-formed program can apply a rule if the golden suite applies it to some accepted program, in the corrected
//! reading of the first edition. Each such rule must be applied to a generated program, or be listed in
//! `conformance/generator.ron` with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::SuiteSample;
use campaign::programs::{ConstructCensus, Drawn, ProgramSource, Restriction};
use campaign::trials::{ExampleRun, at_example_sizes};
use glob::Pattern;
use relax_spec::book::{Edition, RuleSet};
use relax_spec::check::check_program;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::suite::Case;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

/// The number of bindings of the programs that are timed, and the number of programs.
const TIMED: usize = 10;
const TIMES: u64 = 20_000;
/// One of this many programs also runs at other sizes.
const ELSEWHERE: u64 = 4;
/// The rules that generated programs do not apply, as lists of patterns with a reason each.
const UNAPPLIED: &str = include_str!("../../conformance/generator.ron");

/// All questions about a program except running it, in one context.
fn looked_at(cx: &mut Cx, module: &IrModule) {
    for ask in [
        Ask::Parse(print_module(module, Dialect::default())),
        Ask::WellFormed(ProgramInput::Module(module.clone())),
        Ask::NormalForm(ProgramInput::Module(module.clone())),
        Ask::Normalize(ProgramInput::Module(module.clone())),
        Ask::TypeCheck(ProgramInput::Module(module.clone())),
    ] {
        // Only the applied rules count here.
        let _answer = oracle::answer(cx, &ask);
    }
}

/// The rules that a well-formed program can apply: those of the suite's accepted programs.
fn applicable(suite: &[Case]) -> RuleSet {
    let mut cx = Cx::new();
    for case in suite.iter().filter(|case| case.editions.contains(&Edition::default())) {
        let accepted = case.ask.programs().into_iter().all(|program| {
            let module = match program {
                ProgramInput::Module(module) => Some(module.clone()),
                ProgramInput::Script(text) => parse_module(text).ok(),
            };
            module.is_some_and(|module| {
                let accepts = check_program(&mut Cx::new(), &module).accepts();
                if accepts {
                    looked_at(&mut cx, &module);
                }
                accepts
            })
        });
        if let (true, Ask::Evaluate(..) | Ask::Check(_)) = (accepted, &case.ask) {
            let _answer = oracle::answer(&mut cx, &case.ask);
        }
    }
    *cx.recorded()
}

/// The number of programs of that size generated per second, including the inferred information of their bindings.
fn speed(suite: &[Case]) -> f64 {
    let source = ProgramSource::of(suite, Restriction { exactly: Some(TIMED), ..Restriction::default() });
    let start = Instant::now();
    // The functions are counted, so that all programs are really made.
    let functions: usize = (0..TIMES).map(|number| source.program(0, number).module.funcs.len()).sum();
    assert!(functions > 0, "a program has a function");
    TIMES as f64 / start.elapsed().as_secs_f64()
}

/// Prints the applicable rules that are neither applied nor listed, and the listed rules that were applied. Returns
/// whether there are none.
fn held_against_the_list(applicable: &RuleSet, applied: &RuleSet) -> bool {
    let listed: Vec<(Vec<String>, String)> = match ron::from_str(UNAPPLIED) {
        Ok(listed) => listed,
        Err(error) => {
            println!("conformance/generator.ron: {error}");
            return false;
        }
    };
    let globs: Vec<&String> = listed.iter().flat_map(|(globs, _)| globs).collect();
    let patterns: Vec<Pattern> = globs.iter().filter_map(|glob| Pattern::new(glob).ok()).collect();
    let is_listed = |id: &str| patterns.iter().any(|pattern| pattern.matches(id));
    let open: Vec<&str> = applicable.iter().filter(|rule| !applied.contains(*rule)).map(|rule| rule.id()).collect();
    println!("{} rules can be applied, {} of them were not", applicable.iter().count(), open.len());
    let unlisted: Vec<&&str> = open.iter().filter(|id| !is_listed(id)).collect();
    let is_needless = |pattern: &&Pattern| !open.iter().any(|id| pattern.matches(id));
    let needless: Vec<&str> = patterns.iter().filter(is_needless).map(Pattern::as_str).collect();
    let reasons: BTreeSet<&String> = listed.iter().map(|(_, reason)| reason).collect();
    println!("{} rules are listed, for {} reasons", open.len() - unlisted.len(), reasons.len());
    println!("not listed: {unlisted:?}\nlisted for nothing: {needless:?}");
    unlisted.is_empty() && needless.is_empty() && patterns.len() == globs.len()
}

/// A program for a run at other sizes than its own. Its promises about sizes need not hold there.
fn at_other_sizes(drawn: &Drawn) -> Drawn {
    let sizes = drawn.sizes.iter().zip(1..).map(|((var, size), nth)| (var.clone(), size + nth % 3));
    Drawn { sizes: sizes.collect(), ..drawn.clone() }
}

/// The endings of the programs, and the rules that were applied to them.
fn run_drawn(first: u64, drawn: &[Drawn]) -> (BTreeMap<String, (u64, u64)>, RuleSet) {
    let mut endings: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut cx = Cx::new();
    for (number, drawn) in (first..).zip(drawn) {
        looked_at(&mut cx, &drawn.module);
        let how = match at_example_sizes(&mut cx, drawn) {
            ExampleRun::Returns => "returns".to_string(),
            ExampleRun::Fails(rule) => format!("fails by {rule}"),
            ExampleRun::Open(reason) => format!("open: {reason}"),
            ExampleRun::Rejected(findings) => format!("rejected: {findings}"),
        };
        endings.entry(how).or_insert((0, number)).0 += 1;
        if number.is_multiple_of(ELSEWHERE) {
            // The ending does not count, only the applied rules.
            let _ended = at_example_sizes(&mut cx, &at_other_sizes(drawn));
        }
    }
    (endings, *cx.recorded())
}

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let Some(SuiteSample { suite, seeds }) = SuiteSample::read(args) else { return ExitCode::FAILURE };
    let programs = seeds.end - seeds.start;
    let start = Instant::now();
    let source = ProgramSource::of(&suite, Restriction::default());
    println!("{} operators, made ready in {:.1} s", source.operators().count(), start.elapsed().as_secs_f64());
    println!("{:.0} programs of {TIMED} bindings are drawn in a second", speed(&suite));
    let drawn: Vec<_> = seeds.clone().map(|number| source.program(0, number)).collect();
    let mut census = ConstructCensus::default();
    drawn.iter().for_each(|drawn| census.count(&drawn.module));
    let (endings, applied) = run_drawn(seeds.start, &drawn);
    let ended = endings.get("returns").map_or(0, |(count, _)| *count);
    let bad: u64 = endings.iter().filter(|(how, _)| how.starts_with("rejected")).map(|(_, (count, _))| *count).sum();
    for (how, (count, number)) in endings {
        println!("{count:6} {how} (first: {number})");
    }
    for (construct, count) in &census.constructs {
        println!("{count:6} {construct}");
    }
    for (operator, count) in &census.operators {
        println!("{count:6} {operator}");
    }
    println!("{programs} programs of {} bindings; missing: {:?}", census.bindings, census.missing(&source));
    let listed = held_against_the_list(&applicable(&suite), &applied);
    println!("{ended} of {programs} reach the end, {bad} are rejected");
    let enough = ended * 10 >= programs * 9 && census.missing(&source).is_empty() && listed;
    if bad == 0 && enough { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
