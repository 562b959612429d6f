//! `relax-spec normalize`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::budget::StepBudget;
use super::choice::Choosing;
use super::convert::OutputTarget;
use super::options::ReportFormat;
use super::{CommandResult, Exit, input, render};
use relax_spec::data::json::value_of;
use relax_spec::data::to_document;
use relax_spec::normal_form::normalize_reporting;

/// Write an equivalent program in normal form
///
/// Malformed parts are left as they are, reported on standard error, and give exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec normalize model.py
  relax-spec normalize model.json --to json")]
pub struct Args {
    /// TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    selected: input::Selected,
    #[command(flatten)]
    target: OutputTarget,
    /// As JSON: the program and its malformed parts, in one object
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.selected.module.as_deref())?;
    let choice = args.choosing.for_module(&args.file, &source, &module)?;
    let normalized = normalize_reporting(&mut choice.cx(args.budget.cx()), &module);
    match args.format {
        ReportFormat::Human => {
            args.target.write(&normalized.module)?;
            render::tell_all(&source, choice.edition, &normalized.findings);
        }
        ReportFormat::Json => {
            let finding = |finding| render::finding_json(&source, "", finding);
            let report = json!({
                "file": source.name,
                "program": value_of(&to_document(&normalized.module)),
                "text": args.target.text(&normalized.module),
                "findings": normalized.findings.iter().map(finding).collect::<Vec<Value>>(),
            });
            args.target.put(&format!("{report}\n"))?;
        }
    }
    Ok(if normalized.findings.is_empty() { Exit::AsExpected } else { Exit::Findings })
}
