//! What is asked about a program, and what becomes of the question.

use std::collections::BTreeMap;

use super::signature::FailureSignature;
use ask::implementation::Implementation;
use ask::protocol::ORACLE;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name, ShapeVar};
use relax_spec::judge::Cx;
use relax_spec::value::ValueSpec;

/// What becomes of one question.
#[derive(Clone, PartialEq, Debug)]
pub enum TrialVerdict {
    /// Nothing speaks against the implementation; how many runs reached their end, of how many.
    Agrees {
        /// Runs that reached the end on both sides.
        ended: u64,
        /// All runs.
        runs: u64,
    },
    /// The implementation says that it cannot; why.
    Unsupported(String),
    /// Something does.
    Differs(Box<TrialDifference>),
}

/// What speaks against the implementation.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialDifference {
    /// What it has in common with others of its kind.
    pub signature: FailureSignature,
    /// What is wrong, for people.
    pub message: String,
    /// The input on which it shows, if it shows on one.
    pub input: Option<Vec<ValueSpec>>,
    /// What the program gives on it.
    pub expected: String,
    /// What the implementation gives.
    pub given: String,
}

/// A program with what it is run by.
#[derive(Clone, Debug)]
pub struct WitnessProgram {
    /// The program.
    pub module: IrModule,
    /// The function that is started.
    pub entry: Name,
    /// Example sizes.
    pub sizes: BTreeMap<ShapeVar, i64>,
    /// What speaks against the implementation.
    pub difference: TrialDifference,
}

/// The program that was asked about.
#[derive(Clone, Copy, Debug)]
pub struct ProgramQuestion<'a> {
    /// The program.
    pub module: &'a IrModule,
    /// The function that was started.
    pub entry: &'a Name,
    /// What it was run on.
    pub inputs: &'a [Vec<ValueSpec>],
    /// Whether the implementation names rules in its verdicts, and is held to them.
    pub names_rules: bool,
    /// The edition by which it is judged.
    pub edition: Edition,
}

impl ProgramQuestion<'_> {
    /// A judge of the edition.
    pub(super) fn cx(&self) -> Cx {
        Cx::new().with_edition(self.edition)
    }
}

/// Whether it names rules as the oracle does, and is held to them.
pub fn names_rules(implementation: &dyn Implementation) -> bool {
    implementation.identity().name == ORACLE
}
