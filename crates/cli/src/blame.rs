//! `relax-spec blame`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::asking::{interrupt, prepare};
use super::assume::Assuming;
use super::budget::StepBudget;
use super::given::EntryArguments;
use super::options::{self, ReportFormat};
use super::{CommandResult, Exit, Failure, input, print, print_json, value};
use ask::adapters::{Adapter, TvmVersion};
use ask::process::{CommandLine, Interrupt};
use ask::stages::{PassStage, Pipeline, StagesError, StagesRequest, record_stages};
use relax_spec::arguments::linked;
use relax_spec::book::Edition;
use relax_spec::eval;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::reading;
use relax_spec::refine::{RefinementVerdict, Settings, refine};
use relax_spec::syntax::load::{ExternalForm, SourceRef};
use relax_spec::syntax::tvmscript::{Dialect, Which, print_module};
use relax_spec::value::ValueSpec;

/// Which pass changed the meaning of a program?
///
/// TVM records the module after each pass of a pipeline. Each changed module is judged against the one before it by
/// `refine`, and a line tells the verdict. The first pass whose result is not allowed is the answer. Then the last
/// module is judged against the program, and the pipeline runs again without the pass, to see whether the difference
/// stays.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec blame model.py --adapter tvm@0.27
  relax-spec blame model.py --adapter tvm --pipeline zero --runs 100
  relax-spec blame model.py --adapter tvm@0.25 --pass CanonicalizeBindings,FoldConstant

Exit status: 0 each pass is allowed; 1 a pass is not, or TVM refuses the program; 2 the program cannot be read; 3 the
adapter could not start; 5 a verdict is undecided, and no pass is to blame.")]
pub struct Args {
    /// The program: TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// `tvm` (all releases), `tvm@0.26`, or `tvm@/path/to/python`
    #[arg(long, value_name = "NAME")]
    adapter: String,
    /// The pipeline: `zero`, `default`, or `target`, which is that of the target llvm
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = ["zero", "default", "target"])]
    pipeline: String,
    /// These passes of `relax.transform` in place of a pipeline, with commas
    #[arg(long = "pass", value_name = "PASS,..", value_delimiter = ',', conflicts_with = "pipeline")]
    passes: Vec<String>,
    /// Of a Python file with several modules: the name of the class
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// The global symbol of the function to start [default: main]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    given: EntryArguments,
    /// How many generated inputs to try for each pass
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: usize,
    /// What determines the generated inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    assuming: Assuming,
    /// Seconds that a pass may take
    #[arg(long, value_name = "S", default_value = "120", value_parser = options::seconds)]
    patience: Duration,
    /// The edition by which the programs are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    #[command(flatten)]
    pub(super) budget: StepBudget,
}

/// The verdict on a pass.
enum PassVerdict {
    Unchanged,
    Allowed,
    NotAllowed {
        rule: String,
        message: String,
    },
    /// With the reason; no run reached its end, or the oracle does not know.
    Open(String),
}

impl PassVerdict {
    fn word(&self) -> &'static str {
        match self {
            PassVerdict::Unchanged => "unchanged",
            PassVerdict::Allowed => "allowed",
            PassVerdict::NotAllowed { .. } => "not allowed",
            PassVerdict::Open(_) => "undecided",
        }
    }
}

/// The program, and the way to judge what becomes of it.
struct Blamer<'a> {
    args: &'a Args,
    source: IrModule,
    entry: Name,
    given: Vec<Vec<ValueSpec>>,
    interrupt: Interrupt,
}

/// The judgements on one run of a pipeline.
struct PassRecord {
    /// The last module that could be read.
    last: IrModule,
    /// The passes since that module whose results could not be read.
    unread: Vec<String>,
    /// The first pass whose result is not allowed.
    blamed: Option<String>,
    any_open: bool,
}

/// The reason for the end of a record.
enum Stopped {
    Stages(StagesError),
    Failure(Failure),
}

impl From<StagesError> for Stopped {
    fn from(error: StagesError) -> Stopped {
        Stopped::Stages(error)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failure(failure)
    }
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?.module(args.module.as_deref())?;
    let entry = match &args.entry {
        Some(entry) => entry.as_str().into(),
        None => eval::default_entry(&mut args.budget.cx(), &source).map_err(Failure::unreadable)?,
    };
    let given = match args.given.is_empty() {
        true => Vec::new(),
        false => vec![args.given.load(linked(&source, &entry), eval::EvalOptions::default().memory)?],
    };
    let blamer = Blamer { args, source, entry, given, interrupt: interrupt()? };
    let mut worst = Exit::AsExpected;
    for adapter in Adapter::named(Some(&args.adapter))? {
        if args.format == ReportFormat::Human {
            print(&format!("{adapter}\n"))?;
        }
        worst = worst.and(blamer.blame(&adapter)?);
    }
    Ok(worst)
}

impl Blamer<'_> {
    /// Judges each pass, then the whole pipeline, then the pipeline without the blamed pass.
    fn blame(&self, adapter: &Adapter) -> CommandResult {
        let command = prepare(adapter)?;
        let dialect = match adapter {
            Adapter::Tvm(TvmVersion::V0_25) => Dialect::Tvm025,
            _ => Dialect::Tvm027,
        };
        let mut record = PassRecord { last: self.source.clone(), unread: Vec::new(), blamed: None, any_open: false };
        let stopped = self.record(&command, dialect, Vec::new(), |stage| self.take(&mut record, stage));
        if let Err(stopped) = stopped {
            return self.refused(stopped);
        }
        let whole = self.judge(&self.source, &record.last, dialect)?;
        self.tell("the whole pipeline", &whole)?;
        let exit = match (&record.blamed, &whole) {
            (Some(pass), _) => {
                self.confirm(&command, dialect, pass)?;
                Exit::Findings
            }
            (None, PassVerdict::NotAllowed { .. }) => Exit::Findings,
            (None, PassVerdict::Open(_)) => Exit::StoppedEarly,
            (None, PassVerdict::Unchanged | PassVerdict::Allowed) if record.any_open => Exit::StoppedEarly,
            (None, PassVerdict::Unchanged | PassVerdict::Allowed) => Exit::AsExpected,
        };
        let answer = match (&record.blamed, &whole) {
            (Some(pass), _) => format!("{pass} is to blame"),
            (None, PassVerdict::NotAllowed { .. }) => "the pipeline is not allowed, though each pass is".to_string(),
            (None, _) => "no pass is to blame".to_string(),
        };
        match self.args.format {
            ReportFormat::Human => print(&format!("{answer}\n"))?,
            ReportFormat::Json => print_json(&json!({ "blamed": record.blamed, "answer": answer }))?,
        }
        Ok(exit)
    }

    fn record(
        &self,
        command: &CommandLine,
        dialect: Dialect,
        disable: Vec<String>,
        take: impl FnMut(PassStage) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let pipeline = match self.args.passes.as_slice() {
            [] => Pipeline::Named(self.args.pipeline.clone()),
            passes => Pipeline::Passes(passes.to_vec()),
        };
        let request = StagesRequest { script: print_module(&self.source, dialect), pipeline, disable };
        record_stages(command, &request, self.args.patience, &self.interrupt, take)
    }

    /// Judges the result of a pass.
    fn take(&self, record: &mut PassRecord, stage: PassStage) -> Result<(), Stopped> {
        let verdict = match stage.text.as_deref().map(read) {
            None => PassVerdict::Unchanged,
            Some(Err(message)) => PassVerdict::Open(message),
            Some(Ok(module)) => {
                let verdict = self.judge(&record.last, &module, Dialect::default())?;
                record.last = module;
                verdict
            }
        };
        record.any_open |= matches!(verdict, PassVerdict::Open(_));
        let mut name = std::mem::take(&mut record.unread);
        name.push(stage.pass);
        let name = name.join(", ");
        match &verdict {
            PassVerdict::NotAllowed { .. } => {
                record.blamed.get_or_insert_with(|| name.clone());
            }
            // The next verdict covers this pass too.
            PassVerdict::Open(_) => record.unread.push(name.clone()),
            PassVerdict::Unchanged | PassVerdict::Allowed => {}
        }
        Ok(self.tell(&name, &verdict)?)
    }

    /// Runs the pipeline without a pass, and says whether the difference stays.
    fn confirm(&self, command: &CommandLine, dialect: Dialect, pass: &str) -> Result<(), Failure> {
        let mut last = None;
        let stopped = self.record(command, dialect, vec![pass.to_string()], |stage| {
            last = stage.text.as_deref().and_then(|text| read(text).ok()).or(last.take());
            Ok(())
        });
        let name = format!("the pipeline without {pass}");
        let verdict = match (stopped, last) {
            (Err(Stopped::Failure(failure)), _) => return Err(failure),
            (Err(Stopped::Stages(error)), _) => PassVerdict::Open(error.to_string()),
            (Ok(()), None) => PassVerdict::Unchanged,
            (Ok(()), Some(last)) => self.judge(&self.source, &last, dialect)?,
        };
        self.tell(&name, &verdict)
    }

    fn judge(&self, before: &IrModule, after: &IrModule, dialect: Dialect) -> Result<PassVerdict, Failure> {
        let edition = self.args.edition.unwrap_or_else(|| dialect.claimed_edition());
        let mut cx = self.args.budget.cx().with_edition(edition);
        let mut settings = Settings { seed: self.args.seed, ..Settings::runs(self.args.runs) };
        self.args.assuming.assume(&mut settings)?;
        Ok(match refine(&mut cx, before, after, &self.entry, &self.given, &settings) {
            Err(error) => PassVerdict::Open(error.to_string()),
            Ok(refinement) => match refinement.verdict {
                RefinementVerdict::Allowed => PassVerdict::Allowed,
                RefinementVerdict::NotAllowed { rule, message } => {
                    PassVerdict::NotAllowed { rule: rule.to_string(), message }
                }
                RefinementVerdict::Vacuous(reason)
                | RefinementVerdict::Undecided(reason)
                | RefinementVerdict::OutOfBudget(reason) => PassVerdict::Open(reason),
            },
        })
    }

    /// A line for a verdict.
    fn tell(&self, pass: &str, verdict: &PassVerdict) -> Result<(), Failure> {
        let (rule, message) = match verdict {
            PassVerdict::Unchanged | PassVerdict::Allowed => (None, None),
            PassVerdict::NotAllowed { rule, message } => (Some(rule), Some(message)),
            PassVerdict::Open(reason) => (None, Some(reason)),
        };
        let word = verdict.word();
        if self.args.format == ReportFormat::Json {
            return print_json(&json!({ "pass": pass, "verdict": word, "rule": rule, "message": message }));
        }
        let rule = rule.map(|rule| format!(" [{rule}]")).unwrap_or_default();
        let message = message.map(|message| format!(": {}", value::cut(message, LONGEST))).unwrap_or_default();
        print(&format!("  {pass:<28} {word}{rule}{message}\n"))
    }

    fn refused(&self, stopped: Stopped) -> CommandResult {
        let error = match stopped {
            Stopped::Failure(failure) => return Err(failure),
            Stopped::Stages(error) => error,
        };
        match &error {
            StagesError::Refused { place, message } => {
                match self.args.format {
                    ReportFormat::Human => print(&format!("{error}\n"))?,
                    ReportFormat::Json => print_json(&json!({ "refused_by": place, "message": message }))?,
                }
                Ok(Exit::Findings)
            }
            StagesError::Interrupted | StagesError::TimedOut(_) => Err(Failure::new(Exit::StoppedEarly, error)),
            StagesError::NoPasses(_) => Err(Failure::unreadable(error)),
            StagesError::Io(_) | StagesError::Malformed(_) => Err(Failure::new(Exit::Adapter, error)),
        }
    }
}

/// The maximum length of a message.
const LONGEST: usize = 400;

/// The module of a stage, or the reason why its text cannot be read.
fn read(text: &str) -> Result<IrModule, String> {
    let given = SourceRef { text, metadata: None };
    let file =
        reading::parse_modules(ExternalForm::TvmScript, given, Which::Only).map_err(|error| error.to_string())?;
    file.modules.into_iter().next().map(|(_, module)| module).ok_or_else(|| "the text holds no module".to_string())
}
