//! Differential campaigns: random questions to an implementation, whose answers are compared with all answers that the
//! text permits. Each divergence is reduced and explained, or reported as unexplained.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::generate::{Tape, struct_info_pair};
use crate::questions::module_of;
use crate::shrink::{Pass, Shows, shrink};
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::book::{Edition, Erratum, Reading, Rule};
use relax_spec::data::{Node, NodeData};
use relax_spec::grammar::{
    FuncStructInfo, PrimExpr, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use relax_spec::judge::{Cx, Prover};
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput};
use relax_spec::suite::alpha::same_struct_info;
use relax_spec::suite::ledger::DeviationClass;

/// The nesting of the generated structural information, and the length of the tapes.
const DEPTH: usize = 3;
const TAPE: usize = 256;

/// A known form of divergences: the kind of question, a rule that decides it, and the two kinds of answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The kind of question, as `op` in the protocol.
    pub op: String,
    /// A rule that the oracle uses on the reduced question.
    pub rule: Rule,
    /// Kinds of answer, as [`kind_of_answer`] names them.
    pub expected: String,
    /// The kind of answer that the implementation gives instead.
    pub given: String,
    /// Why it differs.
    pub class: DeviationClass,
    /// The reason, for people.
    pub reason: String,
    /// The link to a report or a discussion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Why an implementation may differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explanation {
    /// It follows the literal text.
    Erratum(Erratum),
    /// The ledger lists this form, in the entry at this position.
    Known(usize),
    /// Nothing explains it.
    None,
}

/// Divergences of one form.
#[derive(Clone, PartialEq, Debug)]
pub struct InfoDivergence {
    /// The form.
    pub signature: DivergenceSignature,
    /// The explanation, if there is one.
    pub explanation: Explanation,
    /// How many divergences have this form.
    pub count: usize,
    /// A reduced question.
    pub ask: Ask,
    /// Every answer that the text permits.
    pub permitted: Vec<Answer>,
    /// The answer of the implementation, for people.
    pub given: String,
    /// The number of the generated question, for `--seed`.
    pub number: u64,
}

/// What divergences of one form have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DivergenceSignature {
    /// The kind of question, as `op` in the protocol.
    pub op: String,
    /// The rules that the oracle uses on the reduced question.
    pub rules: Vec<Rule>,
    /// The kind of the permitted answer.
    pub expected: String,
    /// The kind of the answer given.
    pub given: String,
}

/// The outcome of a campaign.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InfoCampaign {
    /// The edition by which the answers are judged.
    pub edition: Edition,
    /// How many questions were asked.
    pub asked: u64,
    /// How many questions the implementation does not support.
    pub unsupported: u64,
    /// The divergences, one entry for each form.
    pub findings: Vec<InfoDivergence>,
}

impl InfoCampaign {
    /// Whether some divergence has no explanation.
    pub fn has_unexplained(&self) -> bool {
        self.findings.iter().any(|finding| finding.explanation == Explanation::None)
    }
}

/// The questions about the pair of pieces of structural information with this number.
pub fn questions(seed: u64, number: u64) -> [Ask; 2] {
    let vars = [ShapeVar::new("n"), ShapeVar::new("m")];
    let (s1, s2) = struct_info_pair(&mut Tape::numbered(seed, number, TAPE), DEPTH, &vars);
    [Ask::Compatibility(s1.clone(), s2.clone()), Ask::Unify(s1, s2)]
}

/// Asks about the pairs with these numbers, one after the other; `progress` is called for each. If the implementation
/// can no longer be asked, the result has the findings so far, and the reason.
pub fn judgements(
    seed: u64,
    numbers: std::ops::Range<u64>,
    known: &[Pattern],
    implementation: &mut dyn Implementation,
    progress: &mut dyn FnMut(),
) -> (InfoCampaign, Option<StartError>) {
    let campaign = InfoCampaign { edition: implementation.edition(), ..InfoCampaign::default() };
    let mut hunt = InfoHunt { known, implementation, campaign, found: BTreeMap::new() };
    let mut ended = None;
    for number in numbers {
        if let Err(error) = hunt.pair(seed, number) {
            ended = Some(error);
            break;
        }
        progress();
    }
    (InfoCampaign { findings: hunt.found.into_values().collect(), ..hunt.campaign }, ended)
}

/// A campaign that is going on.
struct InfoHunt<'a> {
    known: &'a [Pattern],
    implementation: &'a mut dyn Implementation,
    campaign: InfoCampaign,
    found: BTreeMap<DivergenceSignature, InfoDivergence>,
}

impl InfoHunt<'_> {
    /// The questions of one pair.
    fn pair(&mut self, seed: u64, number: u64) -> Result<(), StartError> {
        let edition = self.campaign.edition;
        for ask in questions(seed, number) {
            let outcome = self.implementation.ask(edition, &ask)?;
            self.campaign.asked += 1;
            if matches!(outcome, Outcome::Unsupported { .. }) {
                self.campaign.unsupported += 1;
            } else if !is_permitted(edition, &ask, &outcome) {
                let mut divergence = Divergence { ask, outcome };
                let reduced = shrink(&mut divergence, &[smaller()], &mut StillDiverges(&mut *self.implementation));
                // The divergence is recorded, however far it was reduced.
                self.note(divergence, number);
                reduced?;
            }
        }
        Ok(())
    }

    fn note(&mut self, Divergence { ask, outcome }: Divergence, number: u64) {
        let edition = self.campaign.edition;
        let signature = signature(edition, &ask, &outcome);
        let new = || {
            let explanation = explain(edition, &ask, &outcome, &signature, self.known);
            let (permitted, given, signature) = (permitted(edition, &ask), outcome.to_string(), signature.clone());
            InfoDivergence { signature, explanation, count: 0, ask, permitted, given, number }
        };
        self.found.entry(signature.clone()).or_insert_with(new).count += 1;
    }
}

/// Every answer that the text permits: those of provers from the floor to the ceiling.
pub fn permitted(edition: Edition, ask: &Ask) -> Vec<Answer> {
    let mut answers = Vec::new();
    for prover in [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive] {
        if let Ok(answer) = oracle::answer(&mut Cx::new().with_edition(edition).with_prover(prover), ask)
            && !answers.contains(&answer)
        {
            answers.push(answer);
        }
    }
    answers
}

pub(super) fn is_permitted(edition: Edition, ask: &Ask, outcome: &Outcome) -> bool {
    let Outcome::Answer { answer: given, .. } = outcome else { return false };
    // Usually one prover gives the answer, and the others need not be asked. The first prover is the one that
    // implementations resemble.
    [Prover::Algebraic, Prover::Exhaustive, Prover::Alpha].into_iter().any(|prover| {
        let answer = oracle::answer(&mut Cx::new().with_edition(edition).with_prover(prover), ask);
        answer.is_ok_and(|allowed| same_answer(edition, &allowed, given))
    })
}

fn same_answer(edition: Edition, a: &Answer, b: &Answer) -> bool {
    let (Answer::StructInfo(s1), Answer::StructInfo(s2)) = (a, b) else { return a == b };
    same_struct_info(&mut Cx::new().with_edition(edition), s1, s2)
}

/// Searches for an erratum whose literal reading gives the answer, then for a known form.
fn explain(
    edition: Edition,
    ask: &Ask,
    outcome: &Outcome,
    signature: &DivergenceSignature,
    known: &[Pattern],
) -> Explanation {
    if let Outcome::Answer { answer: given, .. } = outcome {
        let mut corrected = Cx::new().with_edition(edition);
        let _not_given = oracle::answer(&mut corrected, ask);
        for erratum in corrected.errata_asked_after().iter() {
            let mut cx = Cx::new().with_edition(edition).with_reading(Reading::literal_only(&[erratum]));
            if oracle::answer(&mut cx, ask).is_ok_and(|literal| same_answer(edition, &literal, given)) {
                return Explanation::Erratum(erratum);
            }
        }
    }
    let fits = |p: &Pattern| {
        p.op == signature.op
            && p.expected == signature.expected
            && p.given == signature.given
            && signature.rules.contains(&p.rule)
    };
    known.iter().position(fits).map_or(Explanation::None, Explanation::Known)
}

fn signature(edition: Edition, ask: &Ask, outcome: &Outcome) -> DivergenceSignature {
    let mut cx = Cx::new().with_edition(edition);
    let expected = oracle::answer(&mut cx, ask).map_or_else(|_| "none".to_string(), |answer| kind_of_answer(&answer));
    DivergenceSignature { op: ask.op(), rules: cx.recorded().iter().collect(), expected, given: kind(outcome) }
}

/// The kind of an outcome.
pub(crate) fn kind(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer { answer, .. } => kind_of_answer(answer),
        other => format!("{:?}", other.class()).to_lowercase(),
    }
}

/// An answer without its details: verdicts are unchanged, and structural information is reduced to its outermost node.
pub fn kind_of_answer(answer: &Answer) -> String {
    match answer {
        Answer::StructInfo(s) => kind_of_info(s).to_string(),
        Answer::Compatibility(c) => format!("{c:?}"),
        other => other.to_string(),
    }
}

fn kind_of_info(s: &StructInfo) -> &'static str {
    match s {
        StructInfo::Object => "Object",
        StructInfo::Tensor(TensorStructInfo { shape: None, .. }) => "Tensor of unknown shape",
        StructInfo::Tensor(TensorStructInfo { shape: Some(_), .. }) => "Tensor of known shape",
        StructInfo::Shape(ShapeStructInfo { values: None, .. }) => "Shape of unknown values",
        StructInfo::Shape(ShapeStructInfo { values: Some(_), .. }) => "Shape of known values",
        StructInfo::Prim(_) => "Prim",
        StructInfo::Tuple(_) => "Tuple",
        StructInfo::Func(f) if f.params.is_some() => "Func",
        StructInfo::Func(_) => "packed Func",
    }
}

/// A question with the answer of an implementation.
struct Divergence {
    ask: Ask,
    outcome: Outcome,
}

/// Shows a question if the answer is not permitted.
struct StillDiverges<'a>(&'a mut dyn Implementation);

impl Shows<Divergence> for StillDiverges<'_> {
    type Error = StartError;
    type Size = usize;

    fn size(&self, of: &Divergence) -> usize {
        size(&of.ask)
    }

    fn shows(&mut self, _: &Divergence, candidate: Divergence) -> Result<Option<Divergence>, StartError> {
        let edition = self.0.edition();
        let outcome = self.0.ask(edition, &candidate.ask)?;
        let is_one = matches!(outcome, Outcome::Answer { .. }) && !is_permitted(edition, &candidate.ask, &outcome);
        Ok(is_one.then_some(Divergence { outcome, ..candidate }))
    }
}

/// The only pass for such divergences: smaller questions.
fn smaller<'p>() -> Pass<'p, Divergence> {
    Pass::new("part", |own: &Divergence, from| {
        let with = |ask| Some(Divergence { ask, outcome: own.outcome.clone() });
        Box::new(parts(&own.ask).into_iter().skip(from).map(with))
    })
}

/// The size of a question: the parts of its data, and the words of a text. A program counts as a tree.
pub(super) fn size(ask: &Ask) -> usize {
    let read = |program: ProgramInput| module_of(&program).map_or(program, ProgramInput::Module);
    ask.clone().map_programs(read).arguments().iter().map(size_of_data).sum()
}

fn size_of_data(node: &Node<'_>) -> usize {
    let mut pending = vec![node];
    let mut count = 0;
    while let Some(node) = pending.pop() {
        count += match &node.data {
            NodeData::Text(text) => text.split_whitespace().count().max(1),
            NodeData::Null | NodeData::Bool(_) | NodeData::Number(_) => 1,
            NodeData::List(items) | NodeData::Tuple(items) => {
                pending.extend(items);
                1
            }
            NodeData::Map(entries) | NodeData::Struct(entries) => {
                pending.extend(entries.iter().map(|(_, value)| value));
                1
            }
            NodeData::Variant(_, content) => {
                pending.extend(content.as_deref());
                1
            }
        };
    }
    count
}

/// Smaller questions of the same kind. Unification compares parameters in order; elsewhere their order is reversed.
pub(super) fn parts(ask: &Ask) -> Vec<Ask> {
    type Question = fn(StructInfo, StructInfo) -> Ask;
    let (s1, s2, question, contravariant): (_, _, Question, bool) = if let Ask::Compatibility(s1, s2) = ask {
        (s1, s2, Ask::Compatibility, true)
    } else if let Ask::MoreSpecific(s1, s2) = ask {
        (s1, s2, Ask::MoreSpecific, true)
    } else if let Ask::PossiblyMoreSpecific(s1, s2) = ask {
        (s1, s2, Ask::PossiblyMoreSpecific, true)
    } else if let Ask::Unify(s1, s2) = ask {
        (s1, s2, Ask::Unify, false)
    } else {
        return Vec::new();
    };
    parts_of_pair(s1, s2, contravariant).into_iter().map(|(a, b)| question(a, b)).collect()
}

/// Pairs of corresponding parts. `contravariant`: parameters are compared the other way round.
fn parts_of_pair(s1: &StructInfo, s2: &StructInfo, contravariant: bool) -> Vec<(StructInfo, StructInfo)> {
    match (s1, s2) {
        (StructInfo::Tuple(a), StructInfo::Tuple(b)) if a.len() == b.len() => {
            a.iter().cloned().zip(b.iter().cloned()).collect()
        }
        (StructInfo::Func(a), StructInfo::Func(b)) => parts_of_functions(a, b, contravariant),
        (StructInfo::Tensor(a), StructInfo::Tensor(b)) => match (&a.shape, &b.shape) {
            (Some(TensorShape::Dims(dims1)), Some(TensorShape::Dims(dims2))) => {
                let tensors = |(d1, d2)| (StructInfo::tensor(d1, a.dtype), StructInfo::tensor(d2, b.dtype));
                fewer_dims(dims1, dims2).map(tensors).collect()
            }
            (_, _) => Vec::new(),
        },
        (
            StructInfo::Shape(ShapeStructInfo { values: Some(a), .. }),
            StructInfo::Shape(ShapeStructInfo { values: Some(b), .. }),
        ) => fewer_dims(a, b).map(|(d1, d2)| (StructInfo::shape(d1), StructInfo::shape(d2))).collect(),
        (_, _) => Vec::new(),
    }
}

fn parts_of_functions(f1: &FuncStructInfo, f2: &FuncStructInfo, contravariant: bool) -> Vec<(StructInfo, StructInfo)> {
    let (Some(params1), Some(params2)) = (&f1.params, &f2.params) else { return Vec::new() };
    if params1.len() != params2.len() {
        return Vec::new();
    }
    let param = |(p1, p2): (&StructInfo, &StructInfo)| {
        if contravariant { (p2.clone(), p1.clone()) } else { (p1.clone(), p2.clone()) }
    };
    let mut parts: Vec<(StructInfo, StructInfo)> = params1.iter().zip(params2.iter()).map(param).collect();
    parts.push((f1.ret.clone(), f2.ret.clone()));
    // The functions with one parameter less, or without a result.
    let shorter = |(p1, p2)| (StructInfo::func(p1, f1.ret.clone()), StructInfo::func(p2, f2.ret.clone()));
    parts.extend(each_left_out(params1).zip(each_left_out(params2)).map(shorter));
    if f1.ret != StructInfo::Object || f2.ret != StructInfo::Object {
        let without_ret = |params: &[StructInfo]| StructInfo::func(params.to_vec(), StructInfo::Object);
        parts.push((without_ret(params1), without_ret(params2)));
    }
    parts
}

/// Two lists of dimensions of the same length, without one position.
fn fewer_dims(dims1: &[PrimExpr], dims2: &[PrimExpr]) -> impl Iterator<Item = (Vec<PrimExpr>, Vec<PrimExpr>)> {
    let are_some = dims1.len() == dims2.len() && dims1.len() > 1;
    each_left_out(dims1).zip(each_left_out(dims2)).filter(move |_| are_some)
}

/// The list without each of its items.
fn each_left_out<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..items.len()).map(|at| [&items[..at], &items[at + 1..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ask::implementation::InProcess;
    use ask::protocol::Identity;

    /// An implementation that always answers "compatible".
    struct Credulous(InProcess);

    impl Implementation for Credulous {
        fn identity(&self) -> &Identity {
            self.0.identity()
        }

        fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
            match ask {
                Ask::Compatibility(..) => Ok(Outcome::Answer {
                    answer: Answer::Compatibility(relax_spec::judge::Compatibility::Compatible),
                    warnings: None,
                }),
                other => self.0.ask(edition, other),
            }
        }
    }

    fn campaign(seed: u64, pairs: u64, implementation: &mut dyn Implementation) -> InfoCampaign {
        let (campaign, ended) = judgements(seed, 0..pairs, &[], implementation, &mut || {});
        assert!(ended.is_none(), "{ended:?}");
        campaign
    }

    #[test]
    fn the_oracle_has_no_divergence_from_itself() {
        let campaign = campaign(1, 300, &mut InProcess::new(Reading::corrected()));
        assert_eq!(campaign.asked, 600);
        assert_eq!(campaign.findings, Vec::new());
    }

    #[test]
    fn a_literal_implementation_is_explained_by_its_erratum() {
        let campaign = campaign(1, 300, &mut InProcess::new(Reading::literal_only(&[Erratum::A05])));
        assert!(!campaign.findings.is_empty());
        assert!(campaign.findings.iter().all(|f| f.explanation == Explanation::Erratum(Erratum::A05)));
    }

    /// An implementation that is wrong, and can be asked only this many questions.
    struct Mortal(Credulous, usize);

    impl Implementation for Mortal {
        fn identity(&self) -> &Identity {
            self.0.identity()
        }

        fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
            self.1 = self.1.checked_sub(1).ok_or(StartError::Interrupted)?;
            self.0.ask(edition, ask)
        }
    }

    #[test]
    fn what_an_interrupted_campaign_has_found_is_kept() {
        let credulous = || Credulous(InProcess::new(Reading::corrected()));
        for questions in 0..60 {
            let (campaign, ended) = judgements(2, 0..200, &[], &mut Mortal(credulous(), questions), &mut || {});
            assert!(matches!(ended, Some(StartError::Interrupted)));
            assert!(campaign.asked <= questions as u64);
            assert!(!campaign.findings.is_empty() || questions < 59, "{campaign:?}");
        }
    }

    #[test]
    fn a_wrong_implementation_is_found_and_its_question_cut_down() {
        let campaign = campaign(2, 200, &mut Credulous(InProcess::new(Reading::corrected())));
        assert!(campaign.has_unexplained());
        assert!(
            campaign
                .findings
                .iter()
                .any(|f| matches!(&f.ask, Ask::Compatibility(StructInfo::Tensor(_), StructInfo::Tensor(_))))
        );
    }
}
