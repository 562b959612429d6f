//! `relax-spec refine`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::arrays::write_arrays;
use super::assume::Assuming;
use super::budget::StepBudget;
use super::choice::{Choosing, JudgementChoice};
use super::externs::Externs;
use super::given::{self, EntryArguments, ReplayArguments};
use super::options::ReportFormat;
use super::value::Brief;
use super::{CommandResult, Exit, Failure, input, library, print, print_json, render, value};
use ask::executables::OnMachine;
use ask::extern_process::ExternProcess;
use ask::library::SavedLibrary;
use campaign::adequacy::{Adequacy, UnnoticedConstants, adequacy, unnoticed_constants};
use relax_spec::arguments::linked;
use relax_spec::check::check_program;
use relax_spec::data::json::to_value;
use relax_spec::findings::Severity;
use relax_spec::grammar::{Binder, IrModule, Name, Span};
use relax_spec::judge::Cx;
use relax_spec::refine::{
    Deviation, Differing, EDITION_OF_PRIM_FUNCS, RealVerdict, Refinement, RefinementVerdict, Settings, Unreached,
    prim_funcs_alone, refine, refine_compiled, with_entry,
};
use relax_spec::value::ValueSpec;

/// Is AFTER an allowed optimization of BEFORE?
///
/// Both programs run on the given arguments and on generated ones, chosen around the constants of both. Inside of
/// dataflow blocks AFTER may be more defined, never less; elsewhere values, errors, effects and mutations must be
/// preserved. Floats may differ as much as different rounding would change the result of BEFORE. Both programs are
/// judged by the edition of BEFORE. If A13 is taken literally, any divergence may be optimized away.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec refine before.py after.py
  relax-spec refine before.py after.py --runs 500
  relax-spec refine test.py test.py --module Before --module Expected
  relax-spec refine before.py after.py --runs 0 --arg '[1, 2]:float32'
  relax-spec refine before.py after.py --assume 'indices in range' --assume x:range=0..=1
  relax-spec refine before.py after.py --arg @image.npy --args weights.npz
  relax-spec refine model.py model.so --adapter tvm@0.27
  relax-spec refine before.py after.py --save found.npz || relax-spec refine before.py after.py --runs 0 --args found.npz

Exit status: 0 allowed; 1 not allowed; 2 a program is ill-formed or cannot be read; 4 vacuous, because no run reached its end;
5 undecided, on more than a tenth of the inputs, or out of budget.")]
pub struct Args {
    /// The source: TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "BEFORE")]
    pub(super) before: PathBuf,
    /// The target; it may be an executable, as `relax-spec build` writes it, or with --adapter a library that TVM saved
    #[arg(value_name = "AFTER")]
    pub(super) after: PathBuf,
    /// Of Python files with several modules: the name of the class, in both files, or given twice, in BEFORE and in
    /// AFTER
    #[arg(long = "module", value_name = "NAME")]
    modules: Vec<String>,
    /// The global symbol of the function to start, or, where the modules are `PrimFunc`s alone, the name of one
    /// [default: main, or the only one, or each `PrimFunc` by its name]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    pub(super) given: EntryArguments,
    /// How many generated inputs to try
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: usize,
    /// Judge programs even if they are ill-formed
    #[arg(long)]
    unchecked: bool,
    /// The seed of the generated inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Floats must be equal bit for bit, whatever rounding would explain
    #[arg(long)]
    exact: bool,
    /// Report how many one-step mutants of BEFORE the inputs distinguish from it, and list the others
    #[arg(long)]
    adequacy: bool,
    #[command(flatten)]
    assuming: Assuming,
    #[command(flatten)]
    externs: Externs,
    /// The TVM that loads AFTER, a library that it saved (.so, or .rvm without compiled functions): `tvm@0.26`, or
    /// `tvm@/path/to/python`. Its executable runs on the machine of relax-spec, which has the compiled functions
    /// called in the library
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// Write the arguments of a counterexample into a NumPy file, by the names of their parameters, as --args reads
    /// them
    #[arg(long, value_name = "OUT.npz")]
    save: Option<PathBuf>,
    /// Print everything in full
    #[arg(long)]
    verbose: bool,
    /// How far a float may be off beyond what rounding explains, relative to its magnitude plus 1
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    tolerance: f64,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
}

impl Args {
    /// The names of the modules of BEFORE and of AFTER, if they are given.
    fn modules(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        match self.modules.as_slice() {
            [] => Ok((None, None)),
            [both] => Ok((Some(both), Some(both))),
            [before, after] => Ok((Some(before), Some(after))),
            [_, _, _, ..] => Err(Failure::unreadable("--module goes twice at most, for BEFORE and for AFTER")),
        }
    }
}

pub fn run(args: &Args) -> CommandResult {
    let before = input::read(&args.before)?;
    let after = match args.adapter {
        Some(_) => input::SourceFile::unread(&args.after),
        None if library::is_saved(&args.after) => return Err(library::needs_adapter(&args.after)),
        None => input::read(&args.after)?,
    };
    let (of_before, of_after) = args.modules()?;
    let source = before.module(of_before)?;
    let target = RefinementTarget::of(args, &after, of_after)?;
    let choice = chosen(args, &before, &source, &after, &target)?;
    let mut cx = choice.cx(args.budget.cx());
    let compared = Compared { args, before: &before, after: &after };
    if let (names @ [_, ..], RefinementTarget::Module(target)) = (prim_funcs_alone(&source).as_slice(), &target) {
        cx = cx.with_edition(EDITION_OF_PRIM_FUNCS);
        return compared.prim_funcs(&mut cx, &source, target, names);
    }
    if args.entry.is_none() {
        // An ill-formed program has no entry point either.
        compared.well_formed(&cx, &source, &target)?;
    }
    let entry = given::entry(&mut cx, &source, args.entry.as_deref())?;
    compared.compare(&mut cx, &source, &target, &entry)
}

/// The percentage of additional steps that a verdict may take, to find the constants that it would not notice.
const UNNOTICED_PERCENT: u64 = 20;
/// The number of additional steps that are always allowed: some milliseconds.
const UNNOTICED_LEAST: u64 = 200_000;

/// The two files that are compared.
struct Compared<'a> {
    args: &'a Args,
    before: &'a input::SourceFile,
    after: &'a input::SourceFile,
}

impl Compared<'_> {
    /// Compares `PrimFunc`s by their names, in modules in which nothing else can be started.
    fn prim_funcs(&self, cx: &mut Cx, source: &IrModule, target: &IrModule, names: &[Name]) -> CommandResult {
        let chosen = match &self.args.entry {
            Some(entry) => names.iter().filter(|name| ***name == **entry).cloned().collect(),
            None => names.to_vec(),
        };
        let many = chosen.len() > 1;
        if many && self.args.format == ReportFormat::Json {
            return Err(Failure::unreadable("--format json reports one function; --entry NAME chooses one"));
        }
        let lacks = |which: &str, name: &str| Failure::unreadable(format!("{which} has no PrimFunc `{name}`"));
        let mut worst = Exit::NothingRan;
        if let (Some(entry), []) = (&self.args.entry, chosen.as_slice()) {
            return Err(lacks("BEFORE", entry));
        }
        for name in &chosen {
            let (source, entry) = with_entry(cx, source, name).ok_or_else(|| lacks("BEFORE", name))?;
            let (target, _) = with_entry(cx, target, name).ok_or_else(|| lacks("AFTER", name))?;
            if many {
                print(&format!("{name}: "))?;
            }
            let exit = self.compare(cx, &source, &RefinementTarget::Module(target), &entry)?;
            // One function that is not allowed decides the result.
            worst = if [worst, exit].contains(&Exit::Findings) { Exit::Findings } else { worst.and(exit) };
        }
        Ok(worst)
    }

    /// Reports ill-formed programs, which are not judged.
    fn well_formed(&self, cx: &Cx, source: &IrModule, target: &RefinementTarget) -> Result<(), Failure> {
        let mut programs = vec![(self.before, source)];
        if let RefinementTarget::Module(target) = target {
            programs.push((self.after, target));
        }
        match self.args.unchecked {
            true => Ok(()),
            false => well_formed(cx, self.args.format, &programs),
        }
    }

    fn compare(&self, cx: &mut Cx, source: &IrModule, target: &RefinementTarget, entry: &str) -> CommandResult {
        let args = self.args;
        self.well_formed(cx, source, target)?;
        let mut settings =
            Settings { seed: args.seed, exact: args.exact, tolerance: args.tolerance, ..Settings::runs(args.runs) };
        args.budget.allow(&mut settings, &args.given);
        let mut externs = args.externs.bind(&mut settings.registry)?;
        if let RefinementTarget::Library(library) = target {
            library.bind(&mut settings.registry, source);
            externs.push(library.process.clone());
        }
        let given: Vec<Vec<ValueSpec>> = match args.given.is_empty() {
            true => Vec::new(),
            false => vec![args.given.load(linked(source, entry), settings.memory)?],
        };
        given.iter().try_for_each(|one| given::one_for_each_parameter(entry, linked(source, entry), one.len()))?;
        args.assuming.assume(&mut settings)?;
        settings.keep = true;
        settings.both = true;
        let refinement = match target {
            RefinementTarget::Module(target) => refine(cx, source, target, entry, &given, &settings),
            RefinementTarget::Executable(target)
            | RefinementTarget::Library(SavedLibrary { executable: target, .. }) => {
                refine_compiled(cx, source, target, entry, &given, &settings)
            }
        };
        let refinement = refinement.map_err(Failure::unreadable)?;
        if let Some(error) = externs.iter().find_map(ExternProcess::failure) {
            return Err(Failure::new(Exit::Adapter, error));
        }
        let adequacy = match args.adequacy {
            true => {
                let adequacy = adequacy(cx, source, entry, &refinement.inputs, &settings);
                Some(adequacy.map_err(Failure::unreadable)?)
            }
            false => None,
        };
        // The list of mutants already includes those of constants.
        let unnoticed = match &refinement.verdict {
            RefinementVerdict::Allowed if !args.adequacy => {
                let steps = (refinement.steps * UNNOTICED_PERCENT / 100).max(UNNOTICED_LEAST);
                let inputs = &refinement.inputs;
                unnoticed_constants(cx, source, entry, inputs, &settings, steps).map_err(Failure::unreadable)?
            }
            RefinementVerdict::Allowed
            | RefinementVerdict::NotAllowed { .. }
            | RefinementVerdict::Vacuous(_)
            | RefinementVerdict::Undecided(_)
            | RefinementVerdict::OutOfBudget(_) => UnnoticedConstants::default(),
        };
        let report = RefinementReport {
            kept: refinement.input.as_ref().map(|input| given::by_parameters(linked(source, entry), input)),
            names: linked(source, entry).map(|func| func.params.iter().map(|param| param.var.name.clone()).collect()),
            signatures: other_parameters(source, target, entry),
            refinement: &refinement,
            adequacy: adequacy.as_ref(),
            unnoticed,
            before: self.before,
            after: self.after,
            args,
        };
        report.save()?;
        match args.format {
            ReportFormat::Human => print(&report.told())?,
            ReportFormat::Json => print_json(&report.json())?,
        }
        Ok(exit(&refinement.verdict))
    }
}

fn exit(verdict: &RefinementVerdict) -> Exit {
    match verdict {
        RefinementVerdict::Allowed => Exit::AsExpected,
        RefinementVerdict::NotAllowed { .. } => Exit::Findings,
        RefinementVerdict::Vacuous(_) => Exit::NothingRan,
        RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_) => Exit::StoppedEarly,
    }
}

/// The edition and the reading for the judgement of both programs.
fn chosen(
    args: &Args,
    before: &input::SourceFile,
    source: &IrModule,
    after: &input::SourceFile,
    target: &RefinementTarget,
) -> Result<JudgementChoice, Failure> {
    let choice = args.choosing.for_module(&args.before, before, source)?;
    let RefinementTarget::Module(target) = target else { return Ok(choice) };
    let other = args.choosing.for_file(&args.after)?.for_module(after, target)?;
    if other.edition == choice.edition {
        return Ok(choice);
    }
    let message = format!("BEFORE is to be judged by {choice}, AFTER by {other}; --edition chooses one for both");
    Err(Failure::unreadable(message))
}

/// The program to judge.
enum RefinementTarget {
    Module(IrModule),
    Executable(OnMachine),
    Library(SavedLibrary),
}

impl RefinementTarget {
    fn of(args: &Args, after: &input::SourceFile, module: Option<&str>) -> Result<RefinementTarget, Failure> {
        if let Some(adapter) = &args.adapter {
            let library = library::load(adapter, &args.after)?;
            super::vm::faults(&args.after, &library.executable.0)?;
            return Ok(RefinementTarget::Library(library));
        }
        if !super::vm::is_executable(&after.text) {
            return Ok(RefinementTarget::Module(after.module(module)?));
        }
        let place = |error| Failure::unreadable(format!("{}: {error}", after.name));
        let executable = super::vm::executable(&after.text).map_err(place)?;
        super::vm::faults(&args.after, &executable)?;
        Ok(RefinementTarget::Executable(OnMachine(executable)))
    }
}

/// Reports an ill-formed program, which is then not judged.
fn well_formed(cx: &Cx, format: ReportFormat, programs: &[(&input::SourceFile, &IrModule)]) -> Result<(), Failure> {
    let (mut told, mut broken) = (Vec::new(), false);
    for (text, module) in programs {
        let findings = check_program(&mut cx.clone(), module).diagnostics;
        let errors = || findings.iter().filter(|finding| finding.is_fatal());
        if format == ReportFormat::Human {
            render::tell_all(text, cx.edition(), errors());
        }
        broken |= errors().any(|finding| finding.severity == Severity::Error);
        told.extend(errors().map(|finding| render::finding_json(text, "", finding)));
    }
    if told.is_empty() {
        return Ok(());
    }
    if format == ReportFormat::Json {
        print_json(&json!({"verdict": if broken { "ill_formed" } else { "limit" }, "findings": told}))?;
    }
    if !broken {
        let message =
            "undecided, limit: a program that cannot be checked is not judged (--unchecked judges it all the same)";
        return Err(Failure::new(Exit::StoppedEarly, message));
    }
    Err(Failure::unreadable("an ill-formed program is not judged (--unchecked judges it all the same)"))
}

/// The difference between the parameters of the entry in the two programs. A pass may have changed their order.
fn other_parameters(before: &IrModule, after: &RefinementTarget, entry: &str) -> Option<String> {
    let RefinementTarget::Module(after) = after else { return None };
    let params = |module: &IrModule| -> Option<String> {
        let param = |param: &Binder| match &param.annotation {
            Some(info) => format!("{}: {info}", param.var.name),
            None => param.var.name.to_string(),
        };
        Some(linked(module, entry)?.params.iter().map(param).collect::<Vec<String>>().join(", "))
    };
    let (before, after) = (params(before)?, params(after)?);
    (before != after).then(|| format!("the source takes ({before}), the target ({after})"))
}

/// The parts of the report.
struct RefinementReport<'a> {
    refinement: &'a Refinement,
    adequacy: Option<&'a Adequacy>,
    /// The constants of BEFORE that the verdict would not notice.
    unnoticed: UnnoticedConstants,
    /// The arguments of the counterexample, in a form that can be passed again.
    kept: Option<ReplayArguments<'a>>,
    /// The names of the parameters.
    names: Option<Vec<Name>>,
    /// The difference between the parameters of the entry in the two programs, if there is one.
    signatures: Option<String>,
    before: &'a input::SourceFile,
    after: &'a input::SourceFile,
    args: &'a Args,
}

/// The maximum length of a message and a value in it, and the maximum number of arguments and mutants, in a report that
/// fits on a screen.
const LONGEST: usize = 400;
const MOST: usize = 10;

impl RefinementReport<'_> {
    /// Writes the counterexample to a file, if requested.
    fn save(&self) -> Result<(), Failure> {
        match (&self.args.save, &self.kept) {
            (Some(path), Some(kept)) => write_arrays(path, &kept.arrays).map_err(|error| given::failure(path, error)),
            (_, _) => Ok(()),
        }
    }

    /// The verdict.
    fn headline(&self) -> String {
        let Refinement { verdict, compared, ended, .. } = self.refinement;
        match verdict {
            RefinementVerdict::Allowed => {
                let from = match self.unnoticed.untold.len() {
                    0 => String::new(),
                    1 => ", not told apart from a change of 1 constant".to_string(),
                    n => format!(", not told apart from changes of {n} constants"),
                };
                format!("allowed on {compared} inputs, on {ended} of which both programs reach their end{from}\n")
            }
            RefinementVerdict::NotAllowed { rule, message } => {
                // The clause on the value of the operator says more than that values are the same.
                let decides = self.refinement.differing.as_ref().and_then(|differing| differing.clause);
                let decides = decides.map(|clause| format!("{clause}, by ")).unwrap_or_default();
                format!("not allowed [{decides}{rule}]: {}\n", self.cut(message))
            }
            RefinementVerdict::Vacuous(reason) => format!("vacuous: {}\n", self.cut(reason)),
            RefinementVerdict::Undecided(reason) => format!("undecided: {}\n", self.cut(reason)),
            RefinementVerdict::OutOfBudget(reason) => format!("out of budget: {}\n", self.cut(reason)),
        }
    }

    /// The verdict, its significance, and the counterexample.
    fn told(&self) -> String {
        let Refinement { verdict, compared, undecided, reason, differing, unknown, deviation, .. } = self.refinement;
        let mut text = self.headline();
        if let Some(within) = self.refinement.within_rounding {
            let _ = writeln!(text, "  as real functions: {}", self.cut(&self.refinement.real.to_string()));
            let _ = writeln!(text, "  within rounding: {}", if within { "yes" } else { "no" });
        }
        if let Some(size) = self.refinement.largest_size {
            let _ = writeln!(text, "  sizes that the signature leaves open are at most {size}: its weights are large");
        }
        let open = matches!(verdict, RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_));
        if let Some(reason) = reason.as_ref().filter(|_| !open) {
            let _ = match undecided {
                0 => writeln!(text, "  inputs that do not count: {}", self.cut(reason)),
                _ => writeln!(text, "  undecided on {undecided} more: {}", self.cut(reason)),
            };
        } else if *compared > 0 && open {
            let _ = writeln!(text, "  on {undecided} of {} inputs", compared + undecided);
        }
        if let Some(Deviation { error, bound, index, before, after }) = deviation {
            let _ = match verdict {
                RefinementVerdict::NotAllowed { .. } => writeln!(
                    text,
                    "  element {index} is {before:?} in the source and {after:?} in the target; rounding explains {bound:.3e}"
                ),
                RefinementVerdict::Allowed
                | RefinementVerdict::Vacuous(_)
                | RefinementVerdict::Undecided(_)
                | RefinementVerdict::OutOfBudget(_) => {
                    writeln!(text, "  a float is off by {error:.3e}; rounding explains {bound:.3e}")
                }
            };
        }
        if let Some(Differing { name, before, after, clause }) = differing {
            let [before, after] = [before, after].map(|value| self.cut(&value.to_string()));
            let clause = clause.map(|clause| format!(" [{clause}]")).unwrap_or_default();
            let _ = writeln!(text, "  first at `{name}`: {before} in the source, {after} in the target{clause}");
        }
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(|name| &**name).collect();
            let names = self.cut(&names.join(", "));
            let _ = writeln!(text, "  not known: {names} (--extern CMD provides, --assume says more)");
        }
        if let (RefinementVerdict::NotAllowed { .. }, Some(signatures)) = (verdict, &self.signatures) {
            let _ = writeln!(text, "  the parameters differ: {}", self.cut(signatures));
        }
        self.counterexample(&mut text);
        if *verdict == RefinementVerdict::Allowed {
            self.would_not_notice(&mut text);
            self.untried(&mut text);
        }
        self.worth(&mut text);
        text
    }

    /// The arguments in a form that can be passed again, or the way to obtain them.
    fn counterexample(&self, text: &mut String) {
        let values = self.refinement.input.as_deref().unwrap_or_default();
        let most = if self.args.verbose { values.len() } else { MOST };
        let mut whole = true;
        for (i, value) in values.iter().take(most).enumerate() {
            let brief = if self.args.verbose { Brief::Whole(value::argument(value)) } else { value::brief(value) };
            let _ = match brief {
                Brief::Whole(argument) => writeln!(text, "  with --arg '{argument}'"),
                Brief::Summary(summary) => {
                    whole = false;
                    let name = self.names.as_ref().and_then(|names| names.get(i));
                    writeln!(text, "  with {} = {summary}", name.map_or("an argument", |name| name))
                }
            };
        }
        if values.len() > most {
            let _ = writeln!(text, "  and {} more arguments", values.len() - most);
        }
        match (&self.args.save, &self.kept) {
            (Some(path), Some(kept)) => {
                let rest: String =
                    kept.rest.iter().map(|value| format!(" --arg '{}'", value::argument(value))).collect();
                let path = path.display().to_string();
                let path = shlex::try_quote(&path).unwrap_or_default();
                let _ = writeln!(text, "  the same: --args {path}{rest}");
            }
            (None, Some(_)) if !whole || values.len() > most => {
                text.push_str("  (--save OUT.npz writes the arguments into a file that --args reads, --verbose prints them whole)\n");
            }
            (_, _) => {}
        }
    }

    /// The constants of BEFORE that an "allowed" does not cover: the verdict would be the same with another number in
    /// AFTER.
    fn would_not_notice(&self, text: &mut String) {
        let UnnoticedConstants { untold, unasked } = &self.unnoticed;
        let most = if self.args.verbose { untold.len() } else { MOST };
        for (what, span) in untold.iter().take(most) {
            let _ = writeln!(text, "  would not notice: {what} {}", self.before.place(*span));
        }
        if untold.len() > most {
            let _ = writeln!(text, "  would not notice: {} more", untold.len() - most);
        }
        if *unasked > 0 {
            let constants = if *unasked == 1 { "constant" } else { "constants" };
            let _ = writeln!(
                text,
                "  of {unasked} {constants} it is not known whether others would be noticed (--adequacy)"
            );
        }
    }

    /// The parts that an "allowed" does not cover: branches, calls and sides of choices that no run reached.
    fn untried(&self, text: &mut String) {
        let (of_before, of_after) = &self.refinement.unreached;
        for (program, source, unreached) in [("BEFORE", self.before, of_before), ("AFTER", self.after, of_after)] {
            let most = if self.args.verbose { unreached.len() } else { MOST };
            for part in unreached.iter().take(most) {
                let _ = match part {
                    Unreached::Branch { span, holds } => {
                        writeln!(text, "  never reached: the branch for {holds} {} in {program}", source.place(*span))
                    }
                    Unreached::Operator { span, name } => {
                        writeln!(text, "  never reached: {name} {} in {program}", source.place(*span))
                    }
                    Unreached::Side { span, of, side } => {
                        writeln!(text, "  never reached: {of} {side} {} in {program}", source.place(*span))
                    }
                };
            }
            if unreached.len() > most {
                let _ = writeln!(text, "  never reached: {} more in {program}", unreached.len() - most);
            }
        }
    }

    /// [`RefinementReport::untried`] in JSON.
    fn unreached(&self, source: &input::SourceFile, unreached: &[Unreached]) -> Vec<Value> {
        let part = |part: &Unreached| {
            let (mut value, span) = match part {
                Unreached::Branch { span, holds } => (json!({"branch": holds}), span),
                Unreached::Operator { span, name } => (json!({"operator": name.to_string()}), span),
                Unreached::Side { span, of, side } => (json!({"of": &**of, "side": side.word()}), span),
            };
            render::put_place(&mut value, source, *span);
            value
        };
        unreached.iter().map(part).collect()
    }

    /// The significance of the inputs.
    fn worth(&self, text: &mut String) {
        let Some(Adequacy { told, untold, open }) = self.adequacy else { return };
        let _ = writeln!(text, "the inputs tell {told} of {} one-step mutants of BEFORE from it", told + untold.len());
        let most = if self.args.verbose { untold.len() } else { MOST };
        for (what, span) in untold.iter().take(most) {
            let _ = writeln!(text, "  not {}: {what}", self.before.place(*span));
        }
        if untold.len() > most {
            let _ = writeln!(text, "  nor {} more (--verbose)", untold.len() - most);
        }
        if *open > 0 {
            let _ = writeln!(text, "  of {open} more nothing can be said");
        }
    }

    fn cut(&self, text: &str) -> String {
        if self.args.verbose { text.to_string() } else { value::cut(text, LONGEST) }
    }

    /// All contents, as `refine.schema.json` describes them.
    fn json(&self) -> Value {
        let Refinement { verdict, compared, ended, undecided, reason, differing, unknown, deviation, input, .. } =
            self.refinement;
        let (name, rule, message) = match verdict {
            RefinementVerdict::Allowed => ("allowed", None, None),
            RefinementVerdict::NotAllowed { rule, message } => ("not_allowed", Some(rule), Some(message)),
            RefinementVerdict::Vacuous(message) => ("vacuous", None, Some(message)),
            RefinementVerdict::Undecided(message) => ("undecided", None, Some(message)),
            RefinementVerdict::OutOfBudget(message) => ("out_of_budget", None, Some(message)),
        };
        let argument = |(i, value): (usize, &ValueSpec)| {
            json!({
                "parameter": self.names.as_ref().and_then(|names| names.get(i)).map(|name| &**name),
                "argument": value::argument(value),
                "value": to_value(value),
            })
        };
        let deviation = deviation.map(|Deviation { error, bound, index, before, after }| {
            let [error, bound, before, after] = [error, bound, before, after].map(number);
            json!({"error": error, "bound": bound, "index": index, "before": before, "after": after})
        });
        let differing = differing.as_ref().map(|Differing { name, before, after, clause }| {
            json!({"name": &**name, "before": to_value(before), "after": to_value(after), "clause": clause})
        });
        let changed = |(what, span): &(String, Span)| {
            let mut mutant = json!({"what": what});
            render::put_place(&mut mutant, self.before, *span);
            mutant
        };
        let adequacy = self.adequacy.map(|Adequacy { told, untold, open }| {
            let untold: Vec<Value> = untold.iter().map(changed).collect();
            json!({"told": told, "untold": untold, "open": open})
        });
        json!({
            "verdict": name,
            "rule": rule,
            "message": message,
            "real": real_json(&self.refinement.real),
            "within_rounding": self.refinement.within_rounding,
            "compared": compared,
            "ended": ended,
            "undecided": undecided,
            "largest_size": self.refinement.largest_size,
            "reason": reason,
            "differing": differing,
            "deviation": deviation,
            "unknown": unknown.iter().map(|name| &**name).collect::<Vec<&str>>(),
            "counterexample": input.as_ref().map(|input| input.iter().enumerate().map(argument).collect::<Vec<Value>>()),
            "unreached": {
                "before": self.unreached(self.before, &self.refinement.unreached.0),
                "after": self.unreached(self.after, &self.refinement.unreached.1),
            },
            "adequacy": adequacy,
            "unnoticed": {
                "constants": self.unnoticed.untold.iter().map(changed).collect::<Vec<Value>>(),
                "unasked": self.unnoticed.unasked,
            },
        })
    }
}

/// The verdict of the ring, in JSON.
fn real_json(real: &RealVerdict) -> Value {
    let (verdict, draws, reason) = match real {
        RealVerdict::Equal { draws } => ("equal", Some(draws), None),
        RealVerdict::RoundedConstants { draws } => ("equal_but_for_rounded_constants", Some(draws), None),
        RealVerdict::Different { how, .. } => ("different", None, Some(how)),
        RealVerdict::Undecided(reason) => ("undecided", None, Some(reason)),
    };
    json!({"verdict": verdict, "draws": draws, "error_bits": real.error_bits(), "reason": reason})
}

/// A float in JSON, which has no infinite numbers.
fn number(x: f64) -> Value {
    if x.is_finite() { x.into() } else { x.to_string().into() }
}
