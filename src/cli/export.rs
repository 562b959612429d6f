//! `relax-spec export`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Exit, Failure, Outcome};
use crate::data::json::{to_value, value_of};
use crate::data::{Data, Document};
use crate::harness::checkout::write_atomically;
use crate::suite::{Case, embedded_suite};

/// The JSON Schema of the exported files.
const SCHEMA: &str = include_str!("suite.schema.json");

/// Write the golden suite as JSON, with a JSON Schema, for readers without RON
///
/// One file a chapter, DIR/CHAPTER.json, a list of cases; DIR/suite.schema.json describes it. Questions and answers have
/// the form of the adapter protocol.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  relax-spec export --json target/suite")]
pub struct Args {
    /// The directory to write into
    #[arg(long = "json", value_name = "DIR")]
    dir: PathBuf,
}

pub fn run(args: &Args) -> Outcome {
    let suite = embedded_suite()?;
    let mut chapters: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for case in &suite {
        chapters.entry(case.chapter()).or_default().push(to_json(case));
    }
    for (chapter, cases) in &chapters {
        let text = serde_json::to_string_pretty(cases).map_err(Failure::unreadable)? + "\n";
        write_atomically(&args.dir.join(format!("{chapter}.json")), text.as_bytes())?;
    }
    write_atomically(&args.dir.join("suite.schema.json"), SCHEMA.as_bytes())?;
    eprintln!("wrote {} cases of {} chapters to {}", suite.len(), chapters.len(), args.dir.display());
    Ok(Exit::AsExpected)
}

/// A case in JSON.
fn to_json(case: &Case) -> Value {
    let args = Document::new(Data::List(case.ask.arguments()).into());
    json!({
        "id": case.id,
        "rules": case.rules,
        "editions": case.editions,
        "op": case.ask.op(),
        "args": value_of(&args),
        "allow": case.allow.iter().map(to_value).collect::<Vec<Value>>(),
        "literal": case.literal.as_ref().map(to_value),
        "erratum": case.erratum,
        "warnings": case.warnings,
        "as_text": case.as_text,
        "why": case.why,
    })
}
