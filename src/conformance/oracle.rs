//! The oracle behind the questions: one arm per question, each naming the judgement that answers it.

use std::borrow::Cow;

use super::case::{Answer, Ask, Program, Verdict};
use crate::cx::Cx;
use crate::diagnostic::{Diagnostic, Severity};
use crate::eval;
use crate::grammar::IrModule;
use crate::struct_info::{self, InScope, Nowhere};
use crate::{normal_form, shape, types, well_formed};

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
        Ask::Subtype(t1, t2) => Ok(Answer::Bool(types::is_subtype(cx, t1, t2))),
        Ask::Glb(t1, t2) => Ok(Answer::OptionType(types::find_glb(cx, t1, t2))),
        Ask::Lub(t1, t2) => Ok(Answer::Type(types::find_lub(cx, t1, t2))),
        Ask::Erase(s) => Ok(Answer::Type(types::erase_struct_info(cx, s))),
        Ask::Wrap(t) => Ok(Answer::StructInfo(struct_info::wrap_type(cx, t))),
        Ask::EraseToWellDefined(s, vars, shape_vars) => {
            Ok(Answer::StructInfo(struct_info::erase_to_well_defined(cx, s, &InScope::new(vars, shape_vars))))
        }
        Ask::ShapeVarMapping(s1, s2) => Ok(Answer::Mapping(struct_info::get_shape_var_mapping(cx, s1, s2, &Nowhere))),
        Ask::Compatibility(s1, s2) => Ok(Answer::Compatibility(struct_info::check_compatibility(cx, s1, s2))),
        Ask::MoreSpecific(s1, s2) => Ok(Answer::Bool(struct_info::is_more_specific(cx, s1, s2))),
        Ask::PossiblyMoreSpecific(s1, s2) => Ok(Answer::Bool(struct_info::is_possibly_more_specific(cx, s1, s2))),
        Ask::Unify(s1, s2) => Ok(Answer::StructInfo(struct_info::unify_struct_info(cx, s1, s2))),
        Ask::ProveEqual(a, b) => Ok(Answer::Proof(shape::prove_equal(cx, a, b))),
        Ask::EvalDim(e, sizes) => Ok(Answer::Dim(shape::evaluate(cx, e, &|v| sizes.get(v).copied()).into())),
        Ask::MatchValue(v, s, sigma) => eval::answer_match_value(cx, v, s, sigma).map(Answer::Match),
        Ask::Parse(_) => Err(NoAnswer::Unsupported("Parse")),
        Ask::WellFormed(program) => Ok(Answer::Verdict(verdict(&well_formed::check(cx, &*read(program)?)))),
        Ask::NormalForm(program) => Ok(Answer::Verdict(verdict(&normal_form::check(cx, &*read(program)?)))),
        Ask::Normalize(program) => normal(normal_form::normalize_reporting(cx, &*read(program)?)),
        Ask::TypeCheck(_) => Err(NoAnswer::Unsupported("TypeCheck")),
        Ask::Check(_) => Err(NoAnswer::Unsupported("Check")),
        Ask::DeriveFunction(..) => Err(NoAnswer::Unsupported("DeriveFunction")),
        Ask::DeriveVar(..) => Err(NoAnswer::Unsupported("DeriveVar")),
        Ask::DeriveCall(..) => Err(NoAnswer::Unsupported("DeriveCall")),
        Ask::Evaluate(program, entry, args) => {
            eval::answer_evaluate(cx, &*read(program)?, entry, args).map(Answer::Run)
        }
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

/// A program that is malformed has no normal form.
fn normal(normalized: normal_form::Normalized) -> Result<Answer, NoAnswer> {
    match normalized.findings.first() {
        None => Ok(Answer::Program(normalized.module)),
        Some(finding) => Err(NoAnswer::Unreadable(format!("{}: {}", finding.code(), finding.message))),
    }
}

/// The errors among the findings, as the rules broken.
fn verdict(findings: &[Diagnostic]) -> Verdict {
    let mut rules: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).map(|f| f.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    if rules.is_empty() { Verdict::Accepted } else { Verdict::Rejected(rules) }
}
