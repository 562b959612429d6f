//! `relax-spec errata`.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::{Value, json};

use super::{Exit, Failure, Outcome, print};
use crate::conformance::case::Ask;
use crate::conformance::outcome;
use crate::cx::{Cx, Reading};
use crate::erratum::{Erratum, ErratumInfo, ErratumKind};

/// Show the errata of the text: what it says literally, how it is corrected, and a witness in both readings
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec errata
  relax-spec errata A01
  relax-spec errata --json")]
pub struct Args {
    /// One erratum, told at length with derivations
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    let errata = match &args.id {
        Some(id) => vec![Erratum::from_str(id).map_err(Failure::unreadable)?],
        None => Erratum::ALL.to_vec(),
    };
    let mut out = String::new();
    for erratum in errata {
        match (args.json, &args.id) {
            (true, _) => {
                out.push_str(&(serde_json::to_string(&to_json(erratum)?).map_err(Failure::unreadable)? + "\n"))
            }
            (false, Some(_)) => out.push_str(&one(erratum)?),
            (false, None) => out.push_str(&line(erratum)?),
        }
    }
    print(&out)?;
    Ok(Exit::AsExpected)
}

fn info(erratum: Erratum) -> Result<ErratumInfo, Failure> {
    erratum.info().map_err(|error| Failure::unreadable(format!("spec/errata/{erratum}.ron: {error}")))
}

fn kind_name(kind: ErratumKind) -> &'static str {
    match kind {
        ErratumKind::Erratum => "erratum",
        ErratumKind::Ambiguity => "ambiguity",
        ErratumKind::Conflict => "conflict",
    }
}

fn line(erratum: Erratum) -> Result<String, Failure> {
    let info = info(erratum)?;
    Ok(format!("{:<4} {:<9}  {}\n", erratum.id(), kind_name(info.kind), info.title))
}

/// The witness in one reading.
struct Witness {
    outcome: outcome::Outcome,
    derivations: String,
}

fn witness(ask: &Ask, reading: Reading) -> Witness {
    let mut cx = Cx::new().with_reading(reading).with_trace();
    let outcome = outcome::Outcome::of_oracle(&mut cx, ask);
    let derivations = cx.take_derivations().iter().map(ToString::to_string).collect();
    Witness { outcome, derivations }
}

/// The witness in the literal and in the corrected reading; only this erratum is taken literally.
fn both(erratum: Erratum, ask: &Ask) -> (Witness, Witness) {
    (witness(ask, Reading::literal_only(&[erratum])), witness(ask, Reading::corrected()))
}

/// An erratum at length.
pub fn one(erratum: Erratum) -> Result<String, Failure> {
    let info = info(erratum)?;
    let mut out = String::new();
    let rules: Vec<&str> = info.rules.iter().map(|rule| rule.id()).collect();
    let _ = writeln!(out, "{erratum} ({}): {}\n", kind_name(info.kind), info.title);
    let _ = writeln!(out, "rules      {}", rules.join(", "));
    let _ = writeln!(out, "literal    {}", info.literal);
    let _ = writeln!(out, "corrected  {}", info.corrected);
    for alternative in &info.alternatives {
        let _ = writeln!(out, "also       {alternative}");
    }
    let Some(ask) = &info.witness else { return Ok(out) };
    let (literal, corrected) = both(erratum, ask);
    let _ = writeln!(out, "\nwitness    {ask}");
    let _ = writeln!(out, "literal    {}", literal.outcome);
    let _ = writeln!(out, "corrected  {}", corrected.outcome);
    for (name, witness) in [("literal", literal), ("corrected", corrected)] {
        let _ = writeln!(out, "\nderivation in the {name} reading:");
        witness.derivations.lines().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
    Ok(out)
}

fn to_json(erratum: Erratum) -> Result<Value, Failure> {
    let info = info(erratum)?;
    let mut value = json!({
        "id": info.id,
        "kind": kind_name(info.kind),
        "title": info.title,
        "rules": info.rules,
        "literal": info.literal,
        "corrected": info.corrected,
        "alternatives": info.alternatives,
        "witness": Value::Null,
    });
    if let Some(ask) = &info.witness {
        let (literal, corrected) = both(erratum, ask);
        let reply = |witness: &Witness| witness.outcome.to_reply().map_err(Failure::unreadable);
        value["witness"] = json!({
            "question": ask,
            "literal": reply(&literal)?,
            "corrected": reply(&corrected)?,
        });
    }
    Ok(value)
}
