//! `relax-spec migrate`.

mod meaning;
mod notation;
mod purity;
mod releases;
mod spelling;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::asking::{AnswerLimits, STARTUP, interrupt, start};
use super::budget::StepBudget;
use super::choice::Choosing;
use super::convert::{DialectName, write_program};
use super::options::ReportFormat;
use super::{CommandResult, Exit, Failure, input, note, options, print_json};
use ask::adapters::Adapter;
use meaning::{MeaningChange, changes};
use notation::read_differently;
use purity::stated;
use relax_spec::book::Edition;
use relax_spec::grammar::{AttrValue, EDITION_ATTR, IrModule, visible};
use relax_spec::judge::Cx;
use relax_spec::reading::complete;
use relax_spec::syntax::tvmscript::{parse_module, print_module};
use releases::{Reading, disagreements};
use spelling::{Respelling, respelled};

/// Write a program of one release for another, and tell what changes its meaning
///
/// OLD is read in any dialect and judged by its own edition; the result is written in the other dialect and judged by
/// the other edition. Reported are: what is spelled otherwise; what the editions read differently, and the result
/// states (a purity that was inferred); and what means something else: a verdict, the structural information of a
/// name, the result of a run. With --adapter, releases of TVM read OLD, too, and it is shown where two of them read
/// different programs. Positions are those of OLD. The program goes to standard output, the report to standard error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec migrate old.py > new.py
  relax-spec migrate old.py --to 2023-12 --dialect tvm0.25
  relax-spec migrate old.py --adapter tvm --output new.py

Exit status: 0 the program means the same; 1 something changes its meaning, or releases read it differently; 2 it
cannot be read; 3 an adapter could not start.")]
pub struct Args {
    /// TVMScript (.py), RON, JSON or Relay (.relay); `-` is standard input
    #[arg(value_name = "OLD")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    selected: input::Selected,
    /// The edition by which the result is to be judged
    #[arg(long, value_name = "EDITION", default_value = "2024-04", value_parser = options::edition)]
    to: Edition,
    /// The release of TVM whose spelling is written; 0.26 has that of 0.27
    #[arg(long, value_enum, default_value_t = DialectName::Tvm027)]
    dialect: DialectName,
    /// Into a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also ask releases of TVM how they read OLD: `tvm` (all), `tvm@0.26`, or `tvm@/path/to/python`
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// How many generated inputs to run the program on, by both editions
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: usize,
    /// As JSON: the program and the report, in one object
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
}

/// What `migrate` reports.
struct Migration {
    from: Edition,
    text: String,
    respelled: Vec<Respelling>,
    /// What the editions read differently, and the result states.
    stated: Vec<String>,
    changed: Vec<MeaningChange>,
    readings: Vec<Reading>,
    /// What releases read differently: those that were asked, and by notations that are known for it.
    differ: Vec<String>,
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.selected.module.as_deref())?;
    let choice = args.choosing.for_module(&args.file, &source, &module)?;
    let (from, reading) = (choice.edition, choice.reading());
    let old = || choice.cx(args.budget.cx());
    let new = || args.budget.cx().with_edition(args.to).with_reading(reading.clone());
    let mut written = module.clone();
    let line_of = |offset: u32| source.locate(offset).0;
    let stated = stated(&old(), &new(), &mut written, &line_of);
    restate_edition(&mut written, args.to);
    let mut text = print_module(&written, args.dialect.into());
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut changed = changes((&old(), &module), (&new(), &written), args.runs, &line_of);
    changed.extend(lost_in_writing(&written, &text));
    let readings = readings(args, &source.text)?;
    let mut differ = read_differently(&source.text, &module, &line_of);
    differ.extend(disagreements(&readings));
    let migration =
        Migration { from, respelled: respelled(&source.text, &text), stated, changed, readings, differ, text };
    migration.tell(args, &source.name)
}

/// An edition that the module states is that of the result.
fn restate_edition(module: &mut IrModule, to: Edition) {
    if let Some(stated) = module.attrs.get_mut(EDITION_ATTR) {
        *stated = AttrValue::Str(to.name().into());
    }
}

/// What is not read again as it was written.
fn lost_in_writing(module: &IrModule, text: &str) -> Option<MeaningChange> {
    let again = parse_module(text).map(|mut again| {
        complete(&mut again);
        again
    });
    let told = match again {
        Ok(again) if again == *module => return None,
        Ok(_) => "the result, read again, is another program".to_string(),
        Err(error) => format!("the result cannot be read again: {error}"),
    };
    Some(MeaningChange { kind: "text", line: None, message: told, rules: Vec::new() })
}

/// How the releases that are asked read the text.
fn readings(args: &Args, text: &str) -> Result<Vec<Reading>, Failure> {
    let Some(name) = &args.adapter else { return Ok(Vec::new()) };
    let interrupt = interrupt()?;
    let mut readings = Vec::new();
    for adapter in Adapter::named(Some(name), STARTUP)? {
        let limits = AnswerLimits { timeout: std::time::Duration::from_secs(60), edition: None };
        let mut implementation = start(&adapter, limits, &interrupt)?;
        readings.push(Reading::of(&mut implementation, &adapter.to_string(), text, args.dialect.into())?);
    }
    Ok(readings)
}

impl Migration {
    fn tell(&self, args: &Args, name: &str) -> CommandResult {
        match args.format {
            ReportFormat::Human => {
                write_program(args.output.as_deref(), &self.text)?;
                note(&visible(&self.told(args.to, name)));
            }
            ReportFormat::Json => print_json(&self.json(args.to, name))?,
        }
        Ok(if self.changed.is_empty() && self.differ.is_empty() { Exit::AsExpected } else { Exit::Findings })
    }

    fn told(&self, to: Edition, name: &str) -> String {
        let mut out = format!("{name}: from edition {} to {to}\n", self.from);
        let lines = self.respelled.iter().map(|one| format!("spelled otherwise: {one}"));
        let lines = lines.chain(self.stated.iter().map(|one| format!("stated now: {one}")));
        let lines = lines.chain(self.changed.iter().map(|one| format!("changed: {one}")));
        let lines = lines.chain(self.readings.iter().filter_map(Reading::refusal).map(|one| format!("refused: {one}")));
        let lines = lines.chain(self.differ.iter().map(|one| format!("read differently: {one}")));
        lines.for_each(|line| out.push_str(&format!("{}\n", line.trim_end())));
        out.push_str(match (self.changed.is_empty(), self.differ.is_empty()) {
            (true, true) => "nothing that was looked at changes its meaning\n",
            (false, _) | (_, false) => "its meaning changes\n",
        });
        out
    }

    fn json(&self, to: Edition, name: &str) -> Value {
        json!({
            "file": name,
            "from": self.from.name(),
            "to": to.name(),
            "text": self.text,
            "spelled": self.respelled.iter().map(Respelling::json).collect::<Vec<Value>>(),
            "stated": self.stated,
            "changed": self.changed.iter().map(MeaningChange::json).collect::<Vec<Value>>(),
            "readings": self.readings.iter().map(Reading::json).collect::<Vec<Value>>(),
            "read_differently": self.differ,
        })
    }
}

/// A context that may be used for one judgement after another.
fn fresh(cx: &Cx) -> Cx {
    cx.unobserved()
}
