//! `relax-spec normalize`.

use std::path::PathBuf;

use super::convert::Target;
use super::{Exit, Outcome, input, options, render};
use crate::book::{Edition, Reading};
use crate::judge::Cx;
use crate::normal_form::normalize_reporting;

/// Write an equivalent program in normal form
///
/// What is malformed is left as it is, told on standard error, and gives exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec normalize model.py
  relax-spec normalize model.json --to json")]
pub struct Args {
    /// TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    target: Target,
    #[arg(long, default_value = "2023-02", value_parser = options::edition)]
    edition: Edition,
    /// `corrected`, `literal`, or a list of errata to take literally (A01,A17)
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
}

pub fn run(args: &Args) -> Outcome {
    let source = input::read(&args.file)?;
    let module = source.parse()?;
    let mut cx = Cx::new().with_edition(args.edition).with_reading(args.reading.clone());
    let normalized = normalize_reporting(&mut cx, &module);
    args.target.write(&normalized.module)?;
    let renderer = render::renderer();
    normalized.findings.iter().for_each(|finding| eprint!("{}", render::human(&renderer, &source, finding)));
    Ok(if normalized.findings.is_empty() { Exit::AsExpected } else { Exit::Findings })
}
