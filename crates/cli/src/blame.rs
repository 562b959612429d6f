//! `relax-spec blame`.

mod apart;
mod bound;
mod code;
mod contracts;
mod lazy;
mod made;
pub(super) mod pair;
mod params;
mod passes;
mod sequences;
mod steps;
mod tells;
mod times;
mod truth;
mod verdict;

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::asking::{STARTUP, interrupt, prepare};
use super::assume::Assuming;
use super::budget::StepBudget;
use super::given::{self, EntryArguments, exported};
use super::options::{self, ReportFormat};
use super::terminal::remark;
use super::{CommandResult, Exit, Failure, input, print, print_json, print_program, value};
use ask::adapters::{Adapter, TvmVersion};
use ask::process::{CommandLine, Interrupt};
use ask::stages::{PassStep, Refusal, StageRecorder, StagesError, StagesRequest};
use bound::bound;
use campaign::smaller;
use code::{CodeStages, with_prim_funcs};
use contracts::Properties;
use made::module_of;
use params::related;
use passes::{Steps, own_passes, steps};
use relax_spec::arguments::{largest_size, linked};
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name, visible};
use relax_spec::judge::Cx;
use relax_spec::refine::{KeptRuns, Settings, refine, run_ahead};
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::{SharedCalls, ValueSpec};
use sequences::{sequence, shortest};
use times::Times;
use verdict::{Judged, PassVerdict, exact_verdict, inputs, verdict_on};

/// Which pass changed the meaning of a program?
///
/// TVM records the module after each pass of a pipeline. Each changed module is compared with the one before it, by
/// `refine` and by the properties that a pass must also preserve: scopes, well-formedness, normal form, purity,
/// information, exported names. Each verdict takes one line. The answer is the first pass whose result is not allowed;
/// if there is none, it is the pass that refuses the program, or without which nothing refuses it. A pass that is wrong
/// only on tensors without elements, infinite numbers or zeros comes last, as does one that only loses a check, fails
/// in another way, or computes another real function within rounding. The generated code is judged in the same
/// way: its instructions run here, its compiled functions in TVM. Then the last module is compared with the program,
/// and the pipeline runs again without the pass, to see whether the difference remains.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec blame model.py --adapter tvm@0.27
  relax-spec blame model.py --adapter tvm --pipeline zero --runs 100
  relax-spec blame model.py --adapter tvm@0.25 --pass CanonicalizeBindings,FoldConstant
  relax-spec blame model.py --adapter tvm@0.27 --pass 'LambdaLift,FuseOps={\"fuse_opt_level\": 0},default'
  relax-spec blame model.py --adapter tvm@0.27 --pass mine.py:MyPass,default

Exit status: 0 each pass is allowed; 1 a pass is not, or TVM refuses the program; 2 the program cannot be read; 3 the
adapter could not start; 5 a verdict is undecided, and no pass is to blame.")]
pub struct Args {
    /// The program: TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// `tvm` (all releases), `tvm@0.26`, or `tvm@/path/to/python`
    #[arg(long, value_name = "NAME")]
    adapter: String,
    /// The pipeline: `zero`, `default`, or `target`, which is that of the target llvm
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = ["zero", "default", "target"])]
    pipeline: String,
    /// Passes to run in place of the pipeline, separated by commas: passes of `relax.transform`, pipelines, or
    /// `FILE.py:NAME`; after `=` the arguments as JSON, a list or a map of names
    #[arg(long = "pass", value_name = "PASS,..", value_parser = steps, conflicts_with = "pipeline")]
    passes: Vec<Steps>,
    /// The code that is generated after the pipelines `default` and `target`
    #[arg(long, value_name = "MODE", default_value = "bytecode", value_parser = ["bytecode", "compiled", "none"])]
    exec: String,
    /// N sequences of passes in place of the pipeline, drawn by the seed, each shortened while it breaks the program
    #[arg(long, value_name = "N", conflicts_with_all = ["pipeline", "passes"])]
    sequence: Option<u64>,
    /// Judge each pass over PrimFuncs during the generation of code. Otherwise only all of them together are judged,
    /// and each of them if the whole is not allowed
    #[arg(long)]
    tir: bool,
    /// Shrink the program, with up to N runs of the passes, while the same pass is to blame for the same reason, and
    /// print the result
    #[arg(long, value_name = "N")]
    reduce: Option<usize>,
    /// Of a Python file with several modules: the name of the class
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// The global symbol of the function to start [default: main, and then the others that can be started]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    pub(super) given: EntryArguments,
    /// How many generated inputs to try for each pass [default: 20, and none where arguments are given]
    #[arg(long, value_name = "N")]
    runs: Option<usize>,
    /// The seed of the generated inputs
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

/// A program, and the settings to judge the results of passes on it.
struct Blamer<'a> {
    args: &'a Args,
    source: Rc<IrModule>,
    entry: Name,
    given: Vec<Vec<ValueSpec>>,
    steps: Vec<PassStep>,
    interrupt: Interrupt,
    /// The programs between the passes, and their runs.
    kept: Rc<KeptRuns>,
    /// What the passes leave as it is, is computed once.
    shared: Rc<SharedCalls>,
    /// The passes that the file itself runs, if none are given.
    own: Vec<String>,
    /// How many inputs are generated for each pass.
    runs: usize,
    /// Whether lines are printed.
    tells: bool,
    /// Whether only ordinary arguments are generated.
    is_ordinary: bool,
}

/// A pass that is to blame.
#[derive(Clone, Debug)]
struct Blamed {
    pass: String,
    /// The clause that is broken, or the message of a refusal.
    reason: String,
    /// The smallest arguments found that show the difference.
    input: Vec<ValueSpec>,
    /// Whether no ordinary arguments show it, or it is no other value.
    slight: bool,
}

impl Blamed {
    fn is_like(&self, other: &Blamed) -> bool {
        (&self.pass, &self.reason) == (&other.pass, &other.reason)
    }
}

/// The judgements on one run of a pipeline.
struct PassRecord {
    /// The last module that could be read, and its properties.
    last: Rc<IrModule>,
    properties: Properties,
    /// The passes since that module whose results could not be read.
    unread: Vec<String>,
    /// All passes that ran.
    passed: Vec<String>,
    /// The last pass that changed anything.
    changed: Option<String>,
    /// The first pass whose result is not allowed, if possible on ordinary arguments.
    blamed: Option<Blamed>,
    any_open: bool,
    /// What is known of the generation of code.
    code: CodeStages,
    /// Whether that is to blame, or a pass in it.
    is_of_code: bool,
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

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Failure {
        match stopped {
            Stopped::Failure(failure) => failure,
            Stopped::Stages(error) => match &error {
                StagesError::Interrupted | StagesError::TimedOut(..) => Failure::new(Exit::StoppedEarly, error),
                StagesError::NoPasses(_) | StagesError::NoSuchPass(_) => Failure::unreadable(error),
                StagesError::Io(_) | StagesError::Malformed(_) | StagesError::Ended(_) => {
                    Failure::new(Exit::Adapter, error)
                }
            },
        }
    }
}

pub fn run(args: &Args) -> CommandResult {
    let file = input::read(&args.file)?;
    let source = file.module(args.module.as_deref())?;
    let asks = !args.passes.is_empty() || args.sequence.is_some();
    let own = if asks { Vec::new() } else { own_passes(&file.text) };
    let entry = first_entry(args, &source)?;
    let given = match args.given.is_empty() {
        true => Vec::new(),
        false => vec![args.given.load(linked(&source, &entry), args.given.memory())?],
    };
    let steps = match args.passes.as_slice() {
        [] => vec![PassStep { name: args.pipeline.clone(), arguments: None }],
        passes => passes.iter().flat_map(|Steps(steps)| steps.iter().cloned()).collect(),
    };
    let (source, interrupt, shared) = (Rc::new(source), interrupt()?, Rc::default());
    let (kept, tells, is_ordinary) = (Rc::default(), true, false);
    let runs = args.runs.unwrap_or(if given.is_empty() { RUNS } else { 0 });
    let mut blamer =
        Blamer { args, source, entry, given, steps, interrupt, kept, shared, own, runs, tells, is_ordinary };
    let mut worst = Exit::AsExpected;
    if let Some(size) = linked(&blamer.source, &blamer.entry).and_then(largest_size)
        && args.format == ReportFormat::Human
    {
        print(&format!("sizes that the signature leaves open are at most {size}: its weights are large\n"))?;
    }
    for adapter in Adapter::named(Some(&args.adapter), STARTUP)? {
        if args.format == ReportFormat::Human {
            print(&format!("{adapter}\n"))?;
        }
        // Each release claims its own edition.
        blamer.kept = Rc::default();
        worst = worst.and(blamer.blame(&adapter)?);
    }
    Ok(worst)
}

/// The function that is judged pass by pass: the named one, `main`, or the first.
fn first_entry(args: &Args, source: &IrModule) -> Result<Name, Failure> {
    match (given::entry(&mut args.budget.cx(), source, args.entry.as_deref()), exported(source).first()) {
        (Err(_), Some(first)) if args.entry.is_none() && args.given.is_empty() => {
            remark(&format!("note: there is no `main`; `{}` is judged pass by pass\n", visible(first)));
            Ok(first.clone())
        }
        (entry, _) => entry,
    }
}

impl Blamer<'_> {
    /// Judges each pass, then the whole pipeline, then the pipeline without the blamed pass.
    fn blame(&self, adapter: &Adapter) -> CommandResult {
        let begun = Instant::now();
        let command: CommandLine = prepare(adapter, STARTUP)?;
        let dialect = match adapter {
            Adapter::Tvm(TvmVersion::V0_25) => Dialect::Tvm025,
            _ => Dialect::Tvm027,
        };
        let mut recorder =
            StageRecorder::beside(&command, self.args.patience, &self.interrupt).map_err(Stopped::from)?;
        if let Some(count) = self.args.sequence {
            return self.sequences(&mut recorder, dialect, count);
        }
        let (record, refusal) = self.record(&mut recorder, dialect)?;
        let compiled = recorder.compiled_in();
        if let Some(refusal) = &refusal {
            self.tell_refusal(refusal)?;
        }
        self.remark_own(&record);
        let begin = Instant::now();
        let whole = match &refusal {
            Some(_) => PassVerdict::Open("TVM refuses the program".to_string()),
            None => self.judge(&self.source, &record.last, dialect, None)?,
        };
        if refusal.is_none() {
            self.tell("the whole pipeline", &Judged { took: begin.elapsed(), ..Judged::from(whole.clone()) })?;
        }
        // What shows only on the input on which all passes together are wrong is due to one of them all the same.
        let blamed_on = match (&whole, &record.blamed) {
            (PassVerdict::NotAllowed { input, .. }, None) if self.given.is_empty() => {
                let other = self.with((*self.source).clone(), vec![input.clone()], self.steps.clone());
                other.quietly_blamed(&mut recorder, dialect)?
            }
            (_, _) => None,
        };
        // The generated code is not a part of the last module.
        if let Some(pass) = record.blamed.as_ref().filter(|_| refusal.is_none() && !record.is_of_code) {
            self.confirm(&mut recorder, dialect, &pass.pass)?;
        }
        let known = self.blamed(&record, refusal.as_ref()).or(blamed_on);
        let is_settled = refusal.is_some() || known.as_ref().is_some_and(|known| !known.slight);
        let (elsewhere, any_open) = match is_settled {
            true => (None, false),
            false => self.blamed_elsewhere(&mut recorder, dialect)?,
        };
        let (blamed, other) = match (known, elsewhere) {
            (known, Some((other, found))) if known.is_none() || !found.slight => (Some(found), Some(other)),
            (known, _) => (known, None),
        };
        let times = Times::of(compiled, recorder.waited(), begun.elapsed());
        let exit = self.conclude(blamed.as_ref(), record.any_open || any_open, refusal.as_ref(), &whole, times)?;
        if let (Some(questions), Some(blamed)) = (self.args.reduce, &blamed) {
            other.as_ref().unwrap_or(self).reduce(&mut recorder, dialect, questions, blamed)?;
        }
        Ok(exit)
    }

    /// Another function that can be started, and the pass to blame for what it made of it, if nobody asked for one of
    /// them; and whether a verdict on such a function is open.
    fn blamed_elsewhere(
        &self,
        recorder: &mut StageRecorder,
        dialect: Dialect,
    ) -> Result<(Option<(Blamer<'_>, Blamed)>, bool), Failure> {
        let mut any_open = false;
        if self.args.entry.is_some() || !self.given.is_empty() {
            return Ok((None, any_open));
        }
        for entry in exported(&self.source).into_iter().filter(|entry| *entry != self.entry) {
            let other = Blamer { entry, ..self.with((*self.source).clone(), Vec::new(), self.steps.clone()) };
            let (found, is_open) = other.quietly_judged(recorder, dialect)?;
            any_open |= is_open;
            if let Some(found) = found {
                self.tell_elsewhere(&other.entry, &found)?;
                return Ok((Some((other, found)), any_open));
            }
        }
        Ok((None, any_open))
    }

    fn request(&self, dialect: Dialect) -> StagesRequest {
        StagesRequest::new(&self.source, dialect, self.steps.clone(), &self.args.exec)
    }

    /// The judgements on all passes, and the refusal by TVM, if any.
    fn record(&self, recorder: &mut StageRecorder, dialect: Dialect) -> Result<(PassRecord, Option<Refusal>), Stopped> {
        self.kept.keep(&self.source);
        let properties = Properties::of(&mut self.cx(dialect), &self.source);
        if let Some(fault) = properties.fault() {
            self.tell_fault(&fault)?;
        }
        let mut record = PassRecord {
            last: self.source.clone(),
            properties: match dialect {
                Dialect::Tvm025 => properties,
                Dialect::Tvm027 => properties.without_prim_values(),
            },
            unread: Vec::new(),
            passed: Vec::new(),
            changed: None,
            blamed: None,
            any_open: false,
            code: CodeStages::default(),
            is_of_code: false,
        };
        let ahead = || Ok(self.run_ahead(dialect)?);
        let refusal = recorder.record(&self.request(dialect), ahead, |stage| self.take(&mut record, stage, dialect))?;
        if refusal.is_none() {
            let name = |blamed: &Blamed| blamed.pass.clone();
            let known = record.blamed.as_ref().map(name);
            self.code(&mut record, recorder, dialect)?;
            record.is_of_code = record.blamed.as_ref().map(name) != known;
        }
        Ok((record, refusal))
    }

    /// Runs the program while TVM starts, where its weights are large. The first pass that changes it needs these runs,
    /// which are kept, and on the same inputs.
    fn run_ahead(&self, dialect: Dialect) -> Result<(), Failure> {
        let is_large = linked(&self.source, &self.entry).and_then(largest_size).is_some();
        if is_large && self.given.is_empty() {
            // What cannot be run is told of the first pass that is judged.
            let _ = run_ahead(&mut self.cx(dialect), &self.source, &self.entry, &self.settings()?);
        }
        Ok(())
    }

    /// The pass to blame: the first whose result is not allowed on ordinary arguments, else the one that causes a
    /// refusal, else the first whose result is not allowed on others.
    fn blamed(&self, record: &PassRecord, refusal: Option<&Refusal>) -> Option<Blamed> {
        let refused = || {
            let (reason, input, slight) = ("refused".to_string(), Vec::new(), false);
            Some(Blamed { pass: self.refused_by(record, refusal?)?, reason, input, slight })
        };
        let blamed = record.blamed.clone();
        blamed.clone().filter(|blamed| !blamed.slight).or_else(refused).or(blamed)
    }

    /// The same with another program and other passes.
    fn with(&self, source: IrModule, given: Vec<Vec<ValueSpec>>, steps: Vec<PassStep>) -> Blamer<'_> {
        let (args, entry, interrupt) = (self.args, self.entry.clone(), self.interrupt.clone());
        let (source, kept, shared) = (Rc::new(source), Rc::default(), self.shared.clone());
        let (own, tells, is_ordinary) = (Vec::new(), false, false);
        let runs = if given.is_empty() && args.runs.is_none() { RUNS } else { self.runs };
        Blamer { args, source, entry, given, steps, interrupt, kept, shared, own, runs, tells, is_ordinary }
    }

    /// The pass to blame, without any output; none if no pass ends in time.
    fn quietly_blamed(&self, recorder: &mut StageRecorder, dialect: Dialect) -> Result<Option<Blamed>, Failure> {
        Ok(self.quietly_judged(recorder, dialect)?.0)
    }

    /// The pass to blame, and whether a verdict is open.
    fn quietly_judged(
        &self,
        recorder: &mut StageRecorder,
        dialect: Dialect,
    ) -> Result<(Option<Blamed>, bool), Failure> {
        match self.record(recorder, dialect) {
            Ok((record, refusal)) => Ok((self.blamed(&record, refusal.as_ref()), record.any_open)),
            Err(Stopped::Stages(StagesError::TimedOut(..))) => Ok((None, true)),
            Err(stopped) => Err(Failure::from(stopped)),
        }
    }

    /// Prints a line for each sequence: the pass to blame, and the shortest part of the sequence that shows it.
    fn sequences(&self, recorder: &mut StageRecorder, dialect: Dialect, count: u64) -> CommandResult {
        let mut exit = Exit::AsExpected;
        for number in 0..count {
            let mut blamed_by = |steps: &[PassStep]| {
                let other = self.with((*self.source).clone(), self.given.clone(), steps.to_vec());
                other.quietly_blamed(recorder, dialect)
            };
            let steps = sequence(self.args.seed, number);
            let blamed = blamed_by(&steps)?;
            let part = match &blamed {
                None => None,
                Some(blamed) => {
                    exit = Exit::Findings;
                    Some(shortest(steps.clone(), |fewer| {
                        Ok::<bool, Failure>(blamed_by(fewer)?.is_some_and(|found| found.is_like(blamed)))
                    })?)
                }
            };
            self.tell_sequence(&steps, blamed.as_ref(), part.as_deref())?;
        }
        Ok(exit)
    }

    /// The smallest program found for which the same pass is to blame, with its arguments.
    fn reduce(
        &self,
        recorder: &mut StageRecorder,
        dialect: Dialect,
        questions: usize,
        blamed: &Blamed,
    ) -> Result<(), Failure> {
        let mut input = blamed.input.clone();
        let edition = self.cx(dialect).edition();
        let module = smaller(edition, &self.source, &self.entry, questions, |module| {
            let other = self.with(module.clone(), Vec::new(), self.steps.clone());
            let found = other.quietly_blamed(recorder, dialect)?.filter(|found| found.is_like(blamed));
            Ok::<bool, Failure>(found.map(|found| input = found.input).is_some())
        })?;
        let program = print_module(&module, Dialect::default());
        match self.args.format {
            ReportFormat::Human => print_program(&(program + &inputs(&input, "#")))?,
            ReportFormat::Json => {
                let input: Vec<String> = input.iter().map(value::argument).collect();
                print_json(&json!({ "smallest": program, "counterexample": input }))?;
            }
        }
        Ok(())
    }

    /// The pass to blame for a refusal, usually the pass that refuses. But a pipeline may refuse the result of an
    /// earlier pass, and accept the program itself: then the earlier pass is to blame. If code generation refuses, the
    /// pass to blame is the one without which it does not, or the one that should have lowered an operator.
    fn refused_by(&self, record: &PassRecord, refusal: &Refusal) -> Option<String> {
        let pass = refusal.pass.as_ref()?;
        let whole = |name: &str| name.split('/').next().unwrap_or_default().to_string();
        let is_asked =
            |pass: &String| self.steps.iter().any(|step| step.name.rsplit(':').next() == Some(whole(pass).as_str()));
        if let Some(asked) = refusal.without.iter().find(|without| is_asked(without) && !is_asked(pass)) {
            return Some(asked.clone());
        }
        if pass != CODE_GENERATION && !is_of_prim_funcs(pass) {
            return Some(pass.clone());
        }
        let lowering = record.passed.iter().find(|passed| *passed == LOWERING && !refusal.left.is_empty());
        refusal.without.first().or(lowering).or(Some(pass)).cloned()
    }

    fn cx(&self, dialect: Dialect) -> Cx {
        self.args.budget.cx().with_edition(self.args.edition.unwrap_or_else(|| dialect.claimed_edition()))
    }

    /// Runs the pipeline without a pass, and prints whether the difference remains.
    fn confirm(&self, recorder: &mut StageRecorder, dialect: Dialect, blamed: &str) -> Result<(), Failure> {
        let mut last = None;
        // The name of a part follows the name of its pass.
        let names = blamed.split(", ").filter_map(|name| name.rsplit('/').next()).map(str::to_string);
        let request = self.request(dialect).without(names.collect());
        let refusal: Option<Refusal> = recorder.record(
            &request,
            || Ok(()),
            |stage| {
                let made = module_of(&stage).and_then(Result::ok);
                // The text of a pass over PrimFuncs is not that of the module.
                let made = match (&last, stage.prim_funcs) {
                    (Some(program), true) => made.map(|made| with_prim_funcs(program, made)),
                    (None, true) => None,
                    (Some(_) | None, false) => made,
                };
                last = made.or(last.take());
                Ok::<(), Stopped>(())
            },
        )?;
        let verdict = match (refusal, last) {
            (Some(refusal), _) => PassVerdict::Open(refusal.message),
            (None, None) => PassVerdict::Unchanged,
            (None, Some(last)) => self.judge(&self.source, &last, dialect, None)?,
        };
        self.tell(&format!("the pipeline without {blamed}"), &Judged::from(verdict))
    }

    /// The verdict on what a pass, or everything, made of a program.
    fn judge(
        &self,
        before: &IrModule,
        after: &IrModule,
        dialect: Dialect,
        pass: Option<&str>,
    ) -> Result<PassVerdict, Failure> {
        let mut cx = self.cx(dialect);
        let mut before = Cow::Borrowed(before);
        for step in self.steps.iter().filter(|step| pass.is_none_or(|pass| is_of(pass, step))) {
            if let Some(made) = bound(&before, &self.entry, step) {
                before = Cow::Owned(made);
            }
        }
        let before = &*before;
        let related = related(before, after, &self.entry);
        let after = related.as_ref().unwrap_or(after);
        let count = |module: &IrModule| linked(module, &self.entry).map(|func| func.params.len());
        // Each pass is judged by what it did to them.
        if pass.is_none() && count(before) != count(after) {
            return Ok(PassVerdict::Open("several passes have changed the parameters".to_string()));
        }
        let rounds = self.steps.iter().any(|step| step.name == ROUNDING && pass.is_none_or(|pass| is_of(pass, step)));
        let settings = Settings { both: rounds, ..self.settings()? };
        let found = refine(&mut cx, before, after, &self.entry, &self.given, &settings);
        let exactly = found.as_ref().ok().filter(|_| rounds).and_then(exact_verdict);
        let verdict = exactly.unwrap_or_else(|| verdict_on(before, found));
        // The ring draws other numbers than those that are given.
        Ok(match verdict {
            PassVerdict::NotAllowed { rule, message, .. }
                if rule == REAL && self.runs == 0 && !self.given.is_empty() =>
            {
                match message.contains(WITHIN_ROUNDING) {
                    true => PassVerdict::Allowed { inputs: self.given.len() },
                    false => PassVerdict::Open(message),
                }
            }
            verdict => verdict,
        })
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let (seed, shared, kept) = (self.args.seed, self.shared.clone(), self.kept.clone());
        let origin = Some(self.source.clone());
        let mut settings = Settings { seed, shared, kept, origin, steps: STEPS, ..Settings::runs(self.runs) };
        self.args.budget.allow(&mut settings, &self.args.given);
        self.args.assuming.assume(&mut settings)?;
        settings.known.ordinary |= self.is_ordinary;
        Ok(settings)
    }
}

/// Whether a pass is that of a step, or a part of it.
fn is_of(pass: &str, step: &PassStep) -> bool {
    pass.split('/').next() == Some(step.name.as_str())
}

/// Whether a pass is one over PrimFuncs, which runs while code is generated.
fn is_of_prim_funcs(pass: &str) -> bool {
    ["tir.", "tirx.", "s_tir."].iter().any(|family| pass.starts_with(family))
}

/// The steps of all runs of a pass after which no further input is generated: large programs run on few.
const STEPS: u64 = 12_000_000;
/// How many inputs are generated for each pass.
const RUNS: usize = 20;
/// The pass that computes in float16 because it is asked to.
const ROUNDING: &str = "ToMixedPrecision";
/// The pass that writes the gradient of a function.
const GRADIENT: &str = "Gradient";
/// The clause by which another real function is not allowed, though it is the same within rounding.
const REAL: &str = "REFINE.REAL";
/// What it says where floats decide.
const WITHIN_ROUNDING: &str = "though within rounding";
/// The step after all passes.
const CODE_GENERATION: &str = "code generation";
/// The pass that lowers operators.
const LOWERING: &str = "LegalizeOps";
