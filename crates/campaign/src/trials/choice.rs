//! Chooses between the two programs of a number: the one with more that is new compared to the earlier programs of its
//! block.
//! Constructs and operators count first, then pairs of rules applied to the same program, because mistakes hide where
//! two rules meet.
//!
//! The choice is made number by number and from the programs alone. So it depends neither on the answers of an
//! implementation nor on the number of workers, nor on where a campaign or one of its machines began.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::programs::{ConstructCensus, Drawn, ProgramSource};
use relax_spec::book::{Rule, RuleSet};
use relax_spec::check::check_program;

/// Between how many programs a number chooses, and how many are tried when certain rules should be applied.
const CANDIDATES: u64 = 2;
const WANTED: u64 = 24;
/// How many numbers are a block. Who begins in the middle of one has to choose again from its beginning.
const BLOCK: u64 = 16;
/// Distinguishes the seed of the second program from that of the first.
const OTHER: u64 = 0x7374_6565_7269_6e67;
/// How many numbers may be in progress at once; choices for older numbers are no longer needed.
const AT_WORK: u64 = 256;

/// Pairs of rules that were applied to one program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RulePairs {
    beside: BTreeMap<Rule, RuleSet>,
}

impl RulePairs {
    /// How many pairs of these rules are not in this set; each pair is counted twice, once from each rule.
    fn lacking(&self, rules: &RuleSet) -> usize {
        rules.iter().map(|rule| self.beside.get(&rule).map_or_else(|| rules.len(), |own| rules.lacking_in(own))).sum()
    }

    /// Adds all pairs of these rules.
    pub(super) fn add(&mut self, rules: &RuleSet) {
        for rule in rules.iter() {
            self.beside.entry(rule).or_default().add(rules);
        }
    }

    /// Adds the pairs of another set.
    pub(super) fn merge(&mut self, other: &RulePairs) {
        for (rule, beside) in &other.beside {
            self.beside.entry(*rule).or_default().add(beside);
        }
    }

    /// How many pairs of two rules there are.
    pub fn len(&self) -> usize {
        let (all, selves) = (self.beside.values().map(RuleSet::len).sum::<usize>(), self.beside.len());
        (all - selves) / 2
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The choices so far, shared by all workers.
#[derive(Debug)]
pub(super) struct ProgramChoice {
    plan: Mutex<ChoicePlan>,
}

#[derive(Debug)]
struct ChoicePlan {
    next: u64,
    census: ConstructCensus,
    pairs: RulePairs,
    /// None where no candidate applies a rule that is wanted.
    decided: BTreeMap<u64, Option<Drawn>>,
}

impl ProgramChoice {
    /// Nothing has been seen yet.
    pub(super) fn new() -> ProgramChoice {
        let (census, pairs) = (ConstructCensus::default(), RulePairs::default());
        ProgramChoice { plan: Mutex::new(ChoicePlan { next: 0, census, pairs, decided: BTreeMap::new() }) }
    }

    /// The program of a number; none if none of the candidates applies a rule that is wanted.
    pub(super) fn program(&self, source: &ProgramSource, seed: u64, number: u64) -> Option<Drawn> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let block = number - number % BLOCK;
        // Earlier blocks do not matter, and a number may come back that was given up elsewhere.
        if plan.next < block || plan.next > number && !plan.decided.contains_key(&number) {
            plan.next = block;
        }
        while plan.next <= number {
            plan.decide(source, seed);
        }
        plan.decided.retain(|other, _| other + AT_WORK > number);
        plan.decided.remove(&number).flatten()
    }
}

impl ChoicePlan {
    fn decide(&mut self, source: &ProgramSource, seed: u64) {
        let number = self.next;
        self.next += 1;
        if number.is_multiple_of(BLOCK) {
            (self.census, self.pairs) = (ConstructCensus::default(), RulePairs::default());
        }
        let count = if source.wants_all() { CANDIDATES } else { WANTED };
        let candidates = (0..count).filter_map(|nth| {
            let drawn = source.program(seed ^ OTHER.wrapping_mul(nth), number);
            let mut cx = source.cx();
            // Whether it is accepted is checked when it is asked about.
            let _report = check_program(&mut cx, &drawn.module);
            let rules = *cx.recorded();
            rules.iter().any(|rule| source.wants(rule)).then_some((drawn, rules))
        });
        // Of equal candidates, the first.
        let best =
            candidates.reduce(
                |best, other| if self.worth(&other.0, &other.1) > self.worth(&best.0, &best.1) { other } else { best },
            );
        if let Some((drawn, rules)) = &best {
            self.census.count(&drawn.module);
            self.pairs.add(rules);
        }
        self.decided.insert(number, best.map(|(drawn, _)| drawn));
    }

    /// How many constructs, operators and pairs of rules of this program are new.
    fn worth(&self, drawn: &Drawn, rules: &RuleSet) -> (usize, usize) {
        let mut own = ConstructCensus::default();
        own.count(&drawn.module);
        let constructs = own.constructs.keys().filter(|name| !self.census.constructs.contains_key(*name)).count();
        let operators = own.operators.keys().filter(|name| !self.census.operators.contains_key(*name)).count();
        (constructs + operators, self.pairs.lacking(rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Restriction;
    use ask::conformance;

    #[test]
    fn pairs_are_counted_once() {
        let of = |rules: &[Rule]| rules.iter().copied().collect::<RuleSet>();
        let (a, b, c) = (Rule::ALL[0], Rule::ALL[1], Rule::ALL[2]);
        let mut pairs = RulePairs::default();
        pairs.add(&of(&[a, b]));
        assert_eq!((pairs.len(), pairs.lacking(&of(&[a, b]))), (1, 0));
        // c with itself, and the pair of a and c from both sides.
        assert_eq!(pairs.lacking(&of(&[a, c])), 3);
        let mut both = RulePairs::default();
        both.add(&of(&[a, c]));
        both.merge(&pairs);
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn more_pairs_meet_where_programs_are_chosen_and_the_choice_is_the_same_each_time() {
        let source = ProgramSource::of(&conformance::suite().unwrap(), Restriction::default());
        let met = |program: &dyn Fn(u64) -> Drawn| {
            let mut pairs = RulePairs::default();
            for number in 0..60 {
                let mut cx = source.cx();
                check_program(&mut cx, &program(number).module);
                pairs.add(cx.recorded());
            }
            pairs.len()
        };
        let choice = ProgramChoice::new();
        let chosen = met(&|number| choice.program(&source, 5, number).unwrap());
        assert!(chosen > met(&|number| source.program(5, number)));
        // The result does not depend on who asks for a later number first.
        let other = ProgramChoice::new();
        let late = other.program(&source, 5, 40);
        let first = other.program(&source, 5, 3);
        let choice = ProgramChoice::new();
        assert_eq!(choice.program(&source, 5, 3), first);
        assert_eq!(choice.program(&source, 5, 40), late);
        // Nor on where it begins: another machine chooses the same.
        let last = choice.program(&source, 5, BLOCK + 2);
        assert_eq!(ProgramChoice::new().program(&source, 5, BLOCK + 2), last);
        assert_eq!(choice.program(&source, 5, 3), first, "it is asked about once more");
    }

    #[test]
    fn every_program_applies_a_rule_that_is_wanted() {
        let rules = vec![glob::Pattern::new("EVAL.IF.*").unwrap(), glob::Pattern::new("SI.DERIVE.IF*").unwrap()];
        let source = ProgramSource::of(&conformance::suite().unwrap(), Restriction { rules, ..Restriction::default() });
        let choice = ProgramChoice::new();
        let drawn: Vec<Drawn> = (0..20).filter_map(|number| choice.program(&source, 5, number)).collect();
        assert!(drawn.len() > 10, "{}", drawn.len());
        for drawn in drawn {
            let mut cx = source.cx();
            check_program(&mut cx, &drawn.module);
            assert!(cx.recorded().iter().any(|rule| source.wants(rule)));
        }
    }
}
