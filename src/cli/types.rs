//! `relax-spec types`.

use std::path::PathBuf;

use serde_json::json;

use super::convert::Target;
use super::{Exit, Outcome, input, options, print, render};
use crate::book::{Edition, Reading};
use crate::derivation::{annotated, derive_module};
use crate::findings::Severity;
use crate::grammar::Span;
use crate::judge::Cx;
use crate::normal_form::normalize_reporting;

/// Write a program with the structural information of every variable
///
/// The program is written in normal form; each binding and each result without an annotation has what is derived of it. What is
/// malformed is told on standard error, and gives exit status 1; what depends on it stays without.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec types model.py
  relax-spec types --list model.py | jq .info")]
pub struct Args {
    /// TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// For editors, one JSON object a variable and line instead of the program: `name`, `function`, `info`, and in bytes `start` and
    /// `end` of where it is bound, if the text has it
    #[arg(long)]
    list: bool,
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
    let report = derive_module(&mut cx, &normalized.module);
    if args.list {
        for (function, vars) in &report.vars_of {
            for (var, info) in report.vars.get(vars.clone()).unwrap_or_default() {
                let place = (var.span != Span::NONE).then_some([var.span.start, var.span.end]);
                let line = json!({
                    "function": &**function,
                    "name": &*var.name,
                    "info": info.to_string(),
                    "start": place.map(|[start, _]| start),
                    "end": place.map(|[_, end]| end),
                });
                print(&format!("{line}\n"))?;
            }
        }
    } else {
        args.target.write(&annotated(&normalized.module, &report))?;
    }
    let renderer = render::renderer();
    let findings = normalized.findings.iter().chain(&report.diagnostics);
    findings.clone().for_each(|finding| eprint!("{}", render::human(&renderer, &source, finding)));
    let accepted = findings.into_iter().all(|finding| finding.severity != Severity::Error);
    Ok(if accepted { Exit::AsExpected } else { Exit::Findings })
}
