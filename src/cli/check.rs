//! `relax-spec check`.

use std::path::PathBuf;

use annotate_snippets::Renderer;
use rayon::prelude::*;

use super::input::{self, InputError, Source};
use super::{Exit, Failure, Outcome, options, print, render};
use crate::check::check_program;
use crate::cx::{Cx, Edition, Reading};
use crate::diagnostic::{Diagnostic, Severity};

/// Check programs: well-formedness, normal form, types and structural information
///
/// Every finding is told with its place, the rule that it breaks, and why. FILE is TVMScript (.py), RON or JSON; `-` is
/// standard input; a directory stands for all programs below it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec check model.py
  relax-spec check --format json models/ | jq .rule
  relax-spec check --reading literal model.py")]
pub struct Args {
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[arg(long, default_value = "2023-02", value_parser = options::edition)]
    edition: Edition,
    /// `corrected`, `literal`, or a list of errata to take literally (A01,A17)
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    /// One JSON object a finding and line
    Json,
}

/// A program and what is wrong with it.
struct Checked {
    path: PathBuf,
    result: Result<(Source, Vec<Diagnostic>), InputError>,
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        let text = render::input_error(&render::renderer(), &error);
        Failure::unreadable(text.trim_end().trim_start_matches("error: "))
    }
}

/// Every finding about a program.
pub fn findings(cx: &mut Cx, module: &crate::grammar::IrModule) -> Vec<Diagnostic> {
    check_program(cx, module).diagnostics
}

pub fn run(args: &Args) -> Outcome {
    let files = input::expand(&args.files)?;
    let checked: Vec<Checked> = files.into_par_iter().map(|path| check(args, path)).collect();
    let renderer = render::renderer();
    for one in &checked {
        match args.format {
            Format::Human => tell(&renderer, one)?,
            Format::Json => print(&json_lines(one)?)?,
        }
    }
    if args.format == Format::Human {
        print(&summary(&checked))?;
    }
    Ok(checked.iter().map(exit).max().unwrap_or(Exit::NothingRan))
}

fn check(args: &Args, path: PathBuf) -> Checked {
    let result = input::read(&path).and_then(|source| {
        let module = source.parse()?;
        let mut cx = Cx::new().with_edition(args.edition).with_reading(args.reading.clone());
        let findings = findings(&mut cx, &module);
        Ok((source, findings))
    });
    Checked { path, result }
}

fn exit(checked: &Checked) -> Exit {
    match &checked.result {
        Ok((_, findings)) if findings.iter().any(|finding| finding.severity == Severity::Error) => Exit::Findings,
        Ok(_) => Exit::AsExpected,
        Err(_) => Exit::Unreadable,
    }
}

fn tell(renderer: &Renderer, checked: &Checked) -> Result<(), Failure> {
    match &checked.result {
        Ok((source, findings)) => {
            findings.iter().try_for_each(|finding| print(&render::human(renderer, source, finding)))
        }
        Err(error) => {
            eprint!("{}", render::input_error(renderer, error));
            Ok(())
        }
    }
}

fn json_lines(checked: &Checked) -> Result<String, Failure> {
    let values = match &checked.result {
        Ok((source, findings)) => findings.iter().map(|finding| render::finding_json(source, finding)).collect(),
        Err(error) => render::input_error_json(&checked.path.display().to_string(), error),
    };
    let lines = values.iter().map(|value| serde_json::to_string(value).map(|line| line + "\n"));
    lines.collect::<Result<String, serde_json::Error>>().map_err(Failure::unreadable)
}

/// `3 files: 5 errors, 1 warning`.
fn summary(checked: &[Checked]) -> String {
    let count = |severity| {
        let findings = checked.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(|(_, findings)| findings);
        findings.filter(|finding| finding.severity == severity).count()
    };
    let unreadable = checked.iter().filter(|one| one.result.is_err()).count();
    let unreadable = if unreadable > 0 { format!(", {unreadable} unreadable") } else { String::new() };
    format!(
        "{}: {}, {}{unreadable}\n",
        plural(checked.len(), "file"),
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
    )
}

fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
