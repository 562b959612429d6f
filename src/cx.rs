//! The context that every judgement takes: which edition, which reading, how strong a prover, and what to
//! record. [`Cx::fire`] and [`Cx::premise`] are the only places where the use of a rule is recorded;
//! claims of golden cases, knock-out and derivation trees all rest on them.

use std::fmt;

use crate::erratum::Erratum;
use crate::rule::{Rule, RuleSet};

/// The edition of the specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Edition {
    /// The five documents merged by the conflicts table.
    #[default]
    E2023_02,
    /// The last public revision.
    E2023_12,
}

/// Which reading of the text: each erratum is taken literally or corrected, independently of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    literal: Vec<Erratum>,
}

/// How much the prover of shape equality may know. Every answer of a weaker one is an answer of the stronger.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Prover {
    /// Equal means alpha-equal; the floor.
    Alpha,
    /// Polynomial normal form with rules for min, max, select and the divisions.
    #[default]
    Algebraic,
    /// Definite answers about all admissible assignments where it can find them; the ceiling.
    Exhaustive,
}

/// What `find_glb` answers for two function types of which one is pure (A27).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GlbPurity {
    /// None, as the pseudocode has it.
    #[default]
    Literal,
    /// The pure one, as the order has it.
    Min,
}

/// The context of a judgement.
#[derive(Clone, Debug, Default)]
pub struct Cx {
    pub edition: Edition,
    pub reading: Reading,
    pub prover: Prover,
    pub glb_purity: GlbPurity,
    mask: RuleSet,
    recorded: RuleSet,
    trace: Option<Vec<Derivation>>,
}

/// A judgement, how it was reached, and its conclusion.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Derivation {
    /// The name of the judgement, for example `unify_struct_info`.
    pub judgement: &'static str,
    pub inputs: Vec<String>,
    pub steps: Vec<Step>,
    pub conclusion: String,
}

/// What happened inside a judgement, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A rule was applied.
    Fired(Rule),
    /// The n-th premise of a rule was tested.
    Premise(Rule, usize, bool),
    /// A judgement was asked.
    Sub(Derivation),
}

/// A rule without which the judgement cannot go on was masked, or the text gives no rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no rule applies without {0}")]
pub struct Stuck(pub Rule);

/// A result that a derivation tree can show.
pub trait Conclusion {
    fn conclude(&self) -> String;
}

impl<T: fmt::Display> Conclusion for T {
    fn conclude(&self) -> String {
        self.to_string()
    }
}

/// Stack kept free below every judgement, and the size of the piece that is added when it runs out.
const RED_ZONE: usize = 128 * 1024;
const STACK_PIECE: usize = 4 * 1024 * 1024;

/// Runs `body` with enough stack, however deep the recursion is already.
pub fn with_stack<T>(body: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, body)
}

impl Reading {
    /// Every erratum corrected.
    pub fn corrected() -> Reading {
        Reading::default()
    }

    /// Every erratum as the text has it, but for those that would hide all others.
    pub fn literal() -> Reading {
        let taken = Erratum::ALL.iter().copied().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum));
        Reading { literal: taken.collect() }
    }

    /// Errata whose letter nothing survives: find_glb and find_lub give up on every pair of types (E36), an annotation
    /// that says exactly what is known is an error (E41, E42). They are taken literally where they are named.
    pub const ONLY_BY_NAME: [Erratum; 3] = [Erratum::E36, Erratum::E41, Erratum::E42];

    /// Literal for these errata only.
    pub fn literal_only(errata: &[Erratum]) -> Reading {
        Reading { literal: errata.to_vec() }
    }

    pub fn is_literal(&self, erratum: Erratum) -> bool {
        self.literal.contains(&erratum)
    }
}

impl Edition {
    pub const ALL: [Edition; 2] = [Edition::E2023_02, Edition::E2023_12];

    pub fn name(self) -> &'static str {
        match self {
            Edition::E2023_02 => "2023-02",
            Edition::E2023_12 => "2023-12",
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Cx {
    pub fn new() -> Cx {
        Cx::default()
    }

    pub fn with_reading(mut self, reading: Reading) -> Cx {
        self.reading = reading;
        self
    }

    pub fn with_prover(mut self, prover: Prover) -> Cx {
        self.prover = prover;
        self
    }

    pub fn with_edition(mut self, edition: Edition) -> Cx {
        self.edition = edition;
        self
    }

    /// Switches rules off: [`Cx::fire`] then answers false, [`Cx::premise`] true.
    pub fn with_mask(mut self, mask: RuleSet) -> Cx {
        self.mask = mask;
        self
    }

    /// Collects a derivation tree.
    pub fn with_trace(mut self) -> Cx {
        self.trace = Some(vec![Derivation::default()]);
        self
    }

    /// Whether an erratum is to be taken as the text has it.
    pub fn literal(&self, erratum: Erratum) -> bool {
        self.reading.is_literal(erratum)
    }

    /// Applies a rule: records it and answers true, or answers false if the rule is masked.
    #[must_use = "a masked rule must not apply"]
    pub fn fire(&mut self, rule: Rule) -> bool {
        if self.mask.contains(rule) {
            return false;
        }
        self.recorded.insert(rule);
        if let Some(stack) = &mut self.trace
            && let Some(top) = stack.last_mut()
        {
            top.steps.push(Step::Fired(rule));
        }
        true
    }

    /// Applies a rule without which there is no answer.
    pub fn apply(&mut self, rule: Rule) -> Result<(), Stuck> {
        if self.fire(rule) { Ok(()) } else { Err(Stuck(rule)) }
    }

    /// A branch of an algorithm: if the condition holds and the rule is not masked, records it and answers true.
    #[must_use = "the branch is taken only if this holds"]
    pub fn rule(&mut self, rule: Rule, condition: bool) -> bool {
        condition && self.fire(rule)
    }

    /// The n-th premise of a rule (counting from 1): records the test and answers its outcome, or true if the rule
    /// is masked.
    #[must_use = "a failing premise must have a consequence"]
    pub fn premise(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        if self.mask.contains(rule) {
            return true;
        }
        self.recorded.insert(rule);
        if let Some(stack) = &mut self.trace
            && let Some(top) = stack.last_mut()
        {
            top.steps.push(Step::Premise(rule, n, holds));
        }
        holds
    }

    /// Runs one judgement: a node of the derivation tree, with enough stack whatever the nesting.
    pub fn judge<T: Conclusion>(
        &mut self,
        judgement: &'static str,
        inputs: impl FnOnce() -> Vec<String>,
        body: impl FnOnce(&mut Cx) -> T,
    ) -> T {
        if let Some(stack) = &mut self.trace {
            stack.push(Derivation { judgement, inputs: inputs(), ..Derivation::default() });
        }
        let result = with_stack(|| body(self));
        if let Some(stack) = &mut self.trace
            && let Some(mut node) = stack.pop()
        {
            node.conclusion = result.conclude();
            if let Some(parent) = stack.last_mut() {
                parent.steps.push(Step::Sub(node));
            }
        }
        result
    }

    /// The rules that were used so far.
    pub fn recorded(&self) -> &RuleSet {
        &self.recorded
    }

    /// Forgets the rules that were used.
    pub fn clear_recorded(&mut self) {
        self.recorded = RuleSet::new();
    }

    /// Takes what happened so far at the outermost level.
    pub fn take_steps(&mut self) -> Vec<Step> {
        let Some(stack) = &mut self.trace else { return Vec::new() };
        let steps = std::mem::take(stack).into_iter().next().map(|root| root.steps).unwrap_or_default();
        stack.push(Derivation::default());
        steps
    }

    /// Takes the judgements asked so far at the outermost level, as derivation trees.
    pub fn take_derivations(&mut self) -> Vec<Derivation> {
        self.take_steps()
            .into_iter()
            .filter_map(|step| match step {
                Step::Sub(derivation) => Some(derivation),
                Step::Fired(_) | Step::Premise(..) => None,
            })
            .collect()
    }
}

impl fmt::Display for Derivation {
    /// An indented tree, the conclusion first, then the rules and premises that led to it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Derivation {
    /// Without a judgement that does nothing but ask another one.
    pub fn unwrapped(self) -> Derivation {
        match <[Step; 1]>::try_from(self.steps) {
            Ok([Step::Sub(inner)]) => inner,
            Ok([step @ (Step::Fired(_) | Step::Premise(..))]) => Derivation { steps: vec![step], ..self },
            Err(steps) => Derivation { steps, ..self },
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        writeln!(f, "{indent}{}({}) = {}", self.judgement, self.inputs.join(", "), self.conclusion)?;
        for step in &self.steps {
            match step {
                Step::Fired(rule) => writeln!(f, "{indent}  by {rule}")?,
                Step::Premise(rule, n, true) => writeln!(f, "{indent}  premise {n} of {rule} holds")?,
                Step::Premise(rule, n, false) => writeln!(f, "{indent}  premise {n} of {rule} FAILS")?,
                Step::Sub(sub) => with_stack(|| sub.write(f, depth + 1))?,
            }
        }
        Ok(())
    }
}
