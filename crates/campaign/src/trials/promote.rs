//! Turns a finding into a golden case: the oracle gives the expectation, and people write the reasons.

use super::path::Path;
use super::replay::{KeptError, StoredFinding};
use super::store::Finding;
use relax_spec::book::{Edition, Rule, RuleSet};
use relax_spec::data::{Write as _, ron};
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::ops::{self, Clauses};
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, ProgramInput, RunAnswer, Verdict};
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::coverage::execute;
use relax_spec::suite::read_cases;
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

/// How the reasons of a case begin that nobody has derived yet. The suite refuses such a case: the oracle's answer
/// alone is not an expectation.
pub const UNDERIVED: &str = "to be derived from the text";

/// Why a finding cannot become a case.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PromoteError {
    /// The finding cannot be read.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The semantics leaves the result open, so no implementation can be wrong.
    #[error("the text says nothing of it: {0}")]
    Open(String),
    /// The written case is not one that the oracle answers as expected.
    #[error("the case cannot be written: {0}")]
    Case(String),
}

/// The text of a file with the case.
pub fn promoted(finding: &Finding, id: &str) -> Result<String, PromoteError> {
    let (edition, kept) = (finding.edition, StoredFinding::of(finding)?);
    let (ask, question) = question_of(edition, &kept);
    let mut cx = Cx::new().with_edition(edition);
    let answer = oracle::answer(&mut cx, &ask).map_err(|error| PromoteError::Open(error.to_string()))?;
    if let Answer::Run(RunAnswer::OutOfFuel | RunAnswer::Unspecified) = answer {
        return Err(PromoteError::Open(answer.to_string()));
    }
    let rules = at_stake(finding, &answer, cx.recorded());
    let names: Vec<String> = rules.iter().map(|rule| format!("{:?}", rule.id())).collect();
    let message = finding.message.lines().next().unwrap_or_default();
    let text = format!(
        "// From a finding of `relax-spec fuzz`: {}, by {}.\n\
         // To be done: the rules at stake, and the derivation of the expectation from the text.\n\
         [\n    Case(\n        id: {id:?},\n        rules: [{}],\n        \
         editions: [{:?}],\n        ask: {},\n        allow: [{}],\n        why: {:?},\n    ),\n]\n",
        finding.signature,
        finding.implementation,
        names.join(", "),
        edition.name(),
        question,
        answer_text(&answer),
        format!("{UNDERIVED}; found as: {message}"),
    );
    is_answered_so(edition, &text).map(|()| text)
}

/// What the case asks about the program, and the same in RON, with the program as text where that says the same.
fn question_of(edition: Edition, kept: &StoredFinding) -> (Ask, String) {
    let (program, text) = (ProgramInput::Module(kept.module.clone()), program_text(&kept.module));
    let path = kept.paths.first();
    if path == Some(&Path::Normalize) {
        return (Ask::Normalize(program), format!("Normalize({text})"));
    }
    let input = if path.is_none_or(Path::runs) { kept.inputs(edition).into_iter().next() } else { None };
    // A draft, to be completed by hand.
    let Some(input) = input else { return (Ask::Check(program), format!("Check({text})")) };
    let values: Vec<String> = input.iter().map(|value| ron::write_pretty(&value.write())).collect();
    let text = format!("Evaluate({text}, {:?}, [{}])", kept.entry.to_string(), values.join(", "));
    (Ask::Evaluate(program, kept.entry.clone(), input), text)
}

/// The clauses that decide: those that a verdict or a failure names, else those of the operators, else all that were
/// applied.
fn at_stake(finding: &Finding, answer: &Answer, recorded: &RuleSet) -> Vec<Rule> {
    let named = rules_in(answer);
    let clauses = |name: &String| match ops::lookup(name).map(|op| op.clauses) {
        Some(Clauses::Tensor(clauses)) => vec![clauses.infer, clauses.value],
        Some(Clauses::Text) | None => Vec::new(),
    };
    let of_operators: Vec<Rule> =
        finding.operators.iter().flat_map(clauses).filter(|rule| recorded.contains(*rule)).collect();
    let all = || recorded.iter().collect();
    [named, of_operators].into_iter().find(|rules| !rules.is_empty()).unwrap_or_else(all)
}

/// The rules that a verdict or a failure names.
fn rules_in(answer: &Answer) -> Vec<Rule> {
    if let Answer::Verdict(Verdict::Rejected(rules)) = answer {
        return rules.clone();
    }
    if let Answer::Run(RunAnswer::Fails(rule, _)) = answer { vec![*rule] } else { Vec::new() }
}

fn answer_text(answer: &Answer) -> String {
    if let Answer::Program(module) = answer { program_text(module) } else { ron::write_pretty(&answer.write()) }
}

/// TVMScript if reading it gives the same program, else the tree.
fn program_text(module: &IrModule) -> String {
    let text = print_module(module, Dialect::default());
    match parse_module(&text) {
        Ok(read) if same_program(&read, module) && !text.contains("\"#") => {
            format!("Script(r#\"\n{}\n\"#)", text.trim())
        }
        Ok(_) | Err(_) => ron::write_pretty(&ProgramInput::Module(module.clone()).write()),
    }
}

fn is_answered_so(edition: Edition, text: &str) -> Result<(), PromoteError> {
    let cases = read_cases("case.ron", text).map_err(|error| PromoteError::Case(error.to_string()))?;
    for case in &cases {
        let comparison = execute(case, edition, RuleSet::new()).comparison;
        if comparison.verdict != CaseVerdict::Agree {
            return Err(PromoteError::Case(comparison.why.unwrap_or_else(|| comparison.verdict.to_string())));
        }
    }
    Ok(())
}
