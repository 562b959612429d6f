//! A question about a program, and the verdict on the answer.

use super::signature::FailureSignature;
use ask::implementation::Implementation;
use ask::protocol::ORACLE;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::value::ValueSpec;

/// The verdict on one question.
#[derive(Clone, PartialEq, Debug)]
pub enum TrialVerdict {
    /// No difference was found.
    Agrees {
        /// Runs that reached the end on both sides.
        ended: u64,
        /// All runs.
        runs: u64,
    },
    /// The implementation says that it does not support this, and why.
    Unsupported(String),
    /// The answer differs from the specification.
    Differs(Box<TrialDifference>),
}

/// A difference between the implementation and the specification.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialDifference {
    /// The signature, by which differences are compared.
    pub signature: FailureSignature,
    /// What is wrong, for people.
    pub message: String,
    /// The input on which the difference occurs, if there is one.
    pub input: Option<Vec<ValueSpec>>,
    /// The result that the program should give.
    pub expected: String,
    /// The result of the implementation.
    pub given: String,
}

/// The program that was asked about.
#[derive(Clone, Copy, Debug)]
pub struct ProgramQuestion<'a> {
    /// The program.
    pub module: &'a IrModule,
    /// The function that is run.
    pub entry: &'a Name,
    /// The inputs of the runs.
    pub inputs: &'a [Vec<ValueSpec>],
    /// Whether the implementation names rules in its verdicts, and must name the right ones.
    pub names_rules: bool,
    /// The edition by which it is judged.
    pub edition: Edition,
}

impl<'a> ProgramQuestion<'a> {
    /// A question about a program to this implementation, judged by an edition.
    pub fn of(
        implementation: &dyn Implementation,
        module: &'a IrModule,
        entry: &'a Name,
        inputs: &'a [Vec<ValueSpec>],
    ) -> ProgramQuestion<'a> {
        let names_rules = names_rules(implementation);
        ProgramQuestion { module, entry, inputs, names_rules, edition: implementation.edition() }
    }

    /// A context in the edition.
    pub(super) fn cx(&self) -> Cx {
        Cx::new().with_edition(self.edition)
    }
}

/// Whether the implementation names rules like the oracle, and must name the right ones.
pub(super) fn names_rules(implementation: &dyn Implementation) -> bool {
    implementation.identity().name == ORACLE
}
