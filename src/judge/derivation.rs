//! Derivation trees: records of how a judgement reached its conclusion.

use std::fmt;

use super::with_stack;
use crate::book::Rule;

/// A judgement with its steps and its conclusion.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Derivation {
    /// The name of the judgement, for example `unify_struct_info`.
    pub judgement: &'static str,
    /// The inputs as texts.
    pub inputs: Vec<String>,
    /// The steps in order.
    pub steps: Vec<DerivationStep>,
    /// The answer as text.
    pub conclusion: String,
}

/// A step inside a judgement.
#[derive(Clone, PartialEq, Debug)]
pub enum DerivationStep {
    /// A rule was applied.
    Fired(Rule),
    /// A row of a definition by cases was considered, and its condition does not hold.
    Tried(Rule),
    /// The n-th premise of a rule was tested.
    Premise(Rule, usize, bool),
    /// Another judgement was asked.
    Sub(Derivation),
}

/// A result that a derivation tree can show.
pub trait Conclusion {
    /// The result as a text for the tree.
    fn conclude(&self) -> String;
}

impl<T: fmt::Display> Conclusion for T {
    fn conclude(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Derivation {
    /// Prints an indented tree: the conclusion first, then the rules and premises that led to it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Derivation {
    /// The derivation without an outer judgement that only asks another one.
    pub fn unwrapped(self) -> Derivation {
        match <[DerivationStep; 1]>::try_from(self.steps) {
            Ok([DerivationStep::Sub(inner)]) => inner,
            Ok([step @ (DerivationStep::Fired(_) | DerivationStep::Tried(_) | DerivationStep::Premise(..))]) => {
                Derivation { steps: vec![step], ..self }
            }
            Err(steps) => Derivation { steps, ..self },
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        writeln!(f, "{indent}{}({}) = {}", self.judgement, self.inputs.join(", "), self.conclusion)?;
        for step in &self.steps {
            match step {
                DerivationStep::Fired(rule) => writeln!(f, "{indent}  by {rule}")?,
                DerivationStep::Tried(rule) => writeln!(f, "{indent}  not by {rule}")?,
                DerivationStep::Premise(rule, n, true) => writeln!(f, "{indent}  premise {n} of {rule} holds")?,
                DerivationStep::Premise(rule, n, false) => writeln!(f, "{indent}  premise {n} of {rule} FAILS")?,
                DerivationStep::Sub(sub) => with_stack(|| sub.write(f, depth + 1))?,
            }
        }
        Ok(())
    }
}
