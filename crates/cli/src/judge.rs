//! `relax-spec judge`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::budget::StepBudget;
use super::choice::{Choosing, JudgementChoice};
use super::options::ReportFormat;
use super::{CommandResult, Exit, Failure, options, print, print_json};
use ask::protocol::{self, AdapterReply, ProtocolError, ask_from_wire};
use ask::serve::next_line;
use relax_spec::book::{Basis, Erratum, ErratumSet, Proposal, Reading};
use relax_spec::data::{self, FromData, Node, NodeData};
use relax_spec::grammar::source::SyntaxError;
use relax_spec::grammar::{PrimExpr, ShapeVar, StructInfo, Type, Var, in_words, notation, visible};
use relax_spec::judge::{Cx, GlbPurity, Proof, Prover};
use relax_spec::oracle;
use relax_spec::question::{self as questions, Answer, Ask, RunAnswer};

/// Ask one judgement on types, structural information or dimensions
///
/// Operands have a short notation: types `Tensor(2, float32)`, `Shape(-1)`, `Func((Object) -> Object, pure)`;
/// structural information `Tensor((n, 4), float32)`, `Tensor(ndim=2, float32)`, `Shape((n + 1))`; dimensions `n + 1`,
/// `min(n, 4)`; the annotations of TVMScript, `R.Tensor(("n", 4), "float32")`, and RON or JSON as in cases are read as
/// well. If an erratum changes the answer and no reading is chosen, both answers are shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec judge unify 'Tensor((n, 4), float32)' 'Tensor((m, 4), float32)'
  relax-spec judge compat 'Tensor((n), float32)' 'Tensor((3), float32)' --explain
  relax-spec judge subtype 'Tensor(2, float32)' 'Tensor(-1, float32)'
  relax-spec judge erase-wd 'Tensor((n, m), float32)' --shape-vars n
  relax-spec judge equal 'n * (n + 1)' 'n * n + n' --prover alpha
  printf 'Object; Shape(2)\\n' | relax-spec judge lub --stdin
  printf '{\"op\": \"lub\", \"args\": [\"Object\", \"PackedFunc\"]}\\n' | relax-spec judge --stdin")]
pub struct Args {
    #[arg(required_unless_present = "stdin")]
    judgement: Option<Judgement>,
    #[arg(value_name = "OPERAND", allow_negative_numbers = true)]
    operands: Vec<String>,
    /// Read questions from standard input, one a line: JSON objects with the `op` and `args` of the adapter protocol,
    /// each answered by a JSON object; or, if a judgement is named, its operands separated by `;`
    #[arg(long, conflicts_with = "operands")]
    stdin: bool,
    /// Show the derivation: rules, premises and judgements asked on the way
    #[arg(long)]
    explain: bool,
    /// As JSON the answer has the form of the adapter protocol
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// How much the prover of equal dimensions knows: alpha, algebraic or exhaustive
    #[arg(long, default_value = "algebraic", value_parser = options::prover)]
    prover: Prover,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    surroundings: Surroundings,
    /// glb, lub: the purity of the bound of a pure and an impure function: `min`, or `literal` for no bound (A27)
    #[arg(long, value_name = "PURITY", value_parser = options::glb_purity, default_value = "literal")]
    glb_purity: GlbPurity,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Judgement {
    /// S: the type that structural information erases to
    Erase,
    /// T1 T2: is T1 a subtype of T2?
    Subtype,
    /// T1 T2: least upper bound
    Lub,
    /// T1 T2: greatest lower bound, if there is one
    Glb,
    /// T: the structural information of a type
    Wrap,
    /// S1 S2: may a value of S1 be passed where S2 is expected?
    Compat,
    /// S1 S2: the join of two pieces of structural information
    Unify,
    /// S: erasure to what is well-defined with the variables in scope
    EraseWd,
    /// S1 S2: the shape variables of S1 bound by matching S2
    Map,
    /// S1 S2: is S1 at least as specific as S2, definitely?
    Order,
    /// S1 S2: is S1 at least as specific as S2, possibly?
    PossibleOrder,
    /// E1 E2: are two dimensions equal?
    Equal,
    /// E: the value of a dimension
    Eval,
    /// S A1 .. An: the structural information of a call of S with arguments Ai
    Derive,
}

impl Judgement {
    /// The judgement of a name on the command line. The parser of that would make all names and helps for each
    /// question.
    fn named(name: &str) -> Option<Judgement> {
        Some(match name {
            "erase" => Judgement::Erase,
            "subtype" => Judgement::Subtype,
            "lub" => Judgement::Lub,
            "glb" => Judgement::Glb,
            "wrap" => Judgement::Wrap,
            "compat" => Judgement::Compat,
            "unify" => Judgement::Unify,
            "erase-wd" => Judgement::EraseWd,
            "map" => Judgement::Map,
            "order" => Judgement::Order,
            "possible-order" => Judgement::PossibleOrder,
            "equal" => Judgement::Equal,
            "eval" => Judgement::Eval,
            "derive" => Judgement::Derive,
            _ => return None,
        })
    }
}

pub fn run(args: &Args) -> CommandResult {
    // A question is not a file, so the choice of the current directory applies.
    let choice = &args.choosing.without_module(Path::new("-"))?;
    if !args.stdin {
        return one(args, choice, &asked(args, &args.operands)?);
    }
    let mut worst = Exit::AsExpected;
    let (mut stdin, mut number) = (std::io::stdin().lock(), 0);
    while let Some(line) = next_line(&mut stdin)? {
        number += 1;
        let at_line = |failure: Failure| Failure { message: format!("line {number}: {}", failure.message), ..failure };
        let exit = match line.trim() {
            "" => continue,
            text if text.starts_with('{') => json_question(args, choice, text),
            text => {
                let operands: Vec<String> = text.split(';').map(|operand| operand.trim().to_string()).collect();
                asked(args, &operands).and_then(|ask| one(args, choice, &ask))
            }
        };
        worst = worst.max(exit.map_err(at_line)?);
    }
    Ok(worst)
}

/// A question in the form of the protocol, `{"id": .., "op": .., "args": [..]}`, answered with the same id.
fn json_question(args: &Args, choice: &JudgementChoice, text: &str) -> CommandResult {
    let unreadable = |error: ProtocolError| Failure::unreadable(error);
    let value = protocol::parse_json(text).map_err(unreadable)?;
    let op = value.get("op").and_then(Node::as_text).ok_or_else(|| Failure::unreadable("a question has an `op`"))?;
    let none = Node::from(NodeData::List(Vec::new()));
    let ask = ask_from_wire(op, value.get("args").unwrap_or(&none)).map_err(unreadable)?;
    let (outcome, others) = ask_both(args, choice, &ask);
    let mut reply = to_json(choice, &outcome.0, &others);
    if let Some(id) = value.get("id") {
        reply["id"] = data::json::value_of(id);
    }
    print_json(&reply)?;
    Ok(exit(&outcome.0))
}

/// An outcome with its derivations.
type OutcomeDerivation = (questions::Outcome, String);

/// The answer in the requested reading. Without one, also the effect of taking single errata literally.
fn ask_both(
    args: &Args,
    choice: &JudgementChoice,
    ask: &Ask,
) -> (OutcomeDerivation, Vec<(Erratum, questions::Outcome, String)>) {
    let context = |reading: Reading| context(args, choice.basis(), reading);
    if let Some(reading) = choice.chosen_reading() {
        return (answer(&mut context(reading.clone()), ask), Vec::new());
    }
    let mut cx = context(Reading::corrected());
    let corrected = answer(&mut cx, ask);
    let others = changed_by(&context, ask, &corrected.0, cx.errata_asked_after());
    (corrected, others)
}

fn one(args: &Args, choice: &JudgementChoice, ask: &Ask) -> CommandResult {
    let ((outcome, derivations), others) = ask_both(args, choice, ask);
    if args.json || args.format == ReportFormat::Json {
        print_json(&to_json(choice, &outcome, &others))?;
    } else {
        print(&in_the_askers_words(ask, to_text(args, choice, ask, &outcome, &derivations, &others)))?;
    }
    Ok(exit(&outcome))
}

/// Variable numbers are shown only if the question uses them.
fn in_the_askers_words(ask: &Ask, text: String) -> String {
    if ask.to_string().contains('#') { text } else { in_words(text) }
}

/// An answer, whatever it says, is as expected. That the prover or a run reaches no conclusion is none.
fn exit(outcome: &questions::Outcome) -> Exit {
    match outcome {
        questions::Outcome::Answer {
            answer: Answer::Proof(Proof::Unknown) | Answer::Run(RunAnswer::OutOfFuel),
            ..
        } => Exit::StoppedEarly,
        questions::Outcome::Answer { .. } => Exit::AsExpected,
        questions::Outcome::Rejected { .. }
        | questions::Outcome::Trapped { .. }
        | questions::Outcome::Unsupported { .. }
        | questions::Outcome::InternalError { .. }
        | questions::Outcome::Crash { .. }
        | questions::Outcome::Timeout { .. }
        | questions::Outcome::ProtocolError { .. }
        | questions::Outcome::Flaky { .. } => Exit::Findings,
    }
}

fn context(args: &Args, basis: Basis, reading: Reading) -> Cx {
    let cx = args.budget.cx().with_edition(basis).with_prover(args.prover).with_reading(reading);
    let mut cx = if args.explain { cx.with_trace() } else { cx };
    cx.glb_purity = args.glb_purity;
    cx
}

fn answer(cx: &mut Cx, ask: &Ask) -> OutcomeDerivation {
    let outcome = oracle::outcome(cx, ask);
    (outcome, cx.take_derivations().iter().map(ToString::to_string).collect())
}

/// The errata that change the answer if taken literally alone, without those that change every other answer. Only
/// errata that the question consulted can have an effect.
fn changed_by(
    context: &dyn Fn(Reading) -> Cx,
    ask: &Ask,
    corrected: &questions::Outcome,
    asked_after: ErratumSet,
) -> Vec<(Erratum, questions::Outcome, String)> {
    let alone = |erratum: Erratum| {
        let (outcome, derivations) = answer(&mut context(Reading::literal_only(&[erratum])), ask);
        (erratum, outcome, derivations)
    };
    let shown = asked_after.iter().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum));
    shown.map(alone).filter(|(_, outcome, _)| outcome != corrected).collect()
}

fn to_text(
    args: &Args,
    choice: &JudgementChoice,
    ask: &Ask,
    outcome: &questions::Outcome,
    derivations: &str,
    others: &[(Erratum, questions::Outcome, String)],
) -> String {
    let mut text = if args.stdin { format!("{ask} = {outcome}\n") } else { format!("{outcome}\n") };
    if let Some((proposal, without)) = without_proposal(args, choice, ask, outcome) {
        let edition = choice.edition;
        text.push_str(&format!("under the proposal {proposal}; by edition {edition} alone: {without}\n"));
    }
    if args.explain {
        text.push_str(&format!("\n{derivations}"));
    }
    for (erratum, outcome, derivations) in others {
        let title = erratum.info().map(|info| info.title).unwrap_or_default();
        text.push_str(&format!("literal text ({erratum}: {title}): {outcome}\n"));
        if args.explain {
            text.push_str(&format!("\n{derivations}"));
        }
    }
    text
}

/// The answer of the edition alone, if a proposal is active and changes the answer.
fn without_proposal(
    args: &Args,
    choice: &JudgementChoice,
    ask: &Ask,
    outcome: &questions::Outcome,
) -> Option<(Proposal, questions::Outcome)> {
    let proposal = choice.proposal?;
    let (without, _) = answer(&mut context(args, choice.without_proposal().basis(), choice.reading()), ask);
    (without != *outcome).then_some((proposal, without))
}

fn to_json(
    choice: &JudgementChoice,
    outcome: &questions::Outcome,
    others: &[(Erratum, questions::Outcome, String)],
) -> Value {
    let reply = |outcome| data::json::to_value(&AdapterReply::of(outcome));
    let literal = others.iter().map(|(erratum, outcome, _)| (erratum.id().to_string(), reply(outcome))).collect();
    let mut value = reply(outcome);
    value["literal"] = Value::Object(literal);
    if let Some(proposal) = choice.proposal {
        value["proposal"] = proposal.name().into();
    }
    value
}

/// An operand of a judgement.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// In one of the notations of the command line.
    Text(&'a str),
    /// Structural information that has been read before.
    Info(&'a StructInfo),
}

/// The question of a judgement by its name.
///
/// # Errors
///
/// The message for people, if there is no such judgement, or an operand is not what it takes.
pub fn question(name: &str, operands: &[Operand<'_>]) -> Result<Ask, String> {
    let judgement = Judgement::named(name).ok_or_else(|| format!("there is no judgement `{}`", visible(name)))?;
    question_of(judgement, operands, &Surroundings::default()).map_err(|failure| failure.message)
}

/// What a question needs beside its operands.
#[derive(Clone, Default, Debug, clap::Args)]
struct Surroundings {
    /// erase-wd: the variables in scope, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    vars: Vec<String>,
    /// erase-wd: the shape variables in scope, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    shape_vars: Vec<String>,
    /// derive: the call's `sinfo_args`
    #[arg(long, value_name = "SINFO")]
    sinfo_args: Vec<String>,
    /// eval: the values of shape variables, as n=3
    #[arg(long = "let", value_name = "VAR=N")]
    bindings: Vec<String>,
}

fn asked(args: &Args, operands: &[String]) -> Result<Ask, Failure> {
    let judgement = args.judgement.ok_or_else(|| Failure::unreadable("name a judgement, or ask in JSON"))?;
    question_of(judgement, &operands.iter().map(|text| Operand::Text(text)).collect::<Vec<_>>(), &args.surroundings)
}

fn question_of(judgement: Judgement, operands: &[Operand<'_>], args: &Surroundings) -> Result<Ask, Failure> {
    Ok(match (judgement, operands) {
        (Judgement::Erase, [s]) => Ask::Erase(struct_info(*s)?),
        (Judgement::Subtype, [t1, t2]) => Ask::Subtype(ty(*t1)?, ty(*t2)?),
        (Judgement::Lub, [t1, t2]) => Ask::Lub(ty(*t1)?, ty(*t2)?),
        (Judgement::Glb, [t1, t2]) => Ask::Glb(ty(*t1)?, ty(*t2)?),
        (Judgement::Wrap, [t]) => Ask::Wrap(ty(*t)?),
        (Judgement::Compat, [s1, s2]) => Ask::Compatibility(struct_info(*s1)?, struct_info(*s2)?),
        (Judgement::Unify, [s1, s2]) => Ask::Unify(struct_info(*s1)?, struct_info(*s2)?),
        (Judgement::Map, [s1, s2]) => Ask::ShapeVarMapping(struct_info(*s1)?, struct_info(*s2)?),
        (Judgement::Order, [s1, s2]) => Ask::MoreSpecific(struct_info(*s1)?, struct_info(*s2)?),
        (Judgement::PossibleOrder, [s1, s2]) => Ask::PossiblyMoreSpecific(struct_info(*s1)?, struct_info(*s2)?),
        (Judgement::Equal, [e1, e2]) => Ask::ProveEqual(dimension(*e1)?, dimension(*e2)?),
        (Judgement::Eval, [e]) => Ask::EvalDim(dimension(*e)?, sizes(&args.bindings)?),
        (Judgement::EraseWd, [s]) => {
            let var = |name: &String| Var::parse(name).ok_or_else(|| not_a("variable", name));
            let shape_var = |name: &String| ShapeVar::parse(name).ok_or_else(|| not_a("shape variable", name));
            let vars = args.vars.iter().map(var).collect::<Result<Vec<Var>, Failure>>()?;
            let shape_vars = args.shape_vars.iter().map(shape_var).collect::<Result<Vec<ShapeVar>, Failure>>()?;
            Ask::EraseToWellDefined(struct_info(*s)?, vars, shape_vars)
        }
        (Judgement::Derive, [callee, call_args @ ..]) => {
            let all =
                |operands: &[Operand<'_>]| operands.iter().map(|s| struct_info(*s)).collect::<Result<Vec<_>, _>>();
            let sinfo_args = args.sinfo_args.iter().map(|text| struct_info(Operand::Text(text)));
            Ask::DeriveCall(struct_info(*callee)?, all(call_args)?, sinfo_args.collect::<Result<Vec<_>, _>>()?)
        }
        (_, given) => return Err(Failure::unreadable(wrong_count(judgement, given.len()))),
    })
}

fn wrong_count(judgement: Judgement, given: usize) -> String {
    let value = clap::ValueEnum::to_possible_value(&judgement);
    let help = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string).unwrap_or_default();
    let name = value.as_ref().map_or("", |value| value.get_name());
    format!("`judge {name}` does not take {given} operands; {name} {help}")
}

fn not_a(what: &str, text: &str) -> Failure {
    Failure::unreadable(format!("`{text}` is not a {what}"))
}

fn sizes(bindings: &[String]) -> Result<BTreeMap<ShapeVar, i64>, Failure> {
    let size = |text: &String| {
        let (name, value) = text.split_once('=')?;
        Some((ShapeVar::parse(name.trim())?, value.trim().parse().ok()?))
    };
    bindings.iter().map(|text| size(text).ok_or_else(|| not_a("binding (n=3)", text))).collect()
}

fn struct_info(given: Operand<'_>) -> Result<StructInfo, Failure> {
    match given {
        Operand::Text(text) => operand("structural information", text, notation::parse_struct_info),
        Operand::Info(info) => Ok(info.clone()),
    }
}

fn ty(given: Operand<'_>) -> Result<Type, Failure> {
    operand("type", &as_text(given), notation::parse_type)
}

fn dimension(given: Operand<'_>) -> Result<PrimExpr, Failure> {
    operand("dimension", &as_text(given), notation::parse_prim_expr)
}

/// What an operand is called where it is not what is asked for. Some structural information is written as a type is.
fn as_text(given: Operand<'_>) -> Cow<'_, str> {
    match given {
        Operand::Text(text) => text.into(),
        Operand::Info(info) => data::json::write(&data::Write::write(info)).into(),
    }
}

/// An operand in mathematical notation, in the form of suite files (RON), or in that of the adapter protocol (JSON).
/// The error is that of the mathematical notation.
fn operand<T: FromData>(what: &str, text: &str, on_paper: fn(&str) -> Result<T, SyntaxError>) -> Result<T, Failure> {
    // No other notation begins like an object of JSON.
    if let Some(read) = text.starts_with('{').then(|| data::from_json(text).ok()).flatten() {
        return Ok(read);
    }
    on_paper(text).or_else(|error| {
        let message = || Failure::unreadable(format!("`{text}` is not a {what}: {error}"));
        data::from_ron(text).or_else(|_| data::from_json(text)).map_err(|_| message())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_have_the_names_of_the_command_line() {
        for judgement in <Judgement as clap::ValueEnum>::value_variants() {
            let value = clap::ValueEnum::to_possible_value(judgement).unwrap();
            assert!(Judgement::named(value.get_name()) == Some(*judgement), "{}", value.get_name());
        }
    }
}
