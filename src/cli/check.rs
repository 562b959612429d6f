//! `relax-spec check`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use annotate_snippets::Renderer;
use rayon::prelude::*;
use serde_json::Value;

use super::budget::StepBudget;
use super::convert::Target;
use super::input::{self, InputError, Source};
use super::types::Typed;
use super::{Exit, Failure, Outcome, note, options, print, print_program, print_rendered, render};
use crate::book::{Edition, Proposal, Reading};
use crate::check::{Claim, all_findings, check_as, unknown_names};
use crate::findings::{Diagnostic, Severity};
use crate::grammar::{IrModule, Span, visible, visible_json};
use crate::syntax::load::LoadError;
use crate::syntax::tvmscript::Which;

/// Check programs: well-formedness, normal form, types and structural information
///
/// Every finding is told with its place, the rule that it breaks, and why. A stage that finds errors does not end the check: the later ones
/// go on, and are silent on what depends on a wrong place. FILE is TVMScript (.py),
/// RON, JSON or Relay (.relay), programs of 2022 marked by `ast: "2022-06"` included; `-` is standard input; a directory stands for all
/// programs below it. Every module of a Python file is checked, whatever stands around it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec check model.py
  relax-spec check --format json models/ | jq .rule
  relax-spec check --types model.py
  relax-spec check --reading literal model.py")]
pub struct Args {
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    selected: input::Selected,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write each program with the structural information and the purity of every variable, as `types` does; the findings go to standard error
    #[arg(long)]
    types: bool,
    /// The files are whole programs: one without a function that can be started from outside is in error (WF.11)
    #[arg(long)]
    program: bool,
    /// The results of operators that nobody knows are objects, with a warning, as the text has it
    #[arg(long)]
    allow_unknown_ops: bool,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    /// How many findings are told; of the rest only the number
    #[arg(long, value_name = "N", default_value_t = render::MOST)]
    max_diagnostics: usize,
    #[arg(long, default_value = "2023-02", value_parser = options::edition)]
    edition: Edition,
    #[command(flatten)]
    proposed: options::Proposed,
    /// `corrected`, `literal`, or a list of errata to take literally (A01,A17)
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    /// One JSON object a finding and line; with --types one a program
    Json,
}

/// A program and what is wrong with it.
struct Checked {
    path: PathBuf,
    result: Result<Report, InputError>,
}

/// What is said of a file that can be read.
struct Report {
    source: Source,
    modules: Vec<OfModule>,
    /// The statements that belong to no module.
    skipped: Option<(Span, usize)>,
    /// What is wrong in modules beside these, if there are any that cannot be read.
    broken: Option<InputError>,
}

/// What is said of a module.
struct OfModule {
    name: String,
    /// With what is known of it, if that is asked for: the text, or JSON.
    typed: Option<String>,
    findings: Vec<Diagnostic>,
    /// What the literal text says, where its verdict is another one.
    literally: Option<String>,
    /// Which proposal is on, with the verdict of the edition by itself, where that is another one.
    proposed: Option<String>,
    /// Whether the module has something that no edition gives a meaning.
    has_global_infos: bool,
    /// No function of the module can be started from outside, and it does not claim to be a program.
    fragment: bool,
}

impl Report {
    fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.modules.iter().flat_map(|module| &module.findings)
    }

    /// How a module is called: as the file if there is no other.
    fn title(&self, module: &OfModule) -> String {
        match self.modules.len() {
            1 => self.source.name.clone(),
            _ => format!("{}: {}", self.source.name, module.name),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        let text = render::input_error(&Renderer::plain(), &error);
        Failure::unreadable(text.trim_end().trim_start_matches("error: "))
    }
}

pub fn run(args: &Args) -> Outcome {
    args.proposed.tell(args.edition)?;
    options::tell_of_preparation(args.edition);
    let files = input::expand(&args.files)?;
    let checked: Vec<Checked> = files.into_par_iter().map(|path| apart(path, |path| check(args, path))).collect();
    let renderer = render::renderer();
    let mut most = args.max_diagnostics;
    for one in &checked {
        match (args.types, args.format) {
            (false, Format::Human) => tell(&renderer, one, &mut most, &mut |text| print_rendered(text))?,
            (false, Format::Json) => print_rendered(&visible_json(&json_lines(one, &mut most)?))?,
            (true, format) => {
                for module in one.result.iter().flat_map(|report| &report.modules) {
                    module.typed.iter().try_for_each(|typed| print_program(typed))?;
                }
                match format {
                    Format::Human => tell(&renderer, one, &mut most, &mut |text| {
                        note(text);
                        Ok(())
                    })?,
                    Format::Json => note(&visible_json(&json_lines(one, &mut most)?)),
                }
            }
        }
    }
    if args.format == Format::Human && !args.types {
        print(&summary(&checked))?;
    }
    Ok(checked.iter().map(exit).max().unwrap_or(Exit::NothingRan))
}

/// What is found of a file. An error of the oracle itself is one of this file, and the others are checked all the same.
fn apart(path: PathBuf, check: impl FnOnce(PathBuf) -> Checked) -> Checked {
    catch_unwind(AssertUnwindSafe(|| check(path.clone())))
        .unwrap_or_else(|_| Checked { result: Err(InputError::Internal(path.display().to_string())), path })
}

fn check(args: &Args, path: PathBuf) -> Checked {
    let result = input::read(&path).and_then(|source| {
        let mut cx =
            args.budget.cx().with_edition(args.proposed.basis(args.edition)).with_reading(args.reading.clone());
        let of_relay = source.relay_findings(&mut cx)?;
        if has_errors(&of_relay) {
            let module = OfModule {
                name: String::new(),
                typed: None,
                findings: of_relay,
                literally: None,
                proposed: None,
                has_global_infos: false,
                fragment: false,
            };
            return Ok(Report { source, modules: vec![module], skipped: None, broken: None });
        }
        let which = args.selected.module.as_deref().map_or(Which::All, Which::Named);
        let file = source.modules(which)?;
        let check = |(name, module): (String, IrModule)| check_module(args, &source, name, &module);
        let mut modules: Vec<OfModule> = file.modules.into_iter().map(check).collect();
        modules.iter_mut().take(1).for_each(|module| drop(module.findings.splice(0..0, of_relay.iter().cloned())));
        let broken =
            (!file.faults.is_empty()).then(|| InputError::Load(source.name.clone(), LoadError::Syntax(file.faults)));
        Ok(Report { source, modules, skipped: file.skipped, broken })
    });
    Checked { path, result }
}

fn check_module(args: &Args, source: &Source, name: String, module: &IrModule) -> OfModule {
    let context = |reading| args.budget.cx().with_edition(args.proposed.basis(args.edition)).with_reading(reading);
    let claim = if args.program { Claim::Program } else { Claim::Fragment };
    let report = check_as(&mut context(args.reading.clone()), module, claim);
    let literal = check_as(&mut context(Reading::literal()), module, claim).diagnostics;
    let literally = (has_errors(&report.diagnostics) != has_errors(&literal)).then(|| verdict(&literal));
    let proposed = args.proposed.proposal.map(|proposal| under(args, proposal, module, claim, &report.diagnostics));
    let unknown = unknown_names(module, options::unknown_ops(args.allow_unknown_ops));
    let findings = all_findings(&mut context(args.reading.clone()), &report, unknown);
    let has_global_infos = !module.global_infos.is_empty();
    let typed = args.types.then(|| {
        let typed = Typed::of(&mut context(args.reading.clone()), source, name.clone(), module);
        typed.tell_left_out();
        match args.format {
            Format::Human => typed.text(&Target::default()),
            Format::Json => format!("{}\n", typed.json(&Target::default())),
        }
    });
    OfModule { name, typed, findings, literally, proposed, has_global_infos, fragment: report.fragment }
}

fn has_errors<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> bool {
    findings.into_iter().any(|finding| finding.severity == Severity::Error)
}

/// Says that a proposal is on, and what the edition by itself says of the module, where its verdict is another one.
fn under(args: &Args, proposal: Proposal, module: &IrModule, claim: Claim, findings: &[Diagnostic]) -> String {
    let mut cx = args.budget.cx().with_edition(args.edition).with_reading(args.reading.clone());
    let without = check_as(&mut cx, module, claim).diagnostics;
    let same = verdict(findings) == verdict(&without);
    let otherwise =
        if same { String::new() } else { format!("; by edition {} alone: {}", args.edition, verdict(&without)) };
    format!("under the proposal {proposal}{otherwise}")
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
        Ok(Report { broken: Some(_), .. }) | Err(_) => Exit::Unreadable,
        Ok(report) => render::rejection(report.findings()).unwrap_or(Exit::AsExpected),
    }
}

/// Where findings go.
type Sink<'s> = &'s mut dyn FnMut(&str) -> Result<(), Failure>;

/// Tells what there is to say of a file. Of all findings of a command only so many are told, of which some are left.
fn tell(renderer: &Renderer, checked: &Checked, most: &mut usize, out: Sink<'_>) -> Result<(), Failure> {
    match &checked.result {
        Ok(report) => {
            report.broken.iter().for_each(|error| note(&render::input_error(renderer, error)));
            for module in &report.modules {
                tell_module(renderer, &report.source, module, &visible(&report.title(module)), most, out)?;
            }
            match report.skipped {
                Some((first, count)) => {
                    let note = report.source.skipped_words(first, count);
                    out(&format!("note: {}: {note}\n\n", visible(&report.source.name)))
                }
                None => Ok(()),
            }
        }
        Err(error) => {
            note(&render::input_error(renderer, error));
            Ok(())
        }
    }
}

fn tell_module(
    renderer: &Renderer,
    source: &Source,
    module: &OfModule,
    title: &str,
    most: &mut usize,
    out: Sink<'_>,
) -> Result<(), Failure> {
    let OfModule { name: _, typed: _, findings, literally, proposed, has_global_infos, fragment } = module;
    let (told, rest) = findings.split_at(findings.len().min(*most));
    *most -= told.len();
    told.iter().try_for_each(|finding| out(&render::human(renderer, source, finding)))?;
    if !rest.is_empty() {
        out(&format!("note: {title}: {} (--max-diagnostics)\n\n", render::not_shown(rest.len())))?;
    }
    if *has_global_infos {
        out(&format!("note: {title}: virtual devices and other global infos mean nothing in this edition\n\n"))?;
    }
    if *fragment {
        let message = "no function has a global_symbol, so none can be started (an error with --program: WF.11)";
        out(&format!("note: {title}: {message}\n\n"))?;
    }
    if let Some(proposed) = proposed {
        out(&format!("note: {title}: {proposed}\n\n"))?;
    }
    match literally {
        Some(verdict) => out(&format!("note: {title}: in the literal reading of the text: {verdict}\n\n")),
        None => Ok(()),
    }
}

fn json_lines(checked: &Checked, most: &mut usize) -> Result<String, Failure> {
    let values: Vec<Value> = match &checked.result {
        Ok(report) => {
            let of_module = |module: &OfModule| {
                let json = |finding| render::finding_json(&report.source, &module.name, finding);
                let (told, rest) = module.findings.split_at(module.findings.len().min(*most));
                *most -= told.len();
                let rest = (!rest.is_empty()).then(|| render::not_shown_json(&report.source.name, rest.len()));
                let proposed = module.proposed.iter().map(|note| render::note_json(&report.source.name, note));
                told.iter().map(json).chain(rest).chain(proposed).collect::<Vec<Value>>()
            };
            let skipped = report.skipped.map(|skipped| render::skipped_json(&report.source, skipped));
            let path = checked.path.display().to_string();
            let broken = report.broken.iter().flat_map(|error| render::input_error_json(&path, error));
            broken.chain(report.modules.iter().flat_map(of_module)).chain(skipped).collect()
        }
        Err(error) => render::input_error_json(&checked.path.display().to_string(), error),
    };
    let lines = values.iter().map(|value| serde_json::to_string(value).map(|line| line + "\n"));
    lines.collect::<Result<String, serde_json::Error>>().map_err(Failure::unreadable)
}

/// `3 files: 5 errors, 1 warning`.
fn summary(checked: &[Checked]) -> String {
    let count = |severity| {
        let findings = checked.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(Report::findings);
        findings.filter(|finding| finding.severity == severity).count()
    };
    let told = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    let unreadable = told(checked.iter().filter(|one| one.result.is_err()).count(), "unreadable");
    let is_broken = |one: &&Checked| matches!(&one.result, Ok(Report { broken: Some(_), .. }));
    let broken = told(checked.iter().filter(is_broken).count(), "in part unreadable");
    format!(
        "{}: {}, {}{}{unreadable}{broken}\n",
        plural(checked.len(), "file"),
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        told(count(Severity::Limit), "undecided for a limit"),
    )
}

fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_error_is_one_of_its_file() {
        let checked = apart(PathBuf::from("broken.py"), |_| panic!("an error of ours"));
        assert_eq!(exit(&checked), Exit::Unreadable);
        assert!(matches!(checked.result, Err(InputError::Internal(name)) if name == "broken.py"));
    }
}
