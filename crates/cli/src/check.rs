//! `relax-spec check`.

use relax_spec::rule;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use annotate_snippets::Renderer;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::budget::StepBudget;
use super::choice::{Choosing, JudgementChoice, Offered};
use super::convert::OutputTarget;
use super::input::{self, InputError, SourceFile};
use super::terminal::remark;
use super::types::Typed;
use super::{
    CommandResult, Exit, Failure, annotations, note, options, print, print_json, print_program, print_rendered, render,
};
use relax_spec::book::{Edition, Proposal, Reading, WrongBase};
use relax_spec::check::{
    Accepted, CheckReport, Claim, RejectedProgram, all_findings, check_as, errors_in_reading, unknown_names,
};
use relax_spec::derivation::DeriveReport;
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::{IrModule, Span, visible, visible_json};
use relax_spec::syntax::load::LoadError;
use relax_spec::syntax::tvmscript::Which;
use relax_spec::type_checking::TypeReport;

/// Check programs: well-formedness, normal form, types and structural information
///
/// Each finding names its position, the rule that it violates, and the reason. Later stages run even after an error,
/// but do not report what depends on it. FILE is TVMScript (.py), RON, JSON or Relay (.relay), programs of 2022 marked
/// by `ast: "2022-06"` included; `-` is standard input; a directory stands for all programs below it, without the
/// Python files that hold no module. Every module of a Python file, or of a notebook (.ipynb), is checked; other code
/// in it is skipped.
///
/// Each module is judged by one edition, which the last line names together with how it was chosen. If a later edition
/// accepts the program, the finding says so and names the rules that decide.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec check model.py
  relax-spec check --format json models/ | jq .rule
  relax-spec check --format sarif models/ > relax.sarif
  relax-spec check --types model.py
  relax-spec check --edition 2024-04 model.py
  relax-spec check --reading literal model.py

The nearest relax-spec.toml, in the directory of FILE or above it (for `-`, in the current directory), may contain:
  edition = \"2024-04\"
  reading = \"corrected\"       # or \"literal\"
  proposals = []              # edition 2024-04 has one: \"unknown-purity\"
  [errata]
  A01 = \"literal\"            # this erratum in a reading of its own")]
pub struct Args {
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    selected: input::Selected,
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    format: CheckFormat,
    /// Write each program with the structural information and the purity of every variable, as `types` does; the
    /// findings go to standard error
    #[arg(long)]
    types: bool,
    /// The files are whole programs: a program without an externally linked function is an error (WF.11)
    #[arg(long)]
    program: bool,
    /// Give the result of an unknown operator the information `Object`, with a warning, as the text says
    #[arg(long)]
    allow_unknown_ops: bool,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    /// How many findings to print; the others are only counted
    #[arg(long, value_name = "N", default_value_t = render::MOST)]
    max_diagnostics: usize,
    #[command(flatten)]
    choosing: Choosing,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckFormat {
    Human,
    /// One JSON object per finding and line; with --types, one per program
    Json,
    /// A log in the Static Analysis Results Interchange Format, for code hosts
    Sarif,
    /// The commands of GitHub's workflows, which show each finding beside its line
    Github,
}

/// A program with its findings.
struct Checked {
    path: PathBuf,
    result: Result<FileReport, InputError>,
}

impl Checked {
    /// Whether it holds no module, and was found in a directory rather than named.
    fn is_skipped(&self, args: &Args) -> bool {
        let error = self.result.as_ref().err().filter(|_| !args.files.contains(&self.path));
        error.is_some_and(|error| error.is_without_module(&self.path))
    }
}

/// The report on a readable file.
struct FileReport {
    source: SourceFile,
    modules: Vec<OfModule>,
    /// The statements that belong to no module.
    skipped: Option<(Span, usize)>,
    /// The error of further modules that cannot be read.
    broken: Option<InputError>,
}

/// The report on a module.
struct OfModule {
    name: String,
    /// The text or JSON with the types, if requested.
    typed: Option<String>,
    choice: JudgementChoice,
    findings: Vec<Diagnostic>,
    /// For each finding, the later edition that accepts the program there, if any.
    accepted: Vec<Option<Accepted>>,
    /// The edition that the implementation with this dialect claims, if the errors are absent there.
    vanish_in: Option<Edition>,
    /// The verdict of the literal text, if it differs.
    literally: Option<String>,
    /// The active proposal, with the verdict of the edition alone if it differs.
    proposed: Option<String>,
    /// Whether the module has parts without a meaning in its edition.
    has_global_infos: bool,
    /// Whether no function of the module can be started from outside, and it does not claim to be a program.
    fragment: bool,
}

impl OfModule {
    /// The report of the chapter on Relay on a program that is not translated.
    fn of_relay(choice: JudgementChoice, findings: Vec<Diagnostic>) -> OfModule {
        OfModule {
            name: String::new(),
            typed: None,
            choice,
            accepted: vec![None; findings.len()],
            findings,
            vanish_in: None,
            literally: None,
            proposed: None,
            has_global_infos: false,
            fragment: false,
        }
    }

    /// Puts findings before the existing ones.
    fn begin_with(&mut self, findings: &[Diagnostic]) {
        self.findings.splice(0..0, findings.iter().cloned());
        self.accepted.splice(0..0, findings.iter().map(|_| None));
    }

    /// The first `most` findings, each with the later edition that accepts the program there.
    fn told(&self, most: usize) -> impl Iterator<Item = (&Diagnostic, Option<&Accepted>)> {
        self.findings.iter().zip(self.accepted.iter().map(Option::as_ref)).take(most)
    }
}

impl FileReport {
    /// The edition without any of the errors of the file, if the implementation with its dialect claims it.
    fn vanish_in(&self) -> Option<Edition> {
        let wrong = self.modules.iter().filter(|module| has_errors(&module.findings));
        let editions: BTreeSet<Option<Edition>> = wrong.map(|module| module.vanish_in).collect();
        match (&self.broken, editions.len()) {
            (None, 1) => editions.into_iter().next().flatten(),
            (Some(_), _) | (None, _) => None,
        }
    }

    fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.modules.iter().flat_map(|module| &module.findings)
    }

    /// The title of a module: the name of the file if it is the only one.
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

pub fn run(args: &Args) -> CommandResult {
    if args.types && matches!(args.format, CheckFormat::Sarif | CheckFormat::Github) {
        return Err(Failure::unreadable("--types goes with --format human or json"));
    }
    let files = input::expand(&args.files)?;
    let offered = |path: PathBuf| args.choosing.for_file(&path).map(|offered| (path, offered));
    let files = files.into_iter().map(offered).collect::<Result<Vec<(PathBuf, Offered)>, Failure>>()?;
    let check = |(path, offered): (PathBuf, Offered)| apart(path, |path| check(args, &offered, path));
    let checked: Vec<Checked> = match files.len() {
        // Threads take longer to start than most programs take.
        0 | 1 => files.into_iter().map(check).collect(),
        _ => files.into_par_iter().map(check).collect(),
    };
    let (without, checked): (Vec<Checked>, Vec<Checked>) = checked.into_iter().partition(|one| one.is_skipped(args));
    match without.len() {
        0 => {}
        1 => remark("note: 1 Python file holds no module and is skipped\n"),
        more => remark(&format!("note: {more} Python files hold no module and are skipped\n")),
    }
    let choices = choices(&checked);
    choices
        .iter()
        .map(|choice| choice.edition)
        .collect::<BTreeSet<Edition>>()
        .into_iter()
        .for_each(options::tell_of_preparation);
    let renderer = render::renderer();
    let mut most = args.max_diagnostics;
    let mut annotated = Vec::new();
    for one in &checked {
        tell_one(args, &renderer, one, &mut most, &mut annotated)?;
    }
    match args.format {
        CheckFormat::Sarif => print_json(&annotations::sarif(&annotated))?,
        CheckFormat::Github => print(&annotations::github(&annotated))?,
        CheckFormat::Human | CheckFormat::Json => {}
    }
    if args.format == CheckFormat::Human && !args.types {
        print(&summary(&checked, &choices))?;
    }
    if args.types {
        choices.iter().for_each(JudgementChoice::tell_who);
    }
    Ok(checked.iter().map(exit).max().unwrap_or(Exit::NothingRan))
}

/// Reports on a file in the requested form, or keeps what a log of all files is made of.
fn tell_one(
    args: &Args,
    renderer: &Renderer,
    one: &Checked,
    most: &mut usize,
    annotated: &mut Vec<Value>,
) -> Result<(), Failure> {
    let typed = one.result.iter().flat_map(|report| &report.modules).filter_map(|module| module.typed.as_ref());
    typed.into_iter().try_for_each(|typed| print_program(typed))?;
    match (args.types, args.format) {
        (_, CheckFormat::Sarif | CheckFormat::Github) => annotated.append(&mut json_values(one, most)),
        (false, CheckFormat::Human) => tell(renderer, one, most, &mut |text| print_rendered(text))?,
        (false, CheckFormat::Json) => print_rendered(&visible_json(&json_lines(one, most)?))?,
        (true, CheckFormat::Human) => tell(renderer, one, most, &mut |text| {
            note(text);
            Ok(())
        })?,
        (true, CheckFormat::Json) => note(&visible_json(&json_lines(one, most)?)),
    }
    Ok(())
}

/// The findings of a file. A failure of the oracle itself becomes an error of this file, and the others are still
/// checked.
fn apart(path: PathBuf, check: impl FnOnce(PathBuf) -> Checked) -> Checked {
    catch_unwind(AssertUnwindSafe(|| check(path.clone())))
        .unwrap_or_else(|_| Checked { result: Err(InputError::Internal(path.display().to_string())), path })
}

fn check(args: &Args, offered: &Offered, path: PathBuf) -> Checked {
    let result = input::read(&path).and_then(|source| {
        let wrong = |error: WrongBase| InputError::Load(source.name.clone(), LoadError::Data(error.to_string()));
        let choice = offered.for_none().map_err(wrong)?;
        let of_relay = source.relay_findings(&mut choice.cx(args.budget.cx()))?;
        if has_errors(&of_relay) {
            let module = OfModule::of_relay(choice, of_relay);
            return Ok(FileReport { source, modules: vec![module], skipped: None, broken: None });
        }
        let which = args.selected.module.as_deref().map_or(Which::All, Which::Named);
        let file = source.modules(which)?;
        let check = |(name, module): (String, IrModule)| {
            let choice = offered.for_module(&source, &module)?;
            Ok(check_module(args, &source, choice, name, &module))
        };
        let mut modules = file.modules.into_iter().map(check).collect::<Result<Vec<OfModule>, InputError>>()?;
        modules.iter_mut().take(1).for_each(|module| module.begin_with(&of_relay));
        let broken =
            (!file.faults.is_empty()).then(|| InputError::Load(source.name.clone(), LoadError::Syntax(file.faults)));
        Ok(FileReport { source, modules, skipped: file.skipped, broken })
    });
    Checked { path, result }
}

fn check_module(
    args: &Args,
    source: &SourceFile,
    choice: JudgementChoice,
    name: String,
    module: &IrModule,
) -> OfModule {
    let context = || choice.cx(args.budget.cx());
    let claim = if args.program { Claim::Program } else { Claim::Fragment };
    let report = check_as(&mut context(), module, claim);
    let unknown = unknown_names(module, options::unknown_ops(args.allow_unknown_ops));
    let findings = all_findings(&mut context(), &report, unknown.clone());
    // What is known of every variable is large, and need not lie beside that of the other readings.
    let (types, derived) = (TypeReport::default(), DeriveReport::default());
    let report = CheckReport { module: IrModule::default(), types, derived, ..report };
    let literal = errors_in_reading(&context(), Reading::literal(), module, claim, &report);
    let (of_check, fragment) = (report.diagnostics, report.fragment);
    let literally = (has_errors(&of_check) == literal.is_empty()).then(|| verdict(&literal));
    let proposed = choice.proposal.map(|proposal| under(args, &choice, proposal, module, claim, &of_check));
    let later = RejectedProgram { module, claim, unknown: &unknown, cx: &context() };
    let accepted = if has_errors(&findings) { later.accepting(&findings) } else { vec![None; findings.len()] };
    let vanish_in = source.claimed_edition().filter(|claimed| {
        accepted.iter().any(Option::is_some) && *claimed > choice.edition && later.is_accepted_by(*claimed)
    });
    let means_nothing = rule!("VDEV.WHEN").in_edition(choice.edition).is_none();
    let has_global_infos = means_nothing && !module.global_infos.is_empty();
    let typed = args.types.then(|| {
        let typed = Typed::of(&mut context(), source, name.clone(), module);
        typed.tell_left_out();
        match args.format == CheckFormat::Json {
            true => format!("{}\n", typed.json(&OutputTarget::default())),
            false => typed.text(&OutputTarget::default()),
        }
    });
    OfModule { name, typed, choice, findings, accepted, vanish_in, literally, proposed, has_global_infos, fragment }
}

fn has_errors<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> bool {
    findings.into_iter().any(|finding| finding.severity == Severity::Error)
}

/// Reports an active proposal, with the verdict of the edition alone on the module if it differs.
fn under(
    args: &Args,
    choice: &JudgementChoice,
    proposal: Proposal,
    module: &IrModule,
    claim: Claim,
    findings: &[Diagnostic],
) -> String {
    let mut cx = choice.without_proposal().cx(args.budget.cx());
    let without = check_as(&mut cx, module, claim).diagnostics;
    let same = verdict(findings) == verdict(&without);
    let otherwise =
        if same { String::new() } else { format!("; by edition {} alone: {}", choice.edition, verdict(&without)) };
    format!("under the proposal {proposal}{otherwise}")
}

/// `accepted`, or the broken rules.
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
        Ok(FileReport { broken: Some(_), .. }) | Err(_) => Exit::Unreadable,
        Ok(report) => render::rejection(report.findings()).unwrap_or(Exit::AsExpected),
    }
}

/// The destination of findings.
type Sink<'s> = &'s mut dyn FnMut(&str) -> Result<(), Failure>;

/// Reports on a file. `most` is the number of findings that the command may still show.
fn tell(renderer: &Renderer, checked: &Checked, most: &mut usize, out: Sink<'_>) -> Result<(), Failure> {
    match &checked.result {
        Ok(report) => {
            report.broken.iter().for_each(|error| note(&render::input_error(renderer, error)));
            for module in &report.modules {
                tell_module(renderer, &report.source, module, &visible(&report.title(module)), most, out)?;
            }
            let name = visible(&report.source.name);
            if let Some(verdicts) = literally(&report.modules) {
                out(&format!("note: {name}: in the literal reading of the text: {verdicts}\n\n"))?;
            }
            match report.skipped {
                Some((first, count)) => {
                    let note = report.source.skipped_words(first, count);
                    out(&format!("note: {name}: {note}\n\n"))
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
    source: &SourceFile,
    module: &OfModule,
    title: &str,
    most: &mut usize,
    out: Sink<'_>,
) -> Result<(), Failure> {
    let OfModule { choice, proposed, has_global_infos, fragment, .. } = module;
    let human = |(finding, accepted)| render::human(renderer, source, choice.edition, finding, accepted);
    module.told(*most).map(human).try_for_each(|text| out(&text))?;
    let rest = module.findings.len().saturating_sub(*most);
    *most = most.saturating_sub(module.findings.len());
    if rest > 0 {
        out(&format!("note: {title}: {} (--max-diagnostics)\n\n", render::not_shown(rest)))?;
    }
    if *has_global_infos {
        out(&format!("note: {title}: virtual devices and other global infos mean nothing in this edition\n\n"))?;
    }
    if *fragment {
        let rule = rule!("WF.11");
        let rule = rule.in_edition(choice.edition).unwrap_or(rule);
        let message = "no function has a global_symbol, so none can be started (an error with --program";
        out(&format!("note: {title}: {message}: {rule})\n\n"))?;
    }
    match proposed {
        Some(proposed) => out(&format!("note: {title}: {proposed}\n\n")),
        None => Ok(()),
    }
}

/// The verdict of the literal reading on the modules of a file, once for all modules with the same verdict.
fn literally(modules: &[OfModule]) -> Option<String> {
    let mut by_verdict: BTreeMap<&str, usize> = BTreeMap::new();
    modules.iter().filter_map(|module| module.literally.as_deref()).for_each(|verdict| {
        *by_verdict.entry(verdict).or_default() += 1;
    });
    let said = by_verdict.iter().map(|(verdict, of)| match (modules.len(), of) {
        (1, _) => verdict.to_string(),
        (all, of) => format!("{verdict} ({of} of {all} modules)"),
    });
    (!by_verdict.is_empty()).then(|| said.collect::<Vec<String>>().join("; "))
}

fn json_lines(checked: &Checked, most: &mut usize) -> Result<String, Failure> {
    let lines = json_values(checked, most).into_iter();
    let lines = lines.map(|value| serde_json::to_string(&value).map(|line| line + "\n"));
    lines.collect::<Result<String, serde_json::Error>>().map_err(Failure::unreadable)
}

/// The findings of a file, and notes on it, in JSON.
fn json_values(checked: &Checked, most: &mut usize) -> Vec<Value> {
    match &checked.result {
        Ok(report) => {
            let of_module = |module: &OfModule| {
                let json = |(finding, accepted)| finding_json(&report.source, module, finding, accepted);
                let told: Vec<Value> = module.told(*most).map(json).collect();
                let rest = module.findings.len().saturating_sub(*most);
                *most = most.saturating_sub(module.findings.len());
                let rest = (rest > 0).then(|| render::not_shown_json(&report.source.name, rest));
                let proposed = module.proposed.iter().map(|note| render::note_json(&report.source.name, note));
                told.into_iter().chain(rest).chain(proposed).collect::<Vec<Value>>()
            };
            let skipped = report.skipped.map(|(first, count)| render::skipped_json(&report.source, first, count));
            let path = checked.path.display().to_string();
            let broken = report.broken.iter().flat_map(|error| render::input_error_json(&path, error));
            let judged_by = report.modules.iter().map(|module| judged_by_json(&report.source, module));
            broken.chain(report.modules.iter().flat_map(of_module)).chain(judged_by).chain(skipped).collect()
        }
        Err(error) => render::input_error_json(&checked.path.display().to_string(), error),
    }
}

/// A finding with its edition.
fn finding_json(source: &SourceFile, module: &OfModule, finding: &Diagnostic, accepted: Option<&Accepted>) -> Value {
    let mut value = render::finding_json(source, &module.name, finding);
    value["edition"] = module.choice.edition.name().into();
    value["accepted_by"] = accepted.map(render::accepted_json).into();
    value
}

/// The basis of a module's judgement, with the source of the choice.
fn judged_by_json(source: &SourceFile, module: &OfModule) -> Value {
    json!({
        "file": source.name,
        "module": (!module.name.is_empty()).then_some(&module.name),
        "severity": "note",
        "rule": null,
        "message": module.choice.to_string(),
        "edition": module.choice.edition.name(),
        "edition_from": module.choice.from(),
        "vanish_in": module.vanish_in.map(Edition::name),
    })
}

/// The bases of the judgements, each once.
fn choices(checked: &[Checked]) -> Vec<JudgementChoice> {
    let modules = checked.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(|report| &report.modules);
    let by_words: BTreeMap<String, &JudgementChoice> =
        modules.map(|module| (module.choice.to_string(), &module.choice)).collect();
    by_words.into_values().cloned().collect()
}

/// The maximum number of choices to report.
const MOST_CHOICES: usize = 4;

/// `; edition 2024-04, from relax-spec.toml`.
fn judged_by(choices: &[JudgementChoice]) -> String {
    let told: String = choices.iter().take(MOST_CHOICES).map(|choice| format!("; {choice}")).collect();
    match choices.len().saturating_sub(MOST_CHOICES) {
        0 => told,
        rest => format!("{told}; and {rest} more choices"),
    }
}

/// The message about files without any errors in the edition that their implementation claims.
fn vanishing(checked: &[Checked]) -> String {
    let editions = checked.iter().filter_map(|one| one.result.as_ref().ok()?.vanish_in());
    let mut counts: BTreeMap<Edition, usize> = BTreeMap::new();
    editions.for_each(|edition| *counts.entry(edition).or_default() += 1);
    let line = |(edition, count): (Edition, usize)| {
        let of = if count == checked.len() { String::new() } else { format!(" of {}", plural(count, "file")) };
        format!("all errors{of} vanish in edition {edition}, which TVM claims (--edition {edition})\n")
    };
    counts.into_iter().map(line).collect()
}

/// `3 files: 5 errors, 1 warning; edition 2023-02, the default`.
fn summary(checked: &[Checked], choices: &[JudgementChoice]) -> String {
    let count = |severity| {
        let findings = checked.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(FileReport::findings);
        findings.filter(|finding| finding.severity == severity).count()
    };
    let told = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    let unreadable = told(checked.iter().filter(|one| one.result.is_err()).count(), "unreadable");
    let is_broken = |one: &&Checked| matches!(&one.result, Ok(FileReport { broken: Some(_), .. }));
    let broken = told(checked.iter().filter(is_broken).count(), "in part unreadable");
    format!(
        "{}: {}, {}{}{unreadable}{broken}{}\n{}",
        plural(checked.len(), "file"),
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        told(count(Severity::Limit), "undecided for a limit"),
        judged_by(choices),
        vanishing(checked),
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
