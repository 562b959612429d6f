//! The oracle behind the questions: one arm per question, each naming the judgement that answers it.

use std::borrow::Cow;

use super::case::{Answer, Ask, Program, Verdict};
use crate::cx::Cx;
use crate::diagnostic::{Diagnostic, Severity};
use crate::grammar::IrModule;
use crate::well_formed;

/// Why the oracle gives no answer to a question.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("the oracle does not answer this question: {0}")]
    Unsupported(&'static str),
    #[error("{0}")]
    Stuck(#[from] crate::cx::Stuck),
    /// The program in the question cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Answers a question.
pub fn answer(cx: &mut Cx, ask: &Ask) -> Result<Answer, NoAnswer> {
    match ask {
        Ask::Subtype(..) => Err(NoAnswer::Unsupported("Subtype")),
        Ask::Glb(..) => Err(NoAnswer::Unsupported("Glb")),
        Ask::Lub(..) => Err(NoAnswer::Unsupported("Lub")),
        Ask::Erase(_) => Err(NoAnswer::Unsupported("Erase")),
        Ask::Wrap(_) => Err(NoAnswer::Unsupported("Wrap")),
        Ask::EraseToWellDefined(..) => Err(NoAnswer::Unsupported("EraseToWellDefined")),
        Ask::ShapeVarMapping(..) => Err(NoAnswer::Unsupported("ShapeVarMapping")),
        Ask::Compatibility(..) => Err(NoAnswer::Unsupported("Compatibility")),
        Ask::MoreSpecific(..) => Err(NoAnswer::Unsupported("MoreSpecific")),
        Ask::PossiblyMoreSpecific(..) => Err(NoAnswer::Unsupported("PossiblyMoreSpecific")),
        Ask::Unify(..) => Err(NoAnswer::Unsupported("Unify")),
        Ask::ProveEqual(..) => Err(NoAnswer::Unsupported("ProveEqual")),
        Ask::EvalDim(..) => Err(NoAnswer::Unsupported("EvalDim")),
        Ask::MatchValue(..) => Err(NoAnswer::Unsupported("MatchValue")),
        Ask::Parse(_) => Err(NoAnswer::Unsupported("Parse")),
        Ask::WellFormed(program) => Ok(Answer::Verdict(verdict(&well_formed::check(cx, &*read(program)?)))),
        Ask::NormalForm(_) => Err(NoAnswer::Unsupported("NormalForm")),
        Ask::Normalize(_) => Err(NoAnswer::Unsupported("Normalize")),
        Ask::TypeCheck(_) => Err(NoAnswer::Unsupported("TypeCheck")),
        Ask::Check(_) => Err(NoAnswer::Unsupported("Check")),
        Ask::DeriveFunction(..) => Err(NoAnswer::Unsupported("DeriveFunction")),
        Ask::DeriveVar(..) => Err(NoAnswer::Unsupported("DeriveVar")),
        Ask::DeriveCall(..) => Err(NoAnswer::Unsupported("DeriveCall")),
        Ask::Evaluate(..) => Err(NoAnswer::Unsupported("Evaluate")),
    }
}

/// The module of a question about a program.
fn read(program: &Program) -> Result<Cow<'_, IrModule>, NoAnswer> {
    match program {
        Program::Module(module) => Ok(Cow::Borrowed(module)),
        Program::Script(text) => match crate::syntax::tvmscript::parse_module(text) {
            Ok(module) => Ok(Cow::Owned(module)),
            Err(error) => Err(NoAnswer::Unreadable(error.to_string())),
        },
    }
}

/// The errors among the findings, as the rules broken.
fn verdict(findings: &[Diagnostic]) -> Verdict {
    let mut rules: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).map(|f| f.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    if rules.is_empty() { Verdict::Accepted } else { Verdict::Rejected(rules) }
}
