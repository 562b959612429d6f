//! The generator of whole programs, and campaigns with them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use ask::conformance;
use ask::implementation::{Implementation, InProcess};
use ask::process::Interrupt;
use ask::protocol::Identity;
use ask::worker::StartError;
use campaign::generate::Tape;
use campaign::programs::{ConstructCensus, Drawn, Features, ProgramSource, Restriction};
use campaign::trials::{
    CampaignSettings, ExampleRun, FailureKind, Finding, FindingStore, KnownForm, Path, Paths, ProgramCampaign,
    ProgramQuestion, Reducer, StoredFinding, TrialVerdict, UNDERIVED, Witness, at_example_sizes, bindings, campaign,
    diff, inputs_of, operators, promoted, reduced_further, still_shows,
};
use relax_spec::book::{Edition, Reading};
use relax_spec::check::check_program;
use relax_spec::grammar::{DataType, TensorData};
use relax_spec::judge::Cx;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput, ReadAnswer, TrialAnswer, Verdict};
use relax_spec::suite::read_cases;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};
use relax_spec::value::ValueSpec;

use crate::cli::{file, run as command};

fn source() -> ProgramSource {
    source_in(Edition::default())
}

fn source_in(edition: Edition) -> ProgramSource {
    ProgramSource::of(&conformance::suite().unwrap(), Restriction { edition, ..Restriction::default() })
}

const PROGRAMS: u64 = 1_000;

#[test]
fn programs_are_accepted_and_nine_of_ten_reach_their_end() {
    let source = source();
    let (mut ended, mut census) = (0, ConstructCensus::default());
    for number in 0..PROGRAMS {
        let drawn = source.program(1, number);
        census.count(&drawn.module);
        match at_example_sizes(&mut Cx::new(), &drawn) {
            ExampleRun::Returns => ended += 1,
            ExampleRun::Fails(_) | ExampleRun::Open(_) => {}
            ExampleRun::Rejected(why) => panic!("program {number} of seed 1 is rejected: {why}"),
        }
    }
    assert!(ended * 10 >= PROGRAMS * 9, "{ended} of {PROGRAMS} reach the end");
    let missing: Vec<&&str> =
        ConstructCensus::CONSTRUCTS.iter().filter(|name| !census.constructs.contains_key(*name)).collect();
    assert_eq!(missing, Vec::<&&str>::new(), "constructs that do not occur in 1000 programs");
}

/// The rules of the findings of an edition's checks, each once.
fn complaints(edition: Edition, drawn: &Drawn) -> BTreeSet<&'static str> {
    let report = check_program(&mut Cx::new().with_edition(edition), &drawn.module);
    let fatal = report.diagnostics.iter().filter(|finding| finding.is_fatal());
    fatal.map(|finding| finding.rule.id()).collect()
}

#[test]
fn a_program_with_a_violation_breaks_that_rule_and_no_other() {
    for (edition, programs) in VIOLATIONS {
        let source = source_in(edition);
        let mut faults: BTreeSet<String> = BTreeSet::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for number in 0..programs {
            let (drawn, rule) = source.violating(2, number).expect("a rule that is broken");
            seen.insert(rule.id());
            let found = complaints(edition, &drawn);
            if found != BTreeSet::from([rule.id()]) {
                faults.insert(format!("{rule}: {found:?}"));
            }
        }
        assert_eq!(faults, BTreeSet::new(), "{edition}");
        assert_eq!(seen, source.violated_rules().map(|rule| rule.id()).collect(), "{edition}");
        for rule in source.violated_rules() {
            let simplest = source.simplest_violating(rule).expect("it can be broken");
            assert_eq!(complaints(edition, &simplest), BTreeSet::from([rule.id()]), "{edition}");
        }
    }
}

const VIOLATIONS: [(Edition, u64); 3] =
    [(Edition::E2023_02, 2_000), (Edition::E2023_12, 500), (Edition::E2024_04, 1_000)];

/// A program generated for an edition is accepted by it.
#[test]
fn programs_are_accepted_by_the_edition_that_they_are_drawn_for() {
    for edition in Edition::ALL {
        let source = source_in(edition);
        let refused: Vec<u64> =
            (0..200).filter(|number| !complaints(edition, &source.program(3, *number)).is_empty()).collect();
        assert_eq!(refused, Vec::<u64>::new(), "{edition}");
    }
}

#[test]
fn the_simplest_program_is_that_of_the_empty_tape() {
    let drawn = source().of_tape(Tape::from_choices(Vec::new()));
    assert_eq!(drawn.features, Features::default());
    assert_eq!(bindings(&drawn.module), 1);
    assert_eq!(at_example_sizes(&mut Cx::new(), &drawn), ExampleRun::Returns);
}

#[test]
fn a_program_has_what_is_allowed_and_nothing_else() {
    let mut features = Features::ALL;
    for name in ["effects", "branches", "recursion", "casts", "prim_funcs", "in_place"] {
        assert!(features.without(name));
    }
    assert!(!features.without("no such thing"));
    let operators = vec![glob::Pattern::new("relax.nn.relu").unwrap(), glob::Pattern::new("relax.sum").unwrap()];
    let restriction = Restriction { operators, features, bindings: 10, ..Restriction::default() };
    let source = ProgramSource::of(&conformance::suite().unwrap(), restriction);
    let named: BTreeSet<&str> = source.operators().collect();
    assert_eq!(named, ["relax.nn.relu", "relax.sum"].into());
    let mut census = ConstructCensus::default();
    (0..200).for_each(|number| census.count(&source.program(0, number).module));
    for construct in ["If", "MatchCast", "PrimFunc", "Function, impure"] {
        assert_eq!(census.constructs.get(construct), None, "{construct}");
    }
    assert!(!census.operators.contains_key("relax.exp"));
}

#[test]
fn a_campaign_counts_what_its_programs_had_in_them() {
    let drawn = CampaignSettings { paths: Paths::Drawn, ..settings(40, &[]) };
    let make = || -> Box<dyn Implementation + Send> { Box::new(InProcess::new(Reading::corrected())) };
    let (campaign, _) = run(&drawn, make);
    let ProgramCampaign { tally, .. } = &campaign;
    assert_eq!(tally.questions, 3 * tally.programs + tally.violations);
    assert_eq!(tally.violations, 5);
    assert_eq!(tally.coverage.census.programs, tally.programs);
    assert!(tally.coverage.census.constructs["Call of an operator"] > 20, "{:?}", tally.coverage.census.constructs);
    assert!(tally.coverage.rules.len() > 100, "{}", tally.coverage.rules.len());
    assert!(tally.coverage.rules.values().all(|count| *count <= tally.programs));
    assert_eq!(run(&drawn, make).0.tally.coverage, tally.coverage);
}

fn settings(programs: u64, paths: &[&str]) -> CampaignSettings {
    CampaignSettings {
        seed: 5,
        programs: Some(programs),
        time: None,
        jobs: 1,
        paths: Paths::These(paths.iter().map(|name| Path::named(name).unwrap()).collect()),
        runs: 2,
        budget: 200,
        known: Vec::new(),
        seeds: false,
    }
}

fn run(
    settings: &CampaignSettings,
    start: impl Fn() -> Box<dyn Implementation + Send> + Sync,
) -> (ProgramCampaign, FindingStore) {
    let (suite, store) = (conformance::suite().unwrap(), Mutex::new(FindingStore::in_memory()));
    let restriction = Restriction { bindings: 12, ..Restriction::default() };
    let started = || -> Result<Box<dyn Implementation + Send>, StartError> { Ok(start()) };
    let campaign = campaign(&suite, &restriction, settings, &started, &store, &Interrupt::default(), &|| {}).unwrap();
    (campaign, store.into_inner().unwrap())
}

#[test]
fn the_oracle_does_not_differ_from_itself() {
    let settings = settings(30, &["llvm", "text", "check", "normalize"]);
    let (campaign, store) = run(&settings, || Box::new(InProcess::new(Reading::corrected())));
    let found: Vec<String> = store.ranked().iter().map(|f| format!("{}\n{}", f.message, f.program)).collect();
    assert_eq!(found, Vec::<String>::new());
    assert!(campaign.tally.ran > 25, "{:?}", campaign.tally);
    assert!(campaign.tally.runs.1 * 10 >= campaign.tally.runs.0 * 7, "{:?}", campaign.tally.runs);
}

/// Gives wrong values, crashes or refuses if a program has calls of all these operators.
struct Wrong {
    inner: InProcess,
    operators: &'static [&'static str],
    how: fn(Vec<TrialAnswer>) -> Outcome,
}

impl Implementation for Wrong {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let outcome = self.inner.ask(edition, ask)?;
        let calls = ask.programs().iter().any(|program| match program {
            ProgramInput::Module(module) => {
                let called = operators(module);
                self.operators.iter().all(|name| called.iter().any(|called| called == name))
            }
            ProgramInput::Script(_) => false,
        });
        Ok(match outcome {
            Outcome::Answer { answer: Answer::Trials(answers), .. } if calls => (self.how)(answers),
            other => other,
        })
    }
}

fn crash(_: Vec<TrialAnswer>) -> Outcome {
    Outcome::Crash { cause: "signal 11 (SIGSEGV)".into(), stage: Some("run 0".into()), stderr: String::new() }
}

fn refuse(_: Vec<TrialAnswer>) -> Outcome {
    Outcome::Rejected { stage: "compile".into(), class: "Error".into(), message: "no lowering, 17 left".into() }
}

fn mistake(answers: Vec<TrialAnswer>) -> Outcome {
    let without = |answer| match answer {
        TrialAnswer::Returns(_, args, effects) => TrialAnswer::Returns(ValueSpec::Str("another".into()), args, effects),
        other => other,
    };
    Outcome::Answer { answer: Answer::Trials(answers.into_iter().map(without).collect()), warnings: None }
}

fn wrong(how: fn(Vec<TrialAnswer>) -> Outcome) -> FindingStore {
    let make = move || -> Box<dyn Implementation + Send> {
        Box::new(Wrong { inner: InProcess::new(Reading::corrected()), operators: &["relax.add"], how })
    };
    run(&settings(40, &["llvm"]), make).1
}

#[test]
fn a_wrong_implementation_is_found_and_the_program_is_small() {
    for (how, kind) in
        [(crash as fn(_) -> _, FailureKind::Crash), (refuse, FailureKind::Refused), (mistake, FailureKind::Value)]
    {
        let store = wrong(how);
        let found = store.ranked();
        assert_eq!(
            found.len(),
            1,
            "{:?}",
            found.iter().map(|f| format!("{} {}\n{}", f.number, f.signature, f.program)).collect::<Vec<_>>().join("\n")
        );
        assert_eq!(found[0].signature.kind, kind);
        assert!(found[0].count > 1);
        assert!(found[0].bindings < 6, "{}", found[0].program);
        assert!(found[0].operators.contains(&"relax.add".to_string()));
    }
}

/// A program with a hundred bindings. Three of them have different operators: one is deep in a branch, one in a
/// sequence in a helper, and one at the end.
fn of_many_bindings() -> String {
    let chain = |first: &str, count: usize, indent: &str, prefix: &str| -> String {
        let names: Vec<String> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        let before = std::iter::once(first).chain(names.iter().map(String::as_str));
        names
            .iter()
            .zip(before)
            .map(|(name, before)| format!("{indent}{name} = R.maximum({before}, {before})\n"))
            .collect()
    };
    let (t, info) = ("    ", "R.Tensor((2,), \"float32\")");
    format!(
        "@I.ir_module\nclass Module:\n    @R.function(private=True)\n    def helper(x: {info}) -> {info}:\n{}        with R.SeqExpr():\n            with R.SeqExpr():\n                s = R.sin(h19)\n        return s\n    @R.function\n    def main(x: {info}, c: R.Tensor((), \"bool\")) -> {info}:\n{}        y = Module.helper(a29)\n        if c:\n{}            w = R.cos(b24)\n        else:\n            w = y\n{}        d = R.tan(e19)\n        return d\n",
        chain("x", 20, &t.repeat(2), "h"),
        chain("x", 30, &t.repeat(2), "a"),
        chain("y", 25, &t.repeat(3), "b"),
        chain("w", 20, &t.repeat(2), "e"),
    )
}

/// To leave them out one by one would take more than a hundred questions.
#[test]
fn of_many_bindings_those_that_matter_are_found_by_few_questions() {
    let module = parse_module(&of_many_bindings()).unwrap();
    assert!(bindings(&module) >= 100, "{}", bindings(&module));
    let mut wrong = Wrong {
        inner: InProcess::new(Reading::corrected()),
        operators: &["relax.sin", "relax.cos", "relax.tan"],
        how: mistake,
    };
    let (path, entry) = (Path::named("llvm").unwrap(), "main".into());
    let inputs = inputs_of(Edition::default(), &module, &entry, 2);
    let asked = ProgramQuestion {
        module: &module,
        entry: &entry,
        inputs: &inputs,
        names_rules: true,
        edition: Edition::default(),
    };
    let told = diff(&mut wrong, asked, std::slice::from_ref(&path)).unwrap();
    let [(_, TrialVerdict::Differs(difference))] = told.as_slice() else { panic!("no difference: {told:?}") };
    let mut witness = Witness::new(Edition::default(), module, entry, path, (**difference).clone());
    Reducer::new(&mut wrong, 80).reduce(&mut witness).unwrap();
    let program = print_module(witness.module(), Dialect::default());
    // The sum of the operators, the condition, its bindings, and the call of the helper.
    assert!(bindings(witness.module()) <= 7, "{program}");
    assert!(!program.contains("R.maximum"), "{program}");
}

/// Crashes on a sum this many times, and then never again.
struct CrashesTimes(InProcess, usize);

impl Implementation for CrashesTimes {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let outcome = self.0.ask(edition, ask)?;
        let Ask::Trial(ProgramInput::Module(module), ..) = ask else { return Ok(outcome) };
        if self.1 == 0 || !operators(module).iter().any(|name| name == "relax.add") {
            return Ok(outcome);
        }
        self.1 -= 1;
        Ok(crash(Vec::new()))
    }
}

/// The crash, and the question whether it occurs in a fresh process, are two.
#[test]
fn a_crash_that_does_not_come_a_third_time_does_not_show_alone() {
    let times = |times| {
        run(&settings(10, &["llvm"]), move || Box::new(CrashesTimes(InProcess::new(Reading::corrected()), times)))
    };
    let alone = |times_of: usize| times(times_of).1.ranked().iter().map(|finding| finding.alone).collect::<Vec<bool>>();
    assert_eq!(alone(2), [false]);
    assert_eq!(alone(usize::MAX), [true]);
}

/// Refuses a program once, and then gives no more answers.
struct FallsSilent(InProcess, u64);

impl Implementation for FallsSilent {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn ask(&mut self, _: Edition, _: &Ask) -> Result<Outcome, StartError> {
        self.1 += 1;
        Ok(if self.1 == 1 { refuse(Vec::new()) } else { Outcome::Timeout { stage: None } })
    }
}

#[test]
fn few_answers_are_waited_for_that_do_not_come() {
    let module = parse_module(&of_many_bindings()).unwrap();
    let mut silent = FallsSilent(InProcess::new(Reading::corrected()), 0);
    let (path, entry) = (Path::named("llvm").unwrap(), "main".into());
    let asked =
        ProgramQuestion { module: &module, entry: &entry, inputs: &[], names_rules: true, edition: Edition::default() };
    let told = diff(&mut silent, asked, std::slice::from_ref(&path)).unwrap();
    let [(_, TrialVerdict::Differs(difference))] = told.as_slice() else { panic!("no difference: {told:?}") };
    let mut witness = Witness::new(Edition::default(), module, entry, path, (**difference).clone());
    let mut reducer = Reducer::new(&mut silent, 80);
    reducer.reduce(&mut witness).unwrap();
    assert_eq!(reducer.asked(), 4);
}

/// The findings depend neither on the number of jobs nor on their speed.
#[test]
fn the_same_seed_gives_the_same_findings_with_several_jobs() {
    for how in [crash as fn(_) -> _, refuse, mistake] {
        let found = |jobs| {
            let make = move || -> Box<dyn Implementation + Send> {
                Box::new(Wrong { inner: InProcess::new(Reading::corrected()), operators: &["relax.multiply"], how })
            };
            let settings = CampaignSettings { jobs, budget: 30, ..settings(60, &["llvm", "text"]) };
            let (campaign, store) = run(&settings, make);
            let kept: Vec<Finding> = store.ranked().into_iter().cloned().collect();
            (kept, store.next(), campaign.tally.programs, campaign.tally.questions, campaign.tally.reducing)
        };
        let alone = found(1);
        assert_eq!(alone.0.len(), 1, "{:?}", alone.0);
        for jobs in [2, 3] {
            assert_eq!(found(jobs), alone, "{jobs} jobs");
        }
    }
}

/// Crashes if an addition comes after a multiplication in the same process.
struct Damaging {
    inner: InProcess,
    damaged: bool,
}

impl Implementation for Damaging {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let outcome = self.inner.ask(edition, ask)?;
        let called: Vec<String> = ask
            .programs()
            .into_iter()
            .flat_map(|program| match program {
                ProgramInput::Module(module) => operators(module),
                ProgramInput::Script(_) => Vec::new(),
            })
            .collect();
        let calls = |name: &str| called.iter().any(|own| own == name);
        if self.damaged && calls("relax.add") {
            self.damaged = false;
            return Ok(crash(Vec::new()));
        }
        self.damaged |= calls("relax.multiply");
        Ok(outcome)
    }

    fn renew(&mut self) {
        self.damaged = false;
    }
}

#[test]
fn a_crash_that_does_not_show_alone_is_traced_to_what_ran_before() {
    let make = || -> Box<dyn Implementation + Send> {
        Box::new(Damaging { inner: InProcess::new(Reading::corrected()), damaged: false })
    };
    let (_, store) = run(&settings(60, &["llvm"]), make);
    let found = store.ranked();
    assert!(!found.is_empty());
    for finding in found {
        assert_eq!((finding.signature.kind, finding.alone), (FailureKind::Crash, true));
        assert!(finding.operators.contains(&"relax.multiply".to_string()), "{}", finding.program);
        assert!(finding.bindings < 6, "{}", finding.program);
        assert!(finding.then.as_ref().is_some_and(|then| then.contains("R.add(")), "{:?}", finding.then);
    }
}

/// Accepts every program, and claims an edition.
struct Lenient(InProcess, Edition);

impl Lenient {
    fn of(edition: Edition) -> Lenient {
        Lenient(InProcess::new(Reading::corrected()), edition)
    }
}

impl Implementation for Lenient {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn edition(&self) -> Edition {
        self.1
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        Ok(match self.0.ask(edition, ask)? {
            Outcome::Answer { answer: Answer::Verdict(_), warnings } => {
                Outcome::Answer { answer: Answer::Verdict(Verdict::Accepted), warnings }
            }
            other => other,
        })
    }
}

/// For any edition that the implementation claims, programs are typed by it, break its rules, and become cases of it.
#[test]
fn a_program_that_breaks_a_rule_and_is_accepted_is_a_finding_of_that_rule() {
    for edition in Edition::ALL {
        let (campaign, store) = run(&settings(80, &["check"]), || Box::new(Lenient::of(edition)));
        let found = store.ranked();
        assert_eq!((campaign.edition, campaign.tally.violations), (edition, 10));
        assert_eq!(campaign.tally.rejected, Vec::<String>::new());
        assert_eq!(found.iter().map(|f| f.count).sum::<u64>(), 10);
        let source = source_in(edition);
        for finding in found {
            let mut broken = source.violated_rules();
            assert_eq!((finding.signature.kind, finding.edition), (FailureKind::Accepted, edition));
            assert!(finding.bindings < 6, "{}", finding.program);
            assert!(broken.any(|rule| rule.id() == finding.signature.message), "{}", finding.signature);
            let text = promoted(finding, "findings/lenient").unwrap();
            assert!(text.contains("Rejected([") && text.contains(&format!("editions: [\"{edition}\"]")), "{text}");
            let kept = StoredFinding::of(finding).unwrap();
            assert!(still_shows(&mut Lenient::of(edition), finding, &kept).unwrap().is_some());
        }
    }
}

/// Gives a wrong value for a sum if an argument of the run contains a negative number.
struct WrongBelowZero(InProcess);

impl Implementation for WrongBelowZero {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let outcome = self.0.ask(edition, ask)?;
        let Ask::Trial(ProgramInput::Module(module), _, _, inputs) = ask else { return Ok(outcome) };
        if !operators(module).iter().any(|name| name == "relax.add") {
            return Ok(outcome);
        }
        Ok(match outcome {
            Outcome::Answer { answer: Answer::Trials(answers), warnings } => {
                let answers = answers.into_iter().zip(inputs).map(|(answer, input)| match answer {
                    TrialAnswer::Returns(_, args, effects) if !below_zero(input).is_empty() => {
                        TrialAnswer::Returns(ValueSpec::Str("another".into()), args, effects)
                    }
                    other => other,
                });
                Outcome::Answer { answer: Answer::Trials(answers.collect()), warnings }
            }
            other => other,
        })
    }
}

/// The negative float32 numbers in the tensors.
fn below_zero(input: &[ValueSpec]) -> Vec<f32> {
    let floats = |data: &TensorData| -> Vec<f32> {
        let bytes: &[u8] = if data.dtype == DataType::FLOAT32 { &data.bytes } else { &[] };
        bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    };
    input.iter().flat_map(ValueSpec::tensors).flat_map(floats).filter(|x| *x < 0.0).collect()
}

/// A finding that a campaign had no questions left for is reduced later, with the input that shows it. The input
/// becomes simpler too.
#[test]
fn a_finding_is_reduced_further_with_its_input() {
    let settings = CampaignSettings { budget: 0, ..settings(60, &["llvm"]) };
    let store = run(&settings, || Box::new(WrongBelowZero(InProcess::new(Reading::corrected())))).1;
    let large = store.ranked().into_iter().max_by_key(|finding| finding.bindings).unwrap();
    assert!(large.bindings > 1, "{}", large.program);
    let wrong = &mut WrongBelowZero(InProcess::new(Reading::corrected()));
    let small =
        reduced_further(wrong, large, &StoredFinding::of(large).unwrap(), 300).unwrap().expect("it shows still");
    // An unused parameter must stay if it has the negative number.
    assert!(small.bindings < large.bindings.min(6), "{}", small.program);
    let input = StoredFinding::of(&small).unwrap().input.unwrap();
    assert_eq!(below_zero(&input).len(), 1, "{input:?}");
    let mut mended = InProcess::new(Reading::corrected());
    assert_eq!(reduced_further(&mut mended, large, &StoredFinding::of(large).unwrap(), 10).unwrap(), None);
}

#[test]
fn a_finding_is_reproduced_until_it_is_mended() {
    for how in [crash as fn(_) -> _, refuse, mistake] {
        let store = wrong(how);
        let finding = store.ranked()[0];
        let kept = StoredFinding::of(finding).unwrap();
        let mut wrong = Wrong { inner: InProcess::new(Reading::corrected()), operators: &["relax.add"], how };
        let (path, difference) = still_shows(&mut wrong, finding, &kept).unwrap().expect("it shows still");
        assert_eq!((path.to_string(), difference.signature.kind), ("llvm".to_string(), finding.signature.kind));
        let mut mended = InProcess::new(Reading::corrected());
        assert_eq!(still_shows(&mut mended, finding, &kept).unwrap(), None);
    }
}

#[test]
fn a_finding_becomes_a_case_with_the_answer_of_the_text_and_its_clauses() {
    let store = wrong(mistake);
    let text = promoted(store.ranked()[0], "findings/sum").unwrap();
    let cases = read_cases("case.ron", &text).unwrap();
    assert_eq!(cases.len(), 1, "{text}");
    assert_eq!(cases[0].id, "findings/sum");
    assert!(cases[0].rules.iter().any(|rule| rule.id() == "OPS.add.value"), "{text}");
    assert!(text.contains("Returns("), "{text}");
}

/// A finding in a file of a campaign.
fn kept(dir: &tempfile::TempDir) -> String {
    file(dir, "finding.json", serde_json::to_string(wrong(mistake).ranked()[0]).unwrap())
}

#[test]
fn a_case_that_is_there_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let (finding, case) = (kept(&dir), dir.path().join("case.ron"));
    let promote = || command(&["promote", &finding, "--id", "findings/sum", "--output", case.to_str().unwrap()]).0;
    assert_eq!(promote(), 0);
    let written = std::fs::read_to_string(&case).unwrap();
    assert!(written.contains(UNDERIVED), "{written}");
    assert_eq!(promote(), 2);
    assert_eq!(std::fs::read_to_string(&case).unwrap(), written);
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 2, "the finding, the case, and nothing half-written");
}

#[test]
fn the_command_says_what_does_not_show_and_where_there_are_no_findings() {
    let dir = tempfile::tempdir().unwrap();
    let none = dir.path().display().to_string();
    assert_eq!(command(&["reproduce", &none, "--adapter", "builtin:evaluator"]).0, 4);
    let finding = kept(&dir);
    let broken = file(&dir, "broken.json", "{");
    for asks in ["reproduce", "reduce"] {
        let (status, out, _) = command(&[asks, &finding, "--adapter", "builtin:evaluator"]);
        assert_eq!(status, 1);
        assert!(out.contains("does not show"), "{out}");
        assert_eq!(command(&[asks, &broken, "--adapter", "builtin:evaluator"]).0, 2);
    }
    let (status, _, said) = command(&["reduce", &finding, "--adapter", "tvm"]);
    assert_eq!((status, said.contains("name it")), (2, true), "{said}");
}

/// An implementation that raises an exception for every check, or cannot read the program.
struct Refusing(InProcess, Outcome);

impl Implementation for Refusing {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn ask(&mut self, _: Edition, _: &Ask) -> Result<Outcome, StartError> {
        Ok(self.1.clone())
    }
}

/// As in the suite, a program is rejected by a verdict, not by an exception or a syntax error.
#[test]
fn an_exception_is_no_rejection_of_a_program_that_breaks_a_rule() {
    let (class, message) = ("Error".to_string(), "oh".to_string());
    let trapped = Outcome::Trapped { class: class.clone(), message: message.clone(), effects: Vec::new() };
    let refused =
        |stage: &str| Outcome::Rejected { stage: stage.into(), class: class.clone(), message: message.clone() };
    let asked = |outcome: &Outcome| {
        let refusing = || -> Box<dyn Implementation + Send> {
            Box::new(Refusing(InProcess::new(Reading::corrected()), outcome.clone()))
        };
        // Seven programs break no rule, and the eighth breaks one.
        let (campaign, store) = run(&settings(8, &["check"]), refusing);
        assert_eq!(campaign.tally.violations, 1);
        (store.ranked().iter().map(|finding| finding.count).sum::<u64>(), campaign.tally.unsupported.len())
    };
    assert_eq!(asked(&trapped), (8, 0));
    assert_eq!(asked(&refused("parse")), (7, 1));
    assert_eq!(asked(&refused("well_formed")), (7, 0));
}

/// What is said of an implementation that gives an answer to a question about a program.
fn told(program: &str, path: &str, outcome: Outcome) -> TrialVerdict {
    let module = parse_module(program).expect(program);
    let entry = "main".into();
    let mut refusing = Refusing(InProcess::new(Reading::corrected()), outcome);
    let asked = ProgramQuestion::of(&refusing, &module, &entry, &[]);
    diff(&mut refusing, asked, &[Path::named(path).unwrap()]).unwrap().remove(0).1
}

fn agrees(verdict: &TrialVerdict) -> bool {
    matches!(verdict, TrialVerdict::Agrees { .. })
}

/// What TVM reads is in normal form, with what it derives of results, with its defaults, and without what goes without
/// saying.
#[test]
fn what_is_read_may_be_in_normal_form_and_say_what_is_derived_and_nothing_else() {
    let reads = |written: &str, read: &str| {
        let answer = Answer::Read(ReadAnswer::Module(parse_module(read).expect(read)));
        agrees(&told(written, "parse", Outcome::Answer { answer, warnings: None }))
    };
    let written = |result: &str, body: &str| {
        format!("@R.function\ndef main(x: R.Tensor((\"n\", 2), \"float32\")){result}:\n{body}\n")
    };
    let (whole, same) = (" -> R.Tensor((\"n\", 2), \"float32\")", "    return x");
    for open in ["", " -> R.Object", " -> R.Tensor", " -> R.Tensor(ndim=2)", " -> R.Tensor(dtype=\"float32\")", whole] {
        assert!(reads(&written(open, same), &written(whole, same)), "{open}");
    }
    for other in [" -> R.Object", " -> R.Tensor((\"n\", 3), \"float32\")", " -> R.Tensor((\"n\", 2), \"int32\")"] {
        assert!(!reads(&written(whole, same), &written(other, same)), "{other}");
    }
    let sum = "    return R.add(x, R.multiply(x, x))";
    let bound = "    a = R.multiply(x, x)\n    b = R.add(x, a)\n    return b";
    assert!(reads(&written("", sum), &written("", bound)));
    assert!(!reads(&written("", sum), &written("", "    a = R.multiply(x, x)\n    b = R.add(a, x)\n    return b")));
    let softmax = |axis: &str| written("", &format!("    y = R.nn.softmax(x{axis})\n    return y"));
    assert!(reads(&softmax(", axis=-1"), &softmax("")));
    assert!(!reads(&softmax(", axis=0"), &softmax("")));
    let forced = |name: &str| written("", &format!("    R.func_attr({{\"{name}\": True}})\n    return x"));
    assert!(reads(&forced("relax.force_pure"), &forced("force_pure")));
    assert!(!reads(&forced("relax.force_pure"), &written("", same)));
}

/// A stage that refuses has given its verdict, whether it is an answer or a rejection by that stage.
#[test]
fn a_rejection_by_the_stage_that_is_asked_is_its_verdict() {
    let refused = |stage: &str| {
        let (class, message) = ("NotNormal".to_string(), "oh".to_string());
        Outcome::Rejected { stage: stage.into(), class, message }
    };
    let program = |body: &str| format!("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n{body}\n");
    let (normal, other) = (program("    y = R.add(x, x)\n    return y"), program("    return R.add(x, x)"));
    assert!(agrees(&told(&other, "normal_form", refused("normal_form"))));
    assert!(!agrees(&told(&normal, "normal_form", refused("normal_form"))));
    assert!(!agrees(&told(&other, "normal_form", refused("construct"))));
}

#[test]
fn the_ledger_of_programs_can_be_read_and_names_findings_that_are_there() {
    let forms = KnownForm::parse(&conformance::ledger("tvm-programs").expect("the ledger")).unwrap();
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/findings");
    for form in &forms {
        if let Some(folder) = &form.finding {
            assert!(root.join(folder).is_dir(), "{folder}");
        }
    }
}
