//! How far implementations agree with the reference operators: the questions they were asked, and the known
//! differences.
//!
//! `conformance/agreement/NAME.ron` holds the last result of `relax-spec ops --adapter NAME --update`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::infos::kind;
use crate::questions::OperatorQuestion;
use ask::conformance::{self, DataDirectory, KeptFile};
use ask::runner::CaseResult;
use relax_spec::book::{Edition, Rule, ron_options};
use relax_spec::grammar::{
    GlobalFunc, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var,
};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::ops::{Clauses, OpDef};
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput};
use relax_spec::struct_info::replace_everywhere;
use relax_spec::suite::Case;
use relax_spec::suite::alpha::same_struct_info;
use relax_spec::suite::compare::{CaseVerdict, tolerance_used};
use relax_spec::suite::ledger::DeviationClass;

/// The results of an implementation for all operators.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRecord {
    /// Name and version.
    pub implementation: String,
    /// By name, with the leading `relax.`.
    pub operators: BTreeMap<String, OpAgreement>,
}

/// The results of an implementation for one operator.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpAgreement {
    /// Questions about inference, by result.
    pub inference: AgreementTally,
    /// Cases about values.
    pub values: AgreementTally,
    /// The largest fraction of a tolerance that a value used, if there is a tolerance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
}

/// Questions by result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgreementTally {
    /// All questions.
    pub asked: usize,
    /// Those answered like the oracle.
    pub agree: usize,
    /// Those that differ as the ledger says.
    pub known: usize,
    /// Those without an answer: the implementation says that it does not support them.
    pub unsupported: usize,
    /// Those that differ, and match no pattern.
    pub unexplained: usize,
}

/// Differences with one cause, and the clause that decides them: `conformance/ledger/NAME-operators.ron`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorPattern {
    /// The operators, with the leading `relax.`. A pattern matches the operators for which the difference was found,
    /// and no other.
    pub ops: Vec<String>,
    /// What the question varies contains one of these; an empty list matches any question.
    #[serde(default)]
    pub what: Vec<String>,
    /// The kind of the oracle's answer is one of these: `rejected`, or or that of an answer; or their first word.
    pub expected: Vec<String>,
    /// The oracle's answer, in words, contains one of these; an empty list matches any answer.
    #[serde(default)]
    pub says: Vec<String>,
    /// The kind of the implementation's answer is one of these, or its first word is; `the same` is the oracle's kind.
    pub given: Vec<String>,
    /// The implementation's answer, in words, contains one of these; an empty list matches any answer.
    #[serde(default)]
    pub gives: Vec<String>,
    /// The clause that decides, by its last word: `infer`, `attrs` or `value` of the operator itself; or a whole id.
    pub clause: String,
    /// Why they differ.
    pub class: DeviationClass,
    /// The reason, for people.
    pub reason: String,
    /// The versions that differ in this way; all if the list is empty.
    #[serde(default)]
    pub versions: Vec<String>,
}

/// The result of a question.
#[derive(Clone, PartialEq, Debug)]
pub enum AgreementOutcome {
    /// The answer is the oracle's.
    Agree,
    /// The position of the pattern that matches the difference.
    Known(usize),
    /// The implementation says that it does not support the question, and what it lacks.
    Unsupported(String),
    /// A difference that no pattern matches.
    Unexplained {
        /// The kind of the oracle's answer.
        expected: String,
        /// The kind of the implementation's answer.
        given: String,
    },
}

impl AgreementTally {
    /// Counts one more question.
    pub fn add(&mut self, answered: &AgreementOutcome) {
        self.asked += 1;
        match answered {
            AgreementOutcome::Agree => self.agree += 1,
            AgreementOutcome::Known(_) => self.known += 1,
            AgreementOutcome::Unsupported(_) => self.unsupported += 1,
            AgreementOutcome::Unexplained { .. } => self.unexplained += 1,
        }
    }
}

/// The recorded results, by the name of the adapter.
///
/// # Errors
///
/// A file of `conformance/agreement/` cannot be read.
pub fn kept() -> Result<Vec<(String, AgreementRecord)>, ron::error::SpannedError> {
    let named = |KeptFile { name, text }: &KeptFile| {
        Ok((name.strip_suffix(".ron").unwrap_or(name).to_string(), ron_options().from_str(text)?))
    };
    conformance::files(DataDirectory::Agreement).iter().map(named).collect()
}

/// Compares an answer with the oracle's. Errors are equal whatever their message; dimensions are equal if provably so.
pub fn judge(
    op: &OpDef,
    question: &OperatorQuestion,
    given: &Outcome,
    known: &[OperatorPattern],
    version: &str,
    edition: Edition,
) -> AgreementOutcome {
    let expected = oracle::outcome(&mut Cx::new().with_edition(edition), &question.ask);
    if let Outcome::Unsupported { what } = given {
        return AgreementOutcome::Unsupported(what.clone());
    }
    if same(edition, question, &expected, given) {
        return AgreementOutcome::Agree;
    }
    let (kind_expected, kind_given) = (kind(&expected), kind(given));
    let (said, gave) = (shown(&expected), shown(given));
    let one_of =
        |parts: &[String], text: &str| parts.is_empty() || parts.iter().any(|part| text.contains(part.as_str()));
    let fits = |p: &OperatorPattern| {
        p.ops.iter().any(|name| name == op.name)
            && one_of(&p.says, &said)
            && one_of(&p.gives, &gave)
            && one_of(&p.what, &question.what)
            && is_one_of(&p.expected, &kind_expected)
            && (is_one_of(&p.given, &kind_given)
                || kind_given == kind_expected && p.given.iter().any(|one| one == THE_SAME))
            && (p.versions.is_empty() || p.versions.iter().any(|v| version.starts_with(v.as_str())))
    };
    let unexplained = || AgreementOutcome::Unexplained { expected: said.clone(), given: gave.clone() };
    known.iter().position(fits).map_or_else(unexplained, AgreementOutcome::Known)
}

/// In a pattern: the implementation's answer has the kind of the oracle's.
const THE_SAME: &str = "the same";

/// Whether a kind of answer, or its first word, is in the list of a pattern.
fn is_one_of(kinds: &[String], kind: &str) -> bool {
    kinds.iter().any(|one| one == kind || kind.split(' ').next() == Some(one.as_str()))
}

fn same(edition: Edition, question: &OperatorQuestion, expected: &Outcome, given: &Outcome) -> bool {
    match (expected, given) {
        (
            Outcome::Answer { answer: Answer::StructInfo(a), .. },
            Outcome::Answer { answer: Answer::StructInfo(b), .. },
        ) => {
            let held = ParameterContents::of(&question.ask);
            same_struct_info(&mut Cx::new().with_edition(edition), &held.in_place(a), &held.in_place(b))
        }
        (Outcome::Rejected { .. }, Outcome::Rejected { .. }) => !expected.is_unread() && !given.is_unread(),
        (_, _) => false,
    }
}

/// The known values of the parameters of a question. A known shape or number means the same whether an answer names the
/// variable or spells out its value.
#[derive(Default)]
struct ParameterContents {
    shapes: Vec<(Var, Arc<[PrimExpr]>)>,
    numbers: BTreeMap<ShapeVar, PrimExpr>,
}

impl ParameterContents {
    fn of(ask: &Ask) -> ParameterContents {
        let mut held = ParameterContents::default();
        let Ask::DeriveVar(ProgramInput::Module(module), entry, _) = ask else { return held };
        let Some(GlobalFunc::Function(main)) = module.get(entry) else { return held };
        for param in &main.params {
            if let Some(StructInfo::Shape(ShapeStructInfo { values: Some(dims), .. })) = &param.annotation {
                held.shapes.push((param.var.clone(), dims.clone()));
            } else if let Some(StructInfo::Prim(PrimStructInfo { value: Some(value), .. })) = &param.annotation {
                held.numbers.insert(ShapeVar::new(&param.var.name), value.clone());
            }
        }
        held
    }

    /// The information with the known values in place of the variables.
    fn in_place(&self, info: &StructInfo) -> StructInfo {
        replace_everywhere(&self.with_shapes(info), &self.numbers)
    }

    fn with_shapes(&self, info: &StructInfo) -> StructInfo {
        if let StructInfo::Tuple(fields) = info {
            return with_stack(|| StructInfo::tuple(fields.iter().map(|field| self.with_shapes(field))));
        }
        if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Var(var)), dtype, .. }) = info
            && let Some((_, dims)) = self.shapes.iter().find(|(held, _)| held.name == var.name)
        {
            return StructInfo::tensor(dims.iter().cloned(), *dtype);
        }
        info.clone()
    }
}

fn shown(outcome: &Outcome) -> String {
    format!("{}: {outcome}", kind(outcome))
}

/// The operators whose values a case is about.
pub fn ops_of_case(case: &Case) -> impl Iterator<Item = &'static OpDef> + '_ {
    relax_spec::ops::all().filter(|op| is_about_values_of(case, op))
}

/// Whether a case is about an operator's value.
pub fn is_about_values_of(case: &Case, op: &OpDef) -> bool {
    match op.clauses {
        Clauses::Tensor(clauses) => matches!(case.ask, Ask::Evaluate(..)) && case.rules.contains(&clauses.value),
        Clauses::Text => false,
    }
}

/// Counts a case about values. `known`: a ledger lists the outcome.
pub fn count_case(entry: &mut OpAgreement, case: &Case, result: &CaseResult, known: bool) {
    let (verdict, values) = (result.comparison.verdict, &mut entry.values);
    values.asked += 1;
    if matches!(verdict, CaseVerdict::Unsupported | CaseVerdict::Vacuous) {
        values.unsupported += 1;
    } else if known {
        // By chance it may agree all the same.
        values.known += 1;
    } else if verdict == CaseVerdict::Agree {
        values.agree += 1;
    } else {
        values.unexplained += 1;
    }
    if case.within.is_some()
        && let Some(used) = tolerance_used(case, &result.outcome)
    {
        entry.used = Some(entry.used.map_or(used, |most| most.max(used)));
    }
}

/// The least number of questions about the inference of an operator that must be asked.
pub const LEAST_QUESTIONS: usize = 30;

/// What a tensor operator lacks. The types ensure that it has a reference implementation, a class of accuracy and
/// clauses that the text states: without them nothing compiles.
pub fn lacking(op: &OpDef, suite: &[Case]) -> Vec<String> {
    let Clauses::Tensor(clauses) = op.clauses else { return Vec::new() };
    let mut lacks = Vec::new();
    if op.infer.is_none() {
        lacks.push("no inference".to_string());
    }
    if !relax_spec::suite::accuracy::table().is_ok_and(|table| table.iter().any(|row| row.class == op.accuracy)) {
        lacks.push(format!("the class {:?} is not in spec/accuracy.ron", op.accuracy));
    }
    let short = op.name.strip_prefix("relax.").unwrap_or(op.name);
    let named = [(Some(clauses.infer), "infer"), (Some(clauses.value), "value"), (clauses.attrs, "attrs")];
    for (rule, clause) in named.into_iter().filter_map(|(rule, clause)| Some((rule?, clause))) {
        if rule.id() != format!("OPS.{short}.{clause}") {
            lacks.push(format!("its clause `{clause}` is {rule}"));
        }
        if !suite.iter().any(|case| case.rules.contains(&rule)) {
            lacks.push(format!("no case about {rule}"));
        }
    }
    if op.attrs().next().is_some() != clauses.attrs.is_some() {
        lacks.push("attributes without their clause, or the reverse".to_string());
    }
    if !suite.iter().any(|case| is_about_values_of(case, op)) {
        lacks.push("no case about its value".to_string());
    }
    let asked = crate::questions::questions(op, suite).len();
    // If there is nothing to vary, one question is enough.
    let least = if op.params.is_empty() { 1 } else { LEAST_QUESTIONS };
    if asked < least {
        lacks.push(format!("only {asked} questions about its inference"));
    }
    lacks
}

/// The clause that a pattern names, for a given operator.
pub fn clause(op: &OpDef, name: &str) -> Option<Rule> {
    let Clauses::Tensor(clauses) = op.clauses else { return name.parse().ok() };
    match name {
        "infer" => Some(clauses.infer),
        "value" => Some(clauses.value),
        "attrs" => clauses.attrs,
        id => id.parse().ok(),
    }
}
