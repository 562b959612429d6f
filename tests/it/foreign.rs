//! No rule of one edition fires in another. For every question, the recorded rules, and those in findings, errors and
//! answers, are stated by its edition.

use std::collections::BTreeMap;
use std::thread;

use ask::conformance;
use ask::protocol::AdapterReply;
use campaign::generate::{Tape, struct_info_pair};
use campaign::programs::{ProgramSource, Restriction};
use campaign::soundness;
use relax_spec::book::{Edition, Rule};
use relax_spec::check::{UnknownOps, all_findings, check_program, unknown_names};
use relax_spec::data::json;
use relax_spec::grammar::{IrModule, ShapeVar};
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::syntax::tvmscript::parse_module;
use serde_json::Value;

/// The rules of a foreign edition, each with the first question that used it.
#[derive(Default)]
struct Foreign(BTreeMap<(Edition, Rule), String>);

impl Foreign {
    fn note(&mut self, edition: Edition, rules: impl IntoIterator<Item = Rule>, what: &dyn Fn() -> String) {
        for rule in rules.into_iter().filter(|rule| rule.statement(edition).is_none()) {
            self.0.entry((edition, rule)).or_insert_with(what);
        }
    }

    /// Asks a question in an edition, and notes the rules that it records and that its answer names.
    fn ask(&mut self, edition: Edition, ask: &Ask, what: &dyn Fn() -> String) {
        let mut cx = Cx::new().with_edition(edition);
        let outcome = oracle::outcome(&mut cx, ask);
        self.note(edition, cx.recorded().iter(), what);
        let mut named = Vec::new();
        rules_in(&json::to_value(&AdapterReply::of(&outcome)), &mut named);
        self.note(edition, named, what);
    }

    /// Checks a program in an edition, and notes the recorded rules and findings, including the stages that the check
    /// did not reach.
    fn check(&mut self, edition: Edition, module: &IrModule, what: &dyn Fn() -> String) {
        let mut cx = Cx::new().with_edition(edition);
        let report = check_program(&mut cx, module);
        let findings = all_findings(&mut cx, &report, unknown_names(module, UnknownOps::Errors));
        self.note(edition, cx.recorded().iter(), what);
        self.note(edition, findings.iter().map(|finding| finding.rule), what);
    }

    fn assert_none(&self) {
        let lines: Vec<String> =
            self.0.iter().map(|((edition, rule), what)| format!("{rule} in {edition}: {what}")).collect();
        assert!(lines.is_empty(), "{} rules of other editions:\n{}", lines.len(), lines.join("\n"));
    }
}

/// The strings in an answer that are ids of rules.
fn rules_in(value: &Value, into: &mut Vec<Rule>) {
    match value {
        Value::String(text) => into.extend(text.parse::<Rule>()),
        Value::Array(items) => items.iter().for_each(|item| rules_in(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| rules_in(field, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Deep programs of the suite need more stack than a test has.
fn with_stack(body: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(1 << 30).spawn(body).expect("a thread");
    thread.join().expect("no rule of another edition");
}

#[test]
fn what_the_suite_asks_stays_within_the_edition() {
    with_stack(|| {
        let suite = conformance::suite().expect("the suite can be read");
        let mut foreign = Foreign::default();
        for (case, edition) in suite.iter().flat_map(|case| Edition::ALL.map(|edition| (case, edition))) {
            foreign.ask(edition, &case.ask, &|| case.id.clone());
            for program in case.ask.programs() {
                match program {
                    ProgramInput::Module(module) => foreign.check(edition, module, &|| format!("check of {}", case.id)),
                    ProgramInput::Script(text) => parse_module(text)
                        .iter()
                        .for_each(|module| foreign.check(edition, module, &|| format!("check of {}", case.id))),
                }
            }
        }
        foreign.assert_none();
    });
}

#[test]
fn generated_programs_stay_within_the_edition() {
    with_stack(|| {
        let mut foreign = Foreign::default();
        let source = ProgramSource::of(&conformance::suite().expect("the suite can be read"), Restriction::default());
        let laws = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
        for (seed, edition) in (0..60).flat_map(|seed| Edition::ALL.map(|edition| (seed, edition))) {
            let plain = laws.of_tape(Tape::from_seed(seed, 400)).module;
            let functions = soundness::program(edition, seed);
            let (broken, _) = source.violating(0, seed).expect("a rule that is broken");
            let large = source.program(0, seed);
            for (kind, module) in
                [("plain", &plain), ("functions", &functions), ("broken", &broken.module), ("large", &large.module)]
            {
                foreign.check(edition, module, &|| format!("the {kind} program of {seed}"));
                let run = Ask::Evaluate(ProgramInput::Module(module.clone()), "main".into(), Vec::new());
                foreign.ask(edition, &run, &|| format!("run of the {kind} program of {seed}"));
            }
        }
        foreign.assert_none();
    });
}

#[test]
fn judgements_on_generated_information_stay_within_the_edition() {
    let mut foreign = Foreign::default();
    let vars = ["n", "m", "k"].map(ShapeVar::new);
    for (seed, edition) in (0..2_000).flat_map(|seed| Edition::ALL.map(|edition| (seed, edition))) {
        let (one, other) = struct_info_pair(&mut Tape::from_seed(seed, 128), 3, &vars);
        let asks = [
            Ask::Compatibility(one.clone(), other.clone()),
            Ask::Unify(one.clone(), other.clone()),
            Ask::MoreSpecific(one.clone(), other.clone()),
            Ask::PossiblyMoreSpecific(one.clone(), other.clone()),
            Ask::ShapeVarMapping(one.clone(), other.clone()),
            Ask::Erase(one.clone()),
            Ask::DeriveCall(one, vec![other], Vec::new()),
        ];
        asks.iter().for_each(|ask| foreign.ask(edition, ask, &|| format!("{ask}, pair {seed}")));
    }
    foreign.assert_none();
}
