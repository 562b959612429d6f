//! What an implementation does as a whole where it is wrong: whether its wrong answers are those of the oracle with one
//! rule switched off, one row of a definition by cases changed, or one erratum taken literally. Or else, whether they
//! all depend on one rule.

use std::collections::BTreeSet;
use std::fmt;

use ask::runner::CaseResult;
use relax_spec::book::{Edition, Erratum, Reading, Rule, RuleSet};
use relax_spec::judge::{Cx, Mistake, RowMutant};
use relax_spec::oracle;
use relax_spec::question::Outcome;
use relax_spec::suite::Case;
use relax_spec::suite::compare::{CaseVerdict, compare};
use relax_spec::suite::knockout::{STEPS, within};

/// A change of the oracle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// The text is taken literally in one point.
    Literal(Erratum),
    /// A rule is switched off.
    Without(Rule),
    /// A mistake is made at a row.
    Row(RowMutant),
    /// The rule says something else, in a way that is none of those above.
    Otherwise(Rule),
}

/// A change, with the cases that it explains and those that speak against it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedCause {
    /// The changes that explain the same cases equally well, the simplest first.
    pub changes: Vec<Change>,
    /// The number of wrong answers that are those of the changed oracle.
    pub explained: usize,
    /// The number of right answers that the changed oracle would not give.
    pub against: usize,
}

/// The result of a diagnosis.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnosis {
    /// The number of wrong answers that were looked at.
    pub wrong: usize,
    /// The explanations, each of wrong answers that those before it leave.
    pub explanations: Vec<SharedCause>,
}

/// The maximum number of wrong answers to look at, of right answers to hold against a change, and of explanations.
const WRONG: usize = 300;
const RIGHT: usize = 150;
/// The maximum number of right answers of which it is found out what they depend on.
const LOOKED_AT: usize = 3_000;
const MOST: usize = 5;
/// The minimum number of wrong answers for an explanation of a part of them. One alone could be a coincidence.
const LEAST: usize = 3;
/// One case against a change for so many that it explains is forgiven: a mistake in code is rarely exactly one of ours.
const FORGIVEN: usize = 5;
/// The number of parts in a hundred of the wrong answers that have to depend on a rule which is held to be another one.
/// By chance, a changed rule can leave some answers as they are.
const NEARLY_ALL: usize = 80;
/// The maximum number of right answers for each wrong one that may depend on the rule that is held to be another one.
/// All answers depend on a rule such as that of a body.
const RIGHT_FOR_WRONG: usize = 4;

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Literal(erratum) => write!(f, "the text were taken literally in {erratum}"),
            Change::Without(rule) => write!(f, "there were no {rule}"),
            Change::Row(RowMutant { rule, mistake: Mistake::Dropped }) => write!(f, "a row of {rule} were missing"),
            Change::Row(RowMutant { rule, mistake: Mistake::Negated }) => write!(f, "{rule} were reversed"),
            Change::Row(RowMutant { rule, mistake: Mistake::Swapped }) => {
                write!(f, "the row behind {rule} came before it")
            }
            Change::Otherwise(rule) => write!(f, "{rule} were another rule"),
        }
    }
}

impl Change {
    /// The rules that it is about.
    pub fn rules(self) -> Vec<Rule> {
        match self {
            Change::Literal(erratum) => erratum.info().map(|info| info.rules).unwrap_or_default(),
            Change::Without(rule) | Change::Row(RowMutant { rule, .. }) | Change::Otherwise(rule) => vec![rule],
        }
    }

    /// The rule that is changed, if it is one.
    fn rule(self) -> Option<Rule> {
        match self {
            Change::Without(rule) | Change::Row(RowMutant { rule, .. }) => Some(rule),
            Change::Literal(_) | Change::Otherwise(_) => None,
        }
    }

    /// The context with the change. No context says what another rule says.
    fn apply(self, cx: Cx) -> Cx {
        match self {
            Change::Otherwise(_) => cx,
            Change::Literal(erratum) => cx.with_reading(Reading::literal_only(&[erratum])),
            Change::Without(rule) => cx.with_mask(RuleSet::from_iter([rule])),
            Change::Row(mutant) => cx.with_row_mutant(mutant),
        }
    }
}

impl Diagnosis {
    /// The explanation of all wrong answers, if there is one, or the rule on which nearly all depend.
    pub fn single(&self) -> Option<&SharedCause> {
        let is_single = |first: &&SharedCause| {
            first.explained == self.wrong || matches!(first.changes.first(), Some(Change::Otherwise(_)))
        };
        self.explanations.first().filter(is_single)
    }
}

/// `behaves as if there were no SUB.TOP (14 of 14 wrong answers, 0 right ones against it)`.
impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.wrong == 0 {
            return Ok(());
        }
        if self.single().is_none() {
            writeln!(f, "no single rule, row or erratum explains all {} wrong answers", self.wrong)?;
        }
        for SharedCause { changes, explained, against } in &self.explanations {
            let of = match changes.first() {
                Some(Change::Otherwise(_)) => {
                    format!("{explained} of {} wrong answers depend on it, as do {against} right ones", self.wrong)
                }
                Some(Change::Literal(_) | Change::Without(_) | Change::Row(_)) | None => {
                    format!("{explained} of {} wrong answers, {against} right ones against it", self.wrong)
                }
            };
            let changes: Vec<String> = changes.iter().take(2).map(ToString::to_string).collect();
            writeln!(f, "behaves as if {} ({of})", changes.join(", or "))?;
        }
        Ok(())
    }
}

/// An answer of the implementation, with what the oracle used for its own.
struct Asked<'a> {
    case: &'a Case,
    given: &'a Outcome,
    rules: RuleSet,
    changes: BTreeSet<Change>,
    /// Whether the oracle itself gives an answer that the case allows. The text leaves some answers open.
    is_decided: bool,
}

impl<'a> Asked<'a> {
    fn of(case: &'a Case, given: &'a Outcome, edition: Edition) -> Option<Asked<'a>> {
        let base = Cx::new().with_edition(case.basis_in(edition)).with_rows_noted();
        let (outcome, rules, rows, errata) = within(STEPS, &base, |cx| {
            let mut cx = cx.clone();
            let outcome = oracle::outcome(&mut cx, &case.ask);
            (outcome, *cx.recorded(), cx.rows_looked_at(), cx.errata_asked_after())
        })
        .ok()?;
        let is_decided = compare(case, &outcome, edition, false).verdict == CaseVerdict::Agree;
        let own = |rule: &Rule| rule.info().succeeds.is_empty();
        let mut changes: BTreeSet<Change> = rules.iter().map(Change::Without).collect();
        for rule in rows.rows.iter().filter(own) {
            let possible = |mistake: &Mistake| match mistake {
                Mistake::Dropped => true,
                Mistake::Negated => !rows.kinds.contains(rule),
                Mistake::Swapped => rows.followed.contains(rule),
            };
            let mutants = Mistake::ALL.into_iter().filter(possible).map(|mistake| RowMutant { rule, mistake });
            changes.extend(mutants.map(Change::Row));
        }
        changes.extend(errata.iter().map(Change::Literal));
        Some(Asked { case, given, rules, changes, is_decided })
    }

    /// The outcome of the changed oracle.
    fn under(&self, change: Change, edition: Edition) -> Option<Outcome> {
        let base = change.apply(Cx::new().with_edition(self.case.basis_in(edition)));
        within(STEPS, &base, |cx| oracle::outcome(&mut cx.clone(), &self.case.ask)).ok()
    }

    /// Whether the answer is that of the changed oracle, which is another one than the oracle's own.
    fn is_explained(&self, change: Change, edition: Edition) -> bool {
        // A verdict may agree with another one that has more reasons.
        let outcome = self.under(change, edition).filter(|outcome| !self.is_right(outcome, edition));
        match outcome {
            Some(Outcome::Answer { answer, warnings: _ }) => {
                let case =
                    Case { allow: vec![answer], literal: None, erratum: None, warnings: None, ..self.case.clone() };
                compare(&case, self.given, edition, false).verdict == CaseVerdict::Agree
            }
            // Both refuse what the oracle answers.
            Some(Outcome::Rejected { .. } | Outcome::Trapped { .. }) => {
                matches!(self.given, Outcome::Rejected { .. } | Outcome::Trapped { .. })
            }
            Some(_) | None => false,
        }
    }

    /// Whether the changed oracle still gives the right answer.
    fn holds(&self, change: Change, edition: Edition) -> bool {
        self.under(change, edition).is_some_and(|outcome| self.is_right(&outcome, edition))
    }

    fn is_right(&self, outcome: &Outcome, edition: Edition) -> bool {
        compare(self.case, outcome, edition, false).verdict == CaseVerdict::Agree
    }
}

/// Explains the wrong answers of a run as far as possible, without those that are known.
pub fn diagnosis(
    cases: &[&Case],
    results: &[CaseResult],
    edition: Edition,
    is_known: &dyn Fn(&CaseResult) -> bool,
) -> Diagnosis {
    let of = |verdict: CaseVerdict, most: usize| -> Vec<Asked<'_>> {
        let mut results: Vec<&CaseResult> =
            results.iter().filter(|result| result.comparison.verdict == verdict && !is_known(result)).collect();
        // Those of all chapters, rather than the first.
        let step = results.len().div_ceil(most).max(1);
        results = results.into_iter().step_by(step).collect();
        let asked = results.iter().filter_map(|result| Asked::of(cases.get(result.index)?, &result.outcome, edition));
        asked.collect()
    };
    let mut left = of(CaseVerdict::Diverge, WRONG);
    let mut diagnosis = Diagnosis { wrong: left.len(), explanations: Vec::new() };
    if left.is_empty() {
        return diagnosis;
    }
    let mut right = of(CaseVerdict::Agree, LOOKED_AT);
    right.retain(|asked| asked.is_decided);
    while diagnosis.explanations.len() < MOST && !left.is_empty() {
        let Some(best) = best(&left, &right, edition) else { break };
        // A part of the wrong answers may be explained by coincidence, the whole not.
        if best.explained < LEAST && best.explained < left.len() {
            break;
        }
        let change = best.changes.first().copied();
        left.retain(|asked| change.is_some_and(|change| !asked.is_explained(change, edition)));
        diagnosis.explanations.push(best);
    }
    // Changes that explain nearly everything, each its part, are several mistakes.
    let explained = diagnosis.wrong - left.len();
    if diagnosis.single().is_none() && explained * 100 < diagnosis.wrong * NEARLY_ALL {
        let wrong = of(CaseVerdict::Diverge, WRONG);
        if let Some(decisive) = decisive(&wrong, &right, edition) {
            // What explains a part of that is a coincidence.
            let is_all = decisive.explained == wrong.len();
            diagnosis.explanations.retain(|_| !is_all);
            diagnosis.explanations.insert(0, decisive);
        }
    }
    diagnosis
}

/// The rule that all wrong answers use and on which nearly all depend, and the fewest right ones, if these are not too
/// many.
fn decisive(wrong: &[Asked<'_>], right: &[Asked<'_>], edition: Edition) -> Option<SharedCause> {
    let least = (wrong.len() * NEARLY_ALL).div_ceil(100);
    let rules: BTreeSet<Rule> =
        wrong.iter().flat_map(|asked| &asked.changes).filter_map(|change| change.rule()).collect();
    let dependences = rules.into_iter().filter_map(|rule| Dependence::of(rule, wrong, right, edition));
    let enough = |found: &Dependence| found.wrong >= least && found.right <= found.wrong * RIGHT_FOR_WRONG;
    let found: Vec<Dependence> = dependences.filter(enough).collect();
    // A basic rule is one on which right answers depend as well. Of those that are left, the one that is used least.
    let rank = |found: &Dependence| (found.right as i64 - found.wrong as i64, found.used);
    let first = found.iter().min_by_key(|found| rank(found))?;
    let changes = found.iter().filter(|other| rank(other) == rank(first)).map(|found| Change::Otherwise(found.rule));
    Some(SharedCause { changes: changes.collect(), explained: first.wrong, against: first.right })
}

/// How many answers depend on a rule.
struct Dependence {
    rule: Rule,
    wrong: usize,
    right: usize,
    /// How many right answers use it.
    used: usize,
}

impl Dependence {
    /// By those changes of the rule on which most wrong answers depend, and then the fewest right ones.
    fn of(rule: Rule, wrong: &[Asked<'_>], right: &[Asked<'_>], edition: Edition) -> Option<Dependence> {
        let changes: BTreeSet<Change> = wrong.iter().flat_map(|asked| &asked.changes).copied().collect();
        let changes: Vec<Change> = changes.into_iter().filter(|change| change.rule() == Some(rule)).collect();
        // A bit for each change that makes a difference.
        let depends = |asked: &Asked<'_>| {
            let differs = |change: &Change| asked.changes.contains(change) && !asked.holds(*change, edition);
            changes.iter().enumerate().filter(|(_, change)| differs(change)).fold(0u32, |bits, (at, _)| bits | 1 << at)
        };
        let is_concerned = |asked: &&Asked<'_>| changes.iter().any(|change| asked.changes.contains(change));
        // An answer that does not use a rule is the same under another one.
        let is_used = |asked: &&Asked<'_>| asked.rules.contains(rule) || is_concerned(asked);
        if !wrong.iter().all(|asked| is_used(&asked)) {
            return None;
        }
        let used = right.iter().filter(is_used).count();
        let [wrong, right] =
            [wrong, right].map(|all| all.iter().filter(is_concerned).map(depends).collect::<Vec<u32>>());
        let count = |all: &[u32], choice: u32| all.iter().filter(|bits| **bits & choice > 0).count();
        let choices = (1..1u32 << changes.len()).map(|choice| (count(&wrong, choice), count(&right, choice)));
        let (wrong, right) = choices.min_by_key(|(wrong, right)| (std::cmp::Reverse(*wrong), *right))?;
        Some(Dependence { rule, wrong, right, used })
    }
}

/// The change that explains most of the wrong answers, where few right ones are against it.
fn best(wrong: &[Asked<'_>], right: &[Asked<'_>], edition: Edition) -> Option<SharedCause> {
    let changes: BTreeSet<Change> = wrong.iter().flat_map(|asked| asked.changes.iter().copied()).collect();
    let explained = |change: Change| {
        let concerned = wrong.iter().filter(|asked| asked.changes.contains(&change));
        concerned.filter(|asked| asked.is_explained(change, edition)).count()
    };
    let mut found: Vec<(Change, usize)> =
        changes.into_iter().map(|change| (change, explained(change))).filter(|(_, explained)| *explained > 0).collect();
    found.sort_by_key(|(_, explained)| std::cmp::Reverse(*explained));
    let mut best: Option<SharedCause> = None;
    for (change, explained) in found {
        if best.as_ref().is_some_and(|best| explained < best.explained) {
            break;
        }
        let concerned = right.iter().filter(|asked| asked.is_concerned(change)).take(RIGHT);
        let against = concerned.filter(|asked| !asked.holds(change, edition)).count();
        if against * FORGIVEN > explained {
            continue;
        }
        match &mut best {
            Some(best) if best.against < against => {}
            Some(best) if best.against == against => best.changes.push(change),
            Some(_) | None => best = Some(SharedCause { changes: vec![change], explained, against }),
        }
    }
    best
}

impl Asked<'_> {
    /// Whether the change can have an effect on the answer.
    fn is_concerned(&self, change: Change) -> bool {
        match change {
            Change::Without(rule) => self.rules.contains(rule),
            Change::Literal(_) | Change::Row(_) | Change::Otherwise(_) => self.changes.contains(&change),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ask::conformance;
    use relax_spec::grammar::{PrimExpr, StructInfo, Type};
    use relax_spec::question::{Answer, Ask};

    /// The results of an oracle with changes as an implementation, on cases of some chapters.
    fn diagnosed(changes: &[Change]) -> Diagnosis {
        diagnosis_of(changes, &|_, outcome| outcome)
    }

    /// An implementation that gives other answers to some questions, besides.
    fn diagnosis_of(changes: &[Change], given: &dyn Fn(&Ask, Outcome) -> Outcome) -> Diagnosis {
        let edition = Edition::default();
        let suite = conformance::suite().unwrap();
        let chapters = ["types", "compatibility", "unification", "subtyping", "struct_info"];
        let cases: Vec<&Case> = suite
            .iter()
            .filter(|case| {
                case.editions.contains(&edition) && case.proposal.is_none() && chapters.contains(&case.chapter())
            })
            .collect();
        let answer = |(index, case): (usize, &&Case)| {
            let cx = changes.iter().fold(Cx::new().with_edition(edition), |cx, change| change.apply(cx));
            let outcome = within(STEPS, &cx, |cx| oracle::outcome(&mut cx.clone(), &case.ask)).ok()?;
            let outcome = given(&case.ask, outcome);
            let comparison = compare(case, &outcome, edition, false);
            Some(CaseResult { index, outcome, comparison, time: std::time::Duration::ZERO })
        };
        let results: Vec<CaseResult> = cases.iter().enumerate().filter_map(answer).collect();
        diagnosis(&cases, &results, edition, &|_| false)
    }

    #[test]
    fn a_change_is_found_again_and_two_are_not_one() {
        assert_eq!(diagnosed(&[]), Diagnosis::default());
        let rule = |id: &str| Change::Without(id.parse().unwrap());
        for change in [rule("SUB.TOP"), rule("SI.UNIFY.OBJECT"), Change::Literal("A01".parse().unwrap())] {
            let diagnosis = diagnosed(&[change]);
            let single = diagnosis.single().unwrap_or_else(|| panic!("{change}: {diagnosis}"));
            assert_eq!(single.against, 0, "{change}");
            let rules: Vec<Rule> = single.changes.iter().flat_map(|found| found.rules()).collect();
            assert!(change.rules().iter().any(|rule| rules.contains(rule)), "{change}: {diagnosis}");
        }
    }

    fn answered(answer: Answer) -> Outcome {
        Outcome::Answer { answer, warnings: None }
    }

    /// Mistakes that are no change of ours: a bound keeps the left datatype, the sides of an axiom are exchanged.
    #[test]
    fn a_rule_that_is_another_one_is_named() {
        let left_datatype = |ask: &Ask, outcome: Outcome| match (ask, &outcome) {
            (
                Ask::Lub(Type::Tensor(t1), Type::Tensor(_)),
                Outcome::Answer { answer: Answer::Type(Type::Tensor(t)), .. },
            ) => {
                let mut t = *t;
                t.dtype = t1.dtype;
                answered(Answer::Type(Type::Tensor(t)))
            }
            _ => outcome,
        };
        let exchanged = |ask: &Ask, outcome: Outcome| match ask {
            Ask::Subtype(Type::Tensor(t1), Type::Tensor(t2))
                if t1.ndim != t2.ndim && t1.dtype == t2.dtype && !t1.dtype.is_void() =>
            {
                answered(Answer::Bool(t1.ndim.is_unknown()))
            }
            _ => outcome,
        };
        type Mistaken<'a> = &'a dyn Fn(&Ask, Outcome) -> Outcome;
        let mistakes: [(Mistaken<'_>, &str); 2] =
            [(&left_datatype, "LUB.TENSOR.DTYPE"), (&exchanged, "SUB.TENSOR.RANK")];
        for (mistaken, rule) in mistakes {
            let diagnosis = diagnosis_of(&[], mistaken);
            let single = diagnosis.single().unwrap_or_else(|| panic!("{rule}: {diagnosis}"));
            assert!(
                single.changes.iter().any(|change| change.rules() == [rule.parse().unwrap()]),
                "{rule}: {diagnosis}"
            );
        }
    }

    /// A rule that not all wrong answers use is not what is wrong, though most depend on it.
    #[test]
    fn a_rule_that_a_wrong_answer_does_not_use_is_not_named() {
        let other = std::cell::Cell::new(false);
        let left_datatype = |ask: &Ask, outcome: Outcome| match (ask, &outcome) {
            (Ask::Lub(Type::Tensor(t1), _), Outcome::Answer { answer: Answer::Type(Type::Tensor(t)), .. }) => {
                let mut t = *t;
                t.dtype = t1.dtype;
                answered(Answer::Type(Type::Tensor(t)))
            }
            (Ask::Unify(..), Outcome::Answer { .. }) if !other.replace(true) => {
                answered(Answer::StructInfo(StructInfo::shape([PrimExpr::IntImm(7)])))
            }
            _ => outcome,
        };
        let of = diagnosis_of(&[], &left_datatype);
        assert!(other.get() && of.wrong > 2 && of.single().is_none(), "{of}");
    }

    /// A whole judgement the wrong way round, and two independent mistakes.
    #[test]
    fn where_no_single_rule_is_wrong_none_is_named_alone() {
        let reversed = |ask: &Ask, outcome: Outcome| match ask {
            Ask::Subtype(t1, t2) => oracle::outcome(&mut Cx::new(), &Ask::Subtype(t2.clone(), t1.clone())),
            _ => outcome,
        };
        let of = diagnosis_of(&[], &reversed);
        assert!(of.wrong > 10 && of.single().is_none(), "{of}");
        assert!(of.to_string().contains("no single rule"), "{of}");
        let rule = |id: &str| Change::Without(id.parse().unwrap());
        let one_more = |ask: &Ask, outcome: Outcome| match ask {
            Ask::Subtype(..) => oracle::outcome(&mut rule("SUB.TUPLE").apply(Cx::new()), ask),
            _ => outcome,
        };
        let two = diagnosis_of(&[rule("SI.UNIFY.OBJECT")], &one_more);
        assert!(two.single().is_none(), "{two}");
    }
}
