//! `relax-spec check`.

use std::path::PathBuf;

use annotate_snippets::Renderer;
use rayon::prelude::*;

use super::input::{self, InputError, Source};
use super::{Exit, Failure, Outcome, options, print, render};
use crate::book::{Edition, Reading};
use crate::check::{Claim, all_findings, check_as, unknown_names};
use crate::findings::{Diagnostic, Severity};
use crate::judge::Cx;

/// Check programs: well-formedness, normal form, types and structural information
///
/// Every finding is told with its place, the rule that it breaks, and why. A stage that finds errors does not end the check: the later ones
/// go on, and are silent on what depends on a wrong place. FILE is TVMScript (.py),
/// RON, JSON or Relay (.relay), programs of 2022 marked by `ast: "2022-06"` included; `-` is standard input; a directory stands for all
/// programs below it.
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
    /// The files are whole programs: one without a function that can be started from outside is in error (WF.11)
    #[arg(long)]
    program: bool,
    /// The results of operators that nobody knows are objects, with a warning, as the text has it
    #[arg(long)]
    allow_unknown_ops: bool,
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
    result: Result<Report, InputError>,
}

/// What is said of a program that can be read.
struct Report {
    source: Source,
    findings: Vec<Diagnostic>,
    /// What the literal text says, where its verdict is another one.
    literally: Option<String>,
    /// Whether the module has something that no edition gives a meaning.
    has_global_infos: bool,
    /// No function of the file can be started from outside, and the file does not claim to be a program.
    fragment: bool,
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        let text = render::input_error(&render::renderer(), &error);
        Failure::unreadable(text.trim_end().trim_start_matches("error: "))
    }
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
        let context = |reading| Cx::new().with_edition(args.edition).with_reading(reading);
        let of_relay = source.relay_findings(&mut context(args.reading.clone()))?;
        if has_errors(&of_relay) {
            let has_global_infos = false;
            return Ok(Report { source, findings: of_relay, literally: None, has_global_infos, fragment: false });
        }
        let module = source.parse()?;
        let claim = if args.program { Claim::Program } else { Claim::Fragment };
        let report = check_as(&mut context(args.reading.clone()), &module, claim);
        let literal = check_as(&mut context(Reading::literal()), &module, claim).diagnostics;
        let literally = (has_errors(&report.diagnostics) != has_errors(&literal)).then(|| verdict(&literal));
        let unknown = unknown_names(&module, options::unknown_ops(args.allow_unknown_ops));
        let mut findings = all_findings(&mut context(args.reading.clone()), &report, unknown);
        findings.splice(0..0, of_relay);
        let has_global_infos = !module.global_infos.is_empty();
        Ok(Report { source, findings, literally, has_global_infos, fragment: report.fragment })
    });
    Checked { path, result }
}

fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// `accepted`, or the rules broken.
fn verdict(findings: &[Diagnostic]) -> String {
    let mut rules: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.rule.id())
        .collect();
    rules.sort_unstable();
    rules.dedup();
    if rules.is_empty() { "accepted".to_string() } else { format!("rejected by {}", rules.join(", ")) }
}

fn exit(checked: &Checked) -> Exit {
    match &checked.result {
        Ok(report) if has_errors(&report.findings) => Exit::Findings,
        Ok(_) => Exit::AsExpected,
        Err(_) => Exit::Unreadable,
    }
}

fn tell(renderer: &Renderer, checked: &Checked) -> Result<(), Failure> {
    match &checked.result {
        Ok(report) => {
            let Report { source, findings, literally, has_global_infos, fragment } = report;
            findings.iter().try_for_each(|finding| print(&render::human(renderer, source, finding)))?;
            if *has_global_infos {
                let what = "virtual devices and other global infos mean nothing in this edition";
                print(&format!("note: {}: {what}\n\n", source.name))?;
            }
            if *fragment {
                let message =
                    "no function has a global_symbol, so none can be started (an error with --program: WF.11)";
                print(&format!("note: {}: {message}\n\n", source.name))?;
            }
            match literally {
                Some(verdict) => {
                    print(&format!("note: {}: in the literal reading of the text: {verdict}\n\n", source.name))
                }
                None => Ok(()),
            }
        }
        Err(error) => {
            eprint!("{}", render::input_error(renderer, error));
            Ok(())
        }
    }
}

fn json_lines(checked: &Checked) -> Result<String, Failure> {
    let values = match &checked.result {
        Ok(report) => report.findings.iter().map(|finding| render::finding_json(&report.source, finding)).collect(),
        Err(error) => render::input_error_json(&checked.path.display().to_string(), error),
    };
    let lines = values.iter().map(|value| serde_json::to_string(value).map(|line| line + "\n"));
    lines.collect::<Result<String, serde_json::Error>>().map_err(Failure::unreadable)
}

/// `3 files: 5 errors, 1 warning`.
fn summary(checked: &[Checked]) -> String {
    let count = |severity| {
        let findings = checked.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(|report| &report.findings);
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
