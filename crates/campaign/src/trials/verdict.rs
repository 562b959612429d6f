//! What is asked about a program, and what becomes of the question.

use super::signature::FailureSignature;
use ask::implementation::Implementation;
use ask::protocol::ORACLE;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};
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

impl<'a> ProgramQuestion<'a> {
    /// What is asked of an implementation, and judged by its edition.
    pub fn of(
        implementation: &dyn Implementation,
        module: &'a IrModule,
        entry: &'a Name,
        inputs: &'a [Vec<ValueSpec>],
    ) -> ProgramQuestion<'a> {
        let names_rules = names_rules(implementation);
        ProgramQuestion { module, entry, inputs, names_rules, edition: implementation.edition() }
    }

    /// A judge of the edition.
    pub(super) fn cx(&self) -> Cx {
        Cx::new().with_edition(self.edition)
    }
}

/// Whether it names rules as the oracle does, and is held to them.
pub(super) fn names_rules(implementation: &dyn Implementation) -> bool {
    implementation.identity().name == ORACLE
}
