//! `relax-spec export`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::terminal::remark;
use super::{Cli, CommandResult, Exit, Failure};
use ask::checkout::write_atomically;
use ask::conformance;
use relax_spec::book::Proposal;
use relax_spec::data::json::{to_value, value_of};
use relax_spec::data::{Document, NodeData};
use relax_spec::suite::Case;

/// The JSON Schema of the exported files. The schemas are not derived from types (as with `schemars`): the types of the
/// language have no serde implementations, and serde would use a different form. Instead, tests check the output
/// against the schemas.
const SCHEMA: &str = include_str!("suite.schema.json");

/// The JSON Schema of the output of each command with `--format json`.
const OF_COMMANDS: [(&str, &str); 7] = [
    ("check", include_str!("check.schema.json")),
    ("run", include_str!("run.schema.json")),
    ("judge", include_str!("judge.schema.json")),
    ("normalize", include_str!("normalize.schema.json")),
    ("migrate", include_str!("migrate.schema.json")),
    ("types", include_str!("types.schema.json")),
    ("refine", include_str!("refine.schema.json")),
];

/// Write the golden suite as JSON, for readers without RON, the JSON Schemas of what commands write, or manual pages
///
/// One file per chapter, DIR/CHAPTER.json, a list of cases; DIR/suite.schema.json describes it. Questions and answers
/// have the form of the adapter protocol. DIR/COMMAND.schema.json describes the output of COMMAND --format json.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  relax-spec export --json target/suite\n  relax-spec export --schemas target/schemas\n  relax-spec export --man target/man"
)]
#[group(required = true, multiple = true)]
pub struct Args {
    /// The directory to write the suite into
    #[arg(long = "json", value_name = "DIR")]
    suite: Option<PathBuf>,
    /// The directory to write the schemas of commands into
    #[arg(long, value_name = "DIR")]
    schemas: Option<PathBuf>,
    /// The directory to write a manual page for each command into, for `man`
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

pub fn run(args: &Args) -> CommandResult {
    if let Some(dir) = &args.schemas {
        for (command, schema) in OF_COMMANDS {
            write_atomically(&dir.join(format!("{command}.schema.json")), schema.as_bytes())?;
        }
        remark(&format!("wrote {} schemas to {}\n", OF_COMMANDS.len(), dir.display()));
    }
    if let Some(dir) = &args.man {
        fs::create_dir_all(dir)?;
        clap_mangen::generate_to(Cli::command(), dir)?;
        remark(&format!("wrote the manual pages to {}\n", dir.display()));
    }
    match &args.suite {
        Some(dir) => write_suite(dir),
        None => Ok(Exit::AsExpected),
    }
}

fn write_suite(dir: &Path) -> CommandResult {
    let suite = conformance::suite()?;
    let mut chapters: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for case in &suite {
        chapters.entry(case.chapter()).or_default().push(to_json(case));
    }
    for (chapter, cases) in &chapters {
        let text = serde_json::to_string_pretty(cases).map_err(Failure::unreadable)? + "\n";
        write_atomically(&dir.join(format!("{chapter}.json")), text.as_bytes())?;
    }
    write_atomically(&dir.join("suite.schema.json"), SCHEMA.as_bytes())?;
    remark(&format!(
        "wrote {} cases of {} chapters to {}, {}\n",
        suite.len(),
        chapters.len(),
        dir.display(),
        suite_hash(&suite)
    ));
    Ok(Exit::AsExpected)
}

/// A hash of cases, by which a report says what was asked: SHA-256 over their lines in JSON. It is the same for the
/// suite and for its export.
pub fn suite_hash(cases: &[Case]) -> String {
    let mut hash = Sha256::new();
    for case in cases {
        hash.update(to_json(case).to_string());
        hash.update("\n");
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// A case in JSON.
fn to_json(case: &Case) -> Value {
    let args = Document::new(NodeData::List(case.ask.arguments()).into());
    json!({
        "id": case.id,
        "rules": case.rules,
        "editions": case.editions.iter().map(|edition| edition.name()).collect::<Vec<&str>>(),
        "proposal": case.proposal.map(Proposal::name),
        "op": case.ask.op(),
        "args": value_of(&args),
        "allow": case.allow.iter().map(to_value).collect::<Vec<Value>>(),
        "literal": case.literal.as_ref().map(to_value),
        "erratum": case.erratum,
        "warnings": case.warnings,
        "as_text": case.as_text,
        "within": case.within.as_ref().map(to_value),
        "why": case.why,
    })
}
