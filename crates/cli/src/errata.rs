//! `relax-spec errata`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::errata_text::{field, fold, told_apart};
use super::{CommandResult, Exit, Failure, conflicts, options, print};
use ask::protocol::AdapterReply;
use relax_spec::book::erratum::{ErratumFate, ErratumInfo, ErratumKind, ErratumWitness};
use relax_spec::book::{Erratum, Proposal, Reading, Rule};
use relax_spec::data;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{self, Answer, Ask, ProgramInput};
use relax_spec::suite::{Witness, witness};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// Show the errata of the text: what it says literally, how it is corrected, and a witness in both readings
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec errata
  relax-spec errata A01
  relax-spec errata E33            # the erratum that this id of the second reading names
  relax-spec errata --json")]
pub struct Args {
    /// One erratum in detail, with derivations
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Only those of this proposal
    #[arg(long, value_name = "NAME", value_parser = options::proposal, conflicts_with = "id")]
    proposal: Option<Proposal>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> CommandResult {
    if let Some(conflict) = args.id.as_deref().filter(|_| !args.json).and_then(conflicts::one) {
        print(&conflict)?;
        return Ok(Exit::AsExpected);
    }
    let errata = match &args.id {
        Some(id) => Erratum::named(id).map_err(Failure::unreadable)?,
        None => Erratum::ALL.to_vec(),
    };
    let errata = match args.proposal {
        Some(proposal) => of_proposal(&errata, proposal)?,
        None => errata,
    };
    let mut told = Vec::with_capacity(errata.len());
    for erratum in errata {
        told.push(match (args.json, &args.id) {
            (true, _) => serde_json::to_string(&to_json(erratum)?).map_err(Failure::unreadable)? + "\n",
            (false, Some(_)) => relax_spec::grammar::in_words(one(erratum)?),
            (false, None) => line(erratum)?,
        });
    }
    print(&told.join(if args.id.is_some() && !args.json { "\n" } else { "" }))?;
    Ok(Exit::AsExpected)
}

/// The errata that concern rules of a proposal.
fn of_proposal(errata: &[Erratum], proposal: Proposal) -> Result<Vec<Erratum>, Failure> {
    let mut found = Vec::new();
    for erratum in errata {
        if info(*erratum)?.rules.iter().any(|rule| rule.info().proposal == Some(proposal.name())) {
            found.push(*erratum);
        }
    }
    Ok(found)
}

fn info(erratum: Erratum) -> Result<ErratumInfo, Failure> {
    erratum.info().map_err(|error| Failure::unreadable(format!("spec/errata/{erratum}.ron: {error}")))
}

fn witness_of(info: &ErratumInfo) -> Result<Option<Witness>, Failure> {
    witness(info).map_err(|error| Failure::unreadable(format!("spec/errata/{}.ron, witness: {error}", info.id)))
}

fn kind_name(kind: ErratumKind) -> &'static str {
    match kind {
        ErratumKind::Erratum => "erratum",
        ErratumKind::Ambiguity => "ambiguity",
        ErratumKind::Conflict => "conflict",
        ErratumKind::Typography => "typography",
    }
}

/// The state of the erratum in a later edition.
fn later_name(later: ErratumFate) -> &'static str {
    match later {
        ErratumFate::Still => "still there",
        ErratumFate::Worse => "still there, and more of it",
        ErratumFate::Part => "repaired in part",
        ErratumFate::Fixed => "repaired",
        ErratumFate::Moot => "gone with what it was about",
        ErratumFate::Apart => "no matter of editions",
    }
}

fn line(erratum: Erratum) -> Result<String, Failure> {
    let info = info(erratum)?;
    Ok(format!("{:<4} {:<10}  {}\n", erratum.id(), kind_name(info.kind), info.title))
}

/// The witness in one reading.
struct WitnessRun {
    outcome: question::Outcome,
    derivation: Vec<String>,
}

fn run_witness(witness: &Witness, reading: Reading) -> WitnessRun {
    let ask = &witness.ask;
    let mut cx = Cx::new().with_edition(witness.basis).with_reading(reading).with_trace();
    let mut outcome = None;
    // A question about a program is not a judgement by itself. As one, it shows the rules that it uses.
    let shown = cx.judge(
        "answer",
        || vec![ask.to_string()],
        |cx| {
            let answer = oracle::outcome(cx, ask);
            let shown = answer.to_string();
            outcome = Some(answer);
            shown
        },
    );
    let outcome = outcome.unwrap_or(question::Outcome::InternalError { message: shown });
    let trees = cx.take_derivations().into_iter().map(|tree| tree.unwrapped().to_string());
    WitnessRun {
        outcome,
        derivation: trees.flat_map(|tree| tree.lines().map(str::to_string).collect::<Vec<_>>()).collect(),
    }
}

/// The witness in the literal and in the corrected reading. Only this erratum is taken literally.
fn both(erratum: Erratum, witness: &Witness) -> (WitnessRun, WitnessRun) {
    (run_witness(witness, Reading::literal_only(&[erratum])), run_witness(witness, Reading::corrected()))
}

/// An erratum in full.
pub fn one(erratum: Erratum) -> Result<String, Failure> {
    let info = info(erratum)?;
    let also = if info.also.is_empty() { String::new() } else { format!(", also {}", info.also.join(", ")) };
    let mut out = format!("{erratum} ({}{also}): {}\n", kind_name(info.kind), info.title);
    info.rules.iter().for_each(|rule| clause(&mut out, *rule));
    out.push('\n');
    field(&mut out, "literal", &info.literal);
    field(&mut out, "corrected", &info.corrected);
    info.alternatives.iter().for_each(|alternative| field(&mut out, "or else", alternative));
    info.later.iter().for_each(|(edition, fate)| field(&mut out, edition.name(), later_name(*fate)));
    if !info.heirs.is_empty() {
        let heirs: Vec<&str> = info.heirs.iter().map(|heir| heir.id()).collect();
        field(&mut out, "goes on", &heirs.join(", "));
    }
    if let Some(witness) = witness_of(&info)? {
        show(&mut out, erratum, &witness);
    }
    if let ErratumWitness::Not(reason) = &info.shown {
        field(&mut out, "unseen", reason);
    }
    Ok(out)
}

/// The clause in question, as the book states it.
fn clause(out: &mut String, rule: Rule) {
    let info = rule.info();
    let _ = writeln!(out, "\n{rule} ({}, source {})", info.file, info.source);
    for paragraph in info.text.split("\n\n") {
        let _ = writeln!(out, "{}", fold(&paragraph.replace('\n', " "), "    "));
    }
}

fn show(out: &mut String, erratum: Erratum, witness: &Witness) {
    let (literal, corrected) = both(erratum, witness);
    out.push('\n');
    field(out, "witness", &witness.ask.to_string());
    witness.basis.proposal().iter().for_each(|proposal| field(out, "", &format!("under the proposal {proposal}")));
    programs_of(&witness.ask).iter().for_each(|text| listing(out, text));
    answer(out, "literal", &literal.outcome);
    answer(out, "corrected", &corrected.outcome);
    let derivations = [("literal", &literal, &corrected), ("corrected", &corrected, &literal)];
    for (name, here, there) in derivations {
        let _ = writeln!(out, "\nderivation in the {name} reading:");
        told_apart(&here.derivation, &there.derivation).iter().for_each(|line| {
            let _ = writeln!(out, "{line}");
        });
    }
}

/// The answer of one reading, with its warnings and its program.
pub(super) fn answer(out: &mut String, reading: &str, outcome: &question::Outcome) {
    let mut text = outcome.to_string();
    let mut program = None;
    if let question::Outcome::Answer { answer, warnings } = outcome {
        let rules: Vec<&str> = warnings.iter().flatten().map(|rule| rule.id()).collect();
        if !rules.is_empty() {
            let _ = write!(text, ", with a warning by {}", rules.join(", "));
        }
        if let Answer::Program(module) = answer {
            program = Some(script(module));
        }
    }
    field(out, reading, &text);
    program.iter().for_each(|text| listing(out, text));
}

/// The programs of a question, as text.
pub(super) fn programs_of(ask: &Ask) -> Vec<String> {
    let text = |program: &ProgramInput| match program {
        ProgramInput::Script(text) => text.trim().to_string(),
        ProgramInput::Module(module) => script(module),
    };
    ask.programs().into_iter().map(text).collect()
}

/// A module as text, without the comment about imports.
fn script(module: &IrModule) -> String {
    let text = print_module(module, Dialect::default());
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<&str>>().join("\n").trim().to_string()
}

pub(super) fn listing(out: &mut String, text: &str) {
    text.lines().for_each(|line| {
        let _ = writeln!(out, "    {line}");
    });
}

fn to_json(erratum: Erratum) -> Result<Value, Failure> {
    let info = info(erratum)?;
    let mut value = json!({
        "id": info.id,
        "kind": kind_name(info.kind),
        "title": info.title,
        "also": info.also,
        "rules": info.rules,
        "literal": info.literal,
        "corrected": info.corrected,
        "alternatives": info.alternatives,
        "later": info.later.iter().map(|(edition, fate)| (edition.name().to_string(), json!(fate))).collect::<serde_json::Map<_, _>>(),
        "heirs": info.heirs,
        "witness": Value::Null,
        "unseen": Value::Null,
    });
    if let Some(witness) = witness_of(&info)? {
        let (literal, corrected) = both(erratum, &witness);
        let reply = |run: &WitnessRun| data::json::to_value(&AdapterReply::of(&run.outcome));
        value["witness"] = json!({
            "question": data::json::to_value(&witness.ask),
            "literal": reply(&literal),
            "corrected": reply(&corrected),
        });
    }
    if let ErratumWitness::Not(reason) = &info.shown {
        value["unseen"] = json!(reason);
    }
    Ok(value)
}
