//! Laws on generated programs. The generator knows its programs by construction (`campaign::programs`), so each law
//! compares two results obtained in different ways.

use std::num::NonZero;

use campaign::generate::Tape;
use campaign::programs::{Drawn, ProgramSource, Restriction};
use proptest::prelude::*;
use relax_spec::arguments::{ArgumentSource, Draw, linked};
use relax_spec::book::{Edition, Rule};
use relax_spec::check::{CheckReport, check_program, further_findings};
use relax_spec::data;
use relax_spec::eval::EvalOptions;
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::visit::{Visitor, walk_function};
use relax_spec::grammar::{Binder, Function, GlobalFunc, IrModule, Var};
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, ProgramInput, RunAnswer};
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};
use relax_spec::value::ValueSpec;
use relax_spec::{normal_form, well_formed};
use serde_json::Value;

/// A drawn program of an edition. Shrinking shortens the tape and makes its choices smaller, so the program becomes
/// simpler.
fn drawn() -> impl Strategy<Value = (Edition, Drawn)> {
    let sources = Edition::ALL.map(|edition| ProgramSource::of(&[], Restriction::of_laws(edition)));
    let choices = prop::collection::vec(any::<u32>(), 0..400);
    (prop::sample::select(sources.to_vec()), choices)
        .prop_map(|(source, choices)| (source.edition(), source.of_tape(Tape::from_choices(choices))))
}

fn programs() -> impl Strategy<Value = (Edition, IrModule)> {
    drawn().prop_map(|(edition, drawn)| (edition, drawn.module))
}

fn cx(edition: Edition) -> Cx {
    Cx::new().with_edition(edition)
}

fn checked(edition: Edition, module: &IrModule) -> CheckReport {
    check_program(&mut cx(edition), module)
}

/// Arguments of the example sizes.
fn arguments(drawn: &Drawn) -> Vec<ValueSpec> {
    let main = linked(&drawn.module, "main").expect("drawn programs have a main");
    let draw = Draw { index: 0, attempt: 0 };
    let arguments = ArgumentSource::of(&[&drawn.module], 0, EvalOptions::default().memory);
    arguments.for_function(main, &drawn.sizes, draw).expect("parameters are tensors and boxed scalars")
}

/// Runs the module on the arguments of the program from which it was made.
fn run(edition: Edition, drawn: &Drawn, module: &IrModule) -> RunAnswer {
    let ask = Ask::Evaluate(ProgramInput::Module(module.clone()), "main".into(), arguments(drawn));
    match oracle::answer(&mut cx(edition), &ask) {
        Ok(Answer::Run(answer)) => answer,
        other => panic!("evaluation answers with a run, not {other:?}"),
    }
}

/// The variables that a function binds, including those of inner functions.
#[derive(Default)]
struct BoundVars(Vec<Var>);

impl Visitor for BoundVars {
    fn visit_var_def(&mut self, binder: &Binder) {
        self.0.push(binder.var.clone());
    }
}

fn bound_vars(function: &Function) -> Vec<Var> {
    let mut found = BoundVars::default();
    walk_function(&mut found, function);
    found.0
}

/// The module with one use of a variable replaced by another, which may make it ill-formed or ill-typed.
fn exchanged(module: &IrModule, place: usize, other: usize) -> IrModule {
    let mut tree = data::json::to_value(module);
    let mut mentions = Vec::new();
    for_each_mention(&mut tree, &mut |mention| mentions.push(mention.clone()));
    let Some(count) = NonZero::new(mentions.len()) else { return module.clone() };
    let mut left = place % count;
    for_each_mention(&mut tree, &mut |mention| {
        if left == 0 {
            *mention = mentions[other % count].clone();
        }
        left = left.wrapping_sub(1);
    });
    data::from_json(&tree.to_string()).expect("a mention may stand where a mention stood")
}

fn for_each_mention(tree: &mut Value, body: &mut impl FnMut(&mut Value)) {
    match tree {
        Value::Object(fields) if fields.contains_key("Var") || fields.contains_key("DataflowVar") => body(tree),
        // Values of boxed scalars use shape variables, and a `PrimFunc` its own variables.
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(name, _)| !["PrimValue", "Prim", "PrimFunc"].contains(&name.as_str()))
            .for_each(|(_, field)| for_each_mention(field, body)),
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_mention(item, body)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a run got stuck, that is, stopped where no rule applies. The errors that a checked program may still raise
/// do not count: those of casts, boundaries, operators, packed functions and dimensions.
fn is_stuck(answer: &RunAnswer) -> bool {
    match answer {
        RunAnswer::Returns(..) | RunAnswer::OutOfFuel => false,
        RunAnswer::Fails(rule, _) => rule.id().starts_with("EVAL.") || rule.id().starts_with("VAL."),
        RunAnswer::Unspecified => true,
    }
}

/// The rules of the errors and warnings, in order.
fn verdict(report: &CheckReport) -> Vec<(Rule, bool)> {
    let mut found: Vec<(Rule, bool)> =
        report.diagnostics.iter().map(|d| (d.rule, d.severity == Severity::Error)).collect();
    found.sort_unstable();
    found
}

fn errors(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.into_iter().filter(|d| d.severity == Severity::Error).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_are_well_formed((edition, module) in programs()) {
        prop_assert_eq!(errors(well_formed::check(&mut cx(edition), &module)), Vec::new());
    }

    #[test]
    fn normalization_gives_normal_form((edition, module) in programs()) {
        let normal = normal_form::normalize(&mut cx(edition), &module);
        prop_assert_eq!(errors(normal_form::check(&mut cx(edition), &normal)), Vec::new());
        prop_assert_eq!(errors(well_formed::check(&mut cx(edition), &normal)), Vec::new());
    }

    #[test]
    fn normalization_is_idempotent((edition, module) in programs()) {
        let once = normal_form::normalize(&mut cx(edition), &module);
        prop_assert_eq!(normal_form::normalize(&mut cx(edition), &once), once);
    }

    #[test]
    fn normalization_keeps_value_and_effects((edition, drawn) in drawn()) {
        let normal = normal_form::normalize(&mut cx(edition), &drawn.module);
        prop_assert_eq!(run(edition, &drawn, &normal), run(edition, &drawn, &drawn.module));
    }

    #[test]
    fn a_generated_program_returns((edition, drawn) in drawn()) {
        let answer = run(edition, &drawn, &drawn.module);
        prop_assert!(matches!(answer, RunAnswer::Returns(..)), "{}: {:?}", edition, answer);
    }

    #[test]
    fn json_round_trips((_, module) in programs()) {
        let text = data::json::write(&data::to_document(&module));
        prop_assert_eq!(data::from_json::<IrModule>(&text).expect("own JSON is read"), module);
    }

    #[test]
    fn printing_and_reading_is_the_identity((edition, module) in programs()) {
        // Text cannot express two ordinary blocks in a row, or an empty one. Normal form has neither.
        let module = normal_form::normalize(&mut cx(edition), &module);
        for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
            let text = print_module(&module, dialect);
            // Python takes the item out of a tuple that is written there.
            prop_assume!(!text.contains(",)[0]"));
            match parse_module(&text) {
                Ok(read) => prop_assert!(same_program(&read, &module), "{text}"),
                Err(error) => prop_assert!(false, "{error}\n{text}"),
            }
        }
    }
    #[test]
    fn generated_programs_are_accepted((edition, module) in programs()) {
        prop_assert_eq!(errors(checked(edition, &module).diagnostics), Vec::new());
    }

    #[test]
    fn the_check_is_deterministic((edition, module) in programs()) {
        prop_assert_eq!(checked(edition, &module), checked(edition, &module));
    }

    #[test]
    fn the_verdict_does_not_depend_on_the_order_of_functions((edition, module) in programs()) {
        let mut reversed = module.clone();
        reversed.funcs.reverse();
        let (there, back) = (checked(edition, &module), checked(edition, &reversed));
        prop_assert_eq!(verdict(&there), verdict(&back));
        for (name, info) in &there.derived.functions {
            prop_assert_eq!(back.derived.info_of_function(name), Some(info));
        }
    }

    #[test]
    fn accepted_programs_are_typed_throughout((edition, module) in programs()) {
        let report = checked(edition, &module);
        for (_, func) in &report.module.funcs {
            let GlobalFunc::Function(function) = func else { continue };
            for var in bound_vars(function) {
                // Later editions have no types besides structural information.
                let typed = edition > Edition::E2023_02 || report.types.type_of_var(&var).is_some();
                prop_assert!(typed, "`{}` has no type", var);
                prop_assert!(report.derived.vars.iter().any(|(known, _)| *known == var), "nothing is known of `{}`", var);
            }
        }
    }

    #[test]
    fn the_text_of_a_program_has_its_verdict((edition, module) in programs()) {
        let module = normal_form::normalize(&mut cx(edition), &module);
        let text = print_module(&module, Dialect::default());
        match parse_module(&text) {
            Ok(read) => prop_assert_eq!(verdict(&checked(edition, &read)), verdict(&checked(edition, &module)), "{}", text),
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }
    #[test]
    fn what_later_stages_add_is_about_other_places((edition, module) in programs(), place in any::<usize>(), other in any::<usize>()) {
        let report = checked(edition, &exchanged(&module, place, other));
        let further = further_findings(&mut cx(edition), &report);
        prop_assert!(further.is_empty() || !report.accepts());
        let rejected = errors(report.diagnostics);
        // If a finding has no position in the text, its whole function is left out.
        let has_place = rejected.iter().all(|found| !found.span.is_none());
        for finding in &further {
            let again = rejected.iter().any(|found| match has_place {
                true => found.path == finding.path,
                false => found.path.function() == finding.path.function(),
            });
            prop_assert!(!again, "{finding:?} where {rejected:?}");
        }
    }

    #[test]
    fn an_accepted_program_does_not_get_stuck((edition, drawn) in drawn(), place in any::<usize>(), other in any::<usize>()) {
        let module = exchanged(&drawn.module, place, other);
        if checked(edition, &module).accepts() {
            let answer = run(edition, &drawn, &module);
            prop_assert!(!is_stuck(&answer), "{:?}\n{}", answer, print_module(&module, Dialect::default()));
        }
    }
}
