//! The oracle behind the questions: one arm per question, each naming the judgement that answers it.

mod relay;
mod run;

pub use run::{UNSEEN, answer_evaluate, answer_evaluate_by, answer_evaluate_together};

use std::borrow::Cow;

use crate::book::{Basis, Edition, Rule};
use crate::check::{check_program, in_normal_form};
use crate::data::{DataNotation, DataResult, recognize};
use crate::derivation::{DeriveReport, derive_call, derive_module};
use crate::findings::{Diagnostic, Severity};
use crate::grammar::width::is_mostly_repeated;
use crate::grammar::{IrModule, StructInfo};
use crate::judge::Cx;
use crate::question::{Answer, Ask, Derived, Outcome, PARSE, ProgramInput, ReadAnswer, Verdict};
use crate::reading::state_results;
use crate::struct_info::{self, InScope, Nowhere};
use crate::syntax::decode::decode;
use crate::type_checking::check_module;
use crate::{normal_form, shape, types, well_formed};

/// Why the oracle gives no answer to a question.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The text does not decide this, or the value that would decide it cannot be inspected.
    #[error("undecided: {0}")]
    Undecided(String),
    /// The deciding fact may well be defined, but the oracle does not know it.
    #[error("undecided, for the oracle does not know this: {0}")]
    Unknown(String),
    /// The edition has no such judgement.
    #[error("edition {0} has no such judgement: {1}")]
    NotOfEdition(Edition, &'static str),
    /// A limit was reached before there was an answer.
    #[error("out of budget: {0}")]
    OutOfBudget(String),
    /// The program in the question cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The program was read, but lacks the thing that the question asks for.
    #[error("{message}")]
    Malformed {
        /// The stage that was reached.
        stage: &'static str,
        /// A message for people.
        message: String,
    },
}

/// The engine that runs programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// The evaluator, which walks the tree.
    #[default]
    Evaluator,
    /// The virtual machine, which runs the compiled program.
    Machine,
}

/// Answers a question.
pub fn answer(cx: &mut Cx, ask: &Ask) -> Result<Answer, NoAnswer> {
    answer_with_warnings(cx, ask).map(|(answer, _)| answer)
}

/// Answers a question. For a static check, the rules of its warnings come too, each once.
pub fn answer_with_warnings(cx: &mut Cx, ask: &Ask) -> Result<(Answer, Option<Vec<Rule>>), NoAnswer> {
    answer_by(cx, Engine::Evaluator, ask)
}

/// Like [`answer_with_warnings`], with the engine that runs programs.
fn answer_by(cx: &mut Cx, engine: Engine, ask: &Ask) -> Result<(Answer, Option<Vec<Rule>>), NoAnswer> {
    let mut warnings = None;
    let answer = judgement(cx, engine, ask, &mut warnings)?;
    // An error may name a rule by the id under which the code cites it.
    let answer = if cx.edition() == Edition::default() { answer } else { answer.stated_in(cx.basis()) };
    Ok((answer, warnings))
}

/// The outcome of a question to the oracle.
pub fn outcome(cx: &mut Cx, ask: &Ask) -> Outcome {
    outcome_by(cx, Engine::Evaluator, ask)
}

/// The outcome of a question to the oracle, with the engine that runs programs.
pub fn outcome_by(cx: &mut Cx, engine: Engine, ask: &Ask) -> Outcome {
    match answer_by(cx, engine, ask) {
        Ok((answer, warnings)) => Outcome::Answer { answer, warnings },
        Err(
            none @ (NoAnswer::Undecided(_)
            | NoAnswer::Unknown(_)
            | NoAnswer::NotOfEdition(..)
            | NoAnswer::OutOfBudget(_)),
        ) => Outcome::Unsupported { what: none.to_string() },
        Err(NoAnswer::Unreadable(message)) => {
            Outcome::Rejected { stage: PARSE.into(), class: "SyntaxError".into(), message }
        }
        Err(NoAnswer::Malformed { stage, message }) => {
            Outcome::Rejected { stage: stage.into(), class: "Malformed".into(), message }
        }
    }
}

fn judgement(cx: &mut Cx, engine: Engine, ask: &Ask, warnings: &mut Option<Vec<Rule>>) -> Result<Answer, NoAnswer> {
    if let Some(instead) = retired(cx.basis(), ask) {
        return Err(NoAnswer::NotOfEdition(cx.edition(), instead));
    }
    match ask {
        Ask::Subtype(t1, t2) => Ok(Answer::Bool(types::is_subtype(cx, t1, t2))),
        Ask::Glb(t1, t2) => Ok(Answer::OptionType(types::find_glb(cx, t1, t2))),
        Ask::Lub(t1, t2) => Ok(Answer::Type(types::find_lub(cx, t1, t2))),
        Ask::Erase(s) => Ok(Answer::Type(types::erase_struct_info(cx, s))),
        Ask::Wrap(t) => Ok(Answer::StructInfo(struct_info::wrap_type(cx, t))),
        Ask::EraseToWellDefined(s, vars, shape_vars) => {
            Ok(Answer::StructInfo(struct_info::erase_to_well_defined(cx, s, &InScope::new(vars, shape_vars))))
        }
        Ask::ShapeVarMapping(s1, s2) => Ok(Answer::Mapping(struct_info::get_shape_var_mapping(cx, s1, s2, &Nowhere))),
        Ask::Compatibility(s1, s2) => Ok(Answer::Compatibility(struct_info::check_compatibility(cx, s1, s2))),
        Ask::MoreSpecific(s1, s2) => Ok(Answer::Bool(struct_info::is_more_specific(cx, s1, s2))),
        Ask::PossiblyMoreSpecific(s1, s2) => Ok(Answer::Bool(struct_info::is_possibly_more_specific(cx, s1, s2))),
        Ask::Unify(s1, s2) => Ok(Answer::StructInfo(struct_info::unify_struct_info(cx, s1, s2))),
        Ask::ProveEqual(a, b) => Ok(Answer::Proof(shape::prove_equal(cx, a, b))),
        Ask::EvalDim(e, sizes) => Ok(Answer::Dim(shape::evaluate(cx, e, &|v| sizes.get(v).copied()).into())),
        Ask::MatchValue(v, s, sigma) => run::answer_match_value(cx, v, s, sigma).map(Answer::Match),
        Ask::Parse(text) => Ok(Answer::Read(parse(cx, text))),
        Ask::Decode(text, profile) => Ok(Answer::Read(read_answer(decode(cx, notation(text), text, *profile)))),
        Ask::WellFormed(program) => verdict(&well_formed::check(cx, &*read(program)?), warnings),
        Ask::NormalForm(program) => verdict(&normal_form::check(cx, &*read(program)?), warnings),
        Ask::TypeCheck(program) => verdict(&type_check(cx, &*read(program)?), warnings),
        Ask::Check(program) => verdict(&check_program(cx, &*read(program)?).diagnostics, warnings),
        Ask::Normalize(program) => normal(normal_form::normalize_reporting(cx, &*read(program)?)),
        Ask::DeriveFunction(program, name) => derived(derive(cx, &*read(program)?)?.info_of_function(name)),
        Ask::DeriveVar(program, name, var) => derived(derive(cx, &*read(program)?)?.info_of_var_in(name, var)),
        Ask::DeriveCall(callee, args, sinfo_args) => {
            let info = derive_call(cx, callee, args, sinfo_args);
            Ok(Answer::Derived(info.map_or_else(Derived::Rejected, Derived::Is)))
        }
        Ask::Evaluate(program, entry, args) => {
            answer_evaluate_by(cx, engine, &*read(program)?, entry, args).map(Answer::Run)
        }
        Ask::EvaluateIdentity(program, entry, args) => {
            run::answer_evaluate_identity(cx, engine, &*read(program)?, entry, args).map(Answer::Run)
        }
        Ask::EvaluateCompiled(program, entry, args) => {
            run::answer_evaluate_compiled(cx, &*read(program)?, entry, args).map(Answer::Run)
        }
        Ask::Trial(program, _, entry, inputs) => {
            run::answer_trial(cx, engine, &*read(program)?, entry, inputs).map(Answer::Trials)
        }
        Ask::RelayCheck(text) => relay_verdict(cx, text, warnings),
        Ask::RelayPrint(text) => relay::print(cx, text).map(Answer::Text),
        Ask::RelayInfer(text) => relay::infer(cx, text).map(Answer::Text),
        Ask::RelayEnvironment(text) => relay::environment(cx, text).map(Answer::Text),
        Ask::RelayConvert(text) => relay::convert(cx, text).map(Answer::Program),
        Ask::RelayEvaluate(text, entry, args) => relay::run(cx, text, entry, args).map(Answer::Run),
        Ask::Refine(source, target, entry, inputs) => {
            run::answer_refine(cx, &*read(source)?, &*read(target)?, entry, inputs).map(Answer::Verdict)
        }
    }
}

/// META.SINGLE-SYSTEM: why a question is not answered in an edition where structural information is the only type
/// system.
fn retired(basis: Basis, ask: &Ask) -> Option<&'static str> {
    let stands = |rule: Rule| rule.in_edition(basis).is_some();
    if matches!(ask, Ask::Subtype(..) | Ask::Glb(..) | Ask::Lub(..)) && !stands(rule!("SUB.REFL")) {
        Some("types are no system of their own there; ask about structural information")
    } else if matches!(ask, Ask::Wrap(_)) && !stands(rule!("SI.WRAP.TENSOR")) {
        Some("there are no types that could be wrapped")
    } else if matches!(ask, Ask::TypeCheck(_)) && !stands(rule!("TC.BEFORE-SI")) {
        Some("derivation checks what types did")
    } else {
        None
    }
}

/// Parses the text, and checks that the tree obeys the grammar.
fn parse(cx: &mut Cx, text: &str) -> ReadAnswer {
    match crate::syntax::tvmscript::parse_module_in(cx, text) {
        Ok(module) => read_answer(recognize(cx, &module).map(|()| module)),
        Err(error) => ReadAnswer::Rejected(error.rule.into_iter().collect()),
    }
}

/// The notation of the data: JSON begins with a brace.
fn notation(text: &str) -> DataNotation {
    if text.trim_start().starts_with('{') { DataNotation::Json } else { DataNotation::Ron }
}

fn read_answer(read: DataResult<IrModule>) -> ReadAnswer {
    match read {
        Ok(module) => ReadAnswer::Module(module),
        Err(error) => ReadAnswer::Rejected(error.rule.into_iter().collect()),
    }
}

/// The module of a question about a program.
fn read(program: &ProgramInput) -> Result<Cow<'_, IrModule>, NoAnswer> {
    match program {
        ProgramInput::Module(module) => Ok(Cow::Borrowed(module)),
        ProgramInput::Script(text) => read_script(text).map(Cow::Owned),
    }
}

fn read_script(text: &str) -> Result<IrModule, NoAnswer> {
    let mut module =
        crate::syntax::tvmscript::parse_module(text).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    state_results(&mut module);
    Ok(module)
}

/// A program that is malformed has no normal form.
fn normal(normalized: normal_form::Normalized) -> Result<Answer, NoAnswer> {
    match normalized.findings.first() {
        None => Ok(Answer::Program(normalized.module)),
        Some(finding) => Err(malformed("normalize", finding)),
    }
}

fn malformed(stage: &'static str, finding: &Diagnostic) -> NoAnswer {
    if finding.severity == Severity::Limit {
        return NoAnswer::OutOfBudget(finding.message.clone());
    }
    NoAnswer::Malformed { stage, message: format!("{}: {}", finding.code(), finding.message) }
}

/// TypeCheck takes a program as it is, well-formed or not (NF.REQUIRED: normalized first).
fn type_check(cx: &mut Cx, module: &IrModule) -> Vec<Diagnostic> {
    let normalized = in_normal_form(cx, module);
    let mut findings = normalized.findings;
    findings.extend(check_module(cx, &normalized.module).diagnostics);
    findings
}

/// The reason for no answer if the answer is too large. Shared parts of an answer are written out each time.
const TOO_WIDE: &str = "what is known of it repeats itself too often to be written";

/// Derivation by itself, without type checking (A16).
fn derive(cx: &mut Cx, module: &IrModule) -> Result<DeriveReport, NoAnswer> {
    let normalized = in_normal_form(cx, module);
    let mut report = derive_module(cx, &normalized.module);
    report.diagnostics.extend(normalized.findings);
    let errors = || report.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
    match errors().chain(&report.diagnostics).find(|finding| finding.is_fatal()) {
        None => Ok(report),
        Some(finding) => Err(malformed("derive", finding)),
    }
}

fn derived(info: Option<&StructInfo>) -> Result<Answer, NoAnswer> {
    let message = "the program has no such function or variable".to_string();
    let info = info.ok_or(NoAnswer::Malformed { stage: "derive", message })?;
    match is_mostly_repeated(info) {
        true => Err(NoAnswer::OutOfBudget(TOO_WIDE.to_string())),
        false => Ok(Answer::StructInfo(info.clone())),
    }
}

/// The verdict of a list of findings: the rules of the errors. Fails if a limit was reached, because later errors may
/// be missing.
fn verdict(findings: &[Diagnostic], warnings: &mut Option<Vec<Rule>>) -> Result<Answer, NoAnswer> {
    if let Some(limit) = findings.iter().find(|finding| finding.severity == Severity::Limit) {
        return Err(NoAnswer::OutOfBudget(limit.message.clone()));
    }
    *warnings = Some(rules(findings, Severity::Warning));
    let errors = rules(findings, Severity::Error);
    Ok(Answer::Verdict(if errors.is_empty() { Verdict::Accepted } else { Verdict::Rejected(errors) }))
}

fn relay_verdict(cx: &mut Cx, text: &str, warnings: &mut Option<Vec<Rule>>) -> Result<Answer, NoAnswer> {
    let (verdict, warned) = relay::check(cx, text)?;
    *warnings = Some(warned);
    Ok(Answer::Verdict(verdict))
}

fn rules(findings: &[Diagnostic], severity: Severity) -> Vec<Rule> {
    let mut rules: Vec<Rule> = findings.iter().filter(|f| f.severity == severity).map(|f| f.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}
