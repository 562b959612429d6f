//! What the comparisons of a session share: the target of one pass is the source of the next one, and a run that was
//! done is not done again.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::observed::{ClosureObservations, Observed};
use super::reach::Reach;
use super::ring::{DrawSeed, RingResult};
use crate::arguments::Draw;
use crate::grammar::IrModule;
use crate::number::FloatType;
use crate::value::{Noise, Value, ValueSpec};

/// How many programs are kept: the first one, and the last ones.
const PROGRAMS: usize = 3;
/// How many runs of a program are kept.
const RUNS: usize = 128;
/// The values of how many lists of arguments are kept.
const VALUES: usize = 4;

/// The programs of a session with their runs, and the inputs.
#[derive(Debug, Default)]
pub struct KeptRuns {
    programs: RefCell<Vec<KeptProgram>>,
    inputs: RefCell<KeptInputs>,
    values: RefCell<VecDeque<KeptValues>>,
}

/// The values of arguments, which no run has changed.
#[derive(Debug)]
struct KeptValues {
    args: Vec<ValueSpec>,
    /// Of which draw they are, if they are in the ring.
    seed: Option<DrawSeed>,
    values: Vec<Value>,
}

/// A program. It is identified by its address, which no other one has as long as it is kept.
#[derive(Debug)]
struct KeptProgram {
    module: Rc<IrModule>,
    runs: Vec<KeptRun>,
    in_ring: Vec<KeptDraw>,
}

/// The noise of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct NoiseChoice {
    pub(super) seed: u64,
    /// The type with the most digits that it moves; `None` if it moves all.
    pub(super) finest: Option<FloatType>,
}

/// What a run depends on, beside the program and the session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RunOf<'a> {
    pub(super) entry: &'a str,
    // Compared before the arguments, which may be large.
    pub(super) noise: Option<NoiseChoice>,
    pub(super) args: &'a [ValueSpec],
}

/// The runs of the first program on some arguments.
#[derive(Debug)]
pub(super) struct RunsOfFirst {
    pub(super) plain: Observed,
    /// The runs with noise in which something was rounded, at least one.
    pub(super) noisy: Vec<(Observed, Rc<Noise>)>,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub(super) struct RunShown {
    pub(super) observed: Observed,
    pub(super) steps: u64,
    /// The parts that it reached, if they were recorded.
    pub(super) reach: Rc<Reach>,
    /// The noise after the run.
    pub(super) noise: Option<Rc<Noise>>,
}

#[derive(Debug)]
struct KeptRun {
    entry: String,
    args: Vec<ValueSpec>,
    noise: Option<NoiseChoice>,
    shown: RunShown,
}

/// What a run in the ring depends on, beside the program and the session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct DrawOf<'a> {
    pub(super) entry: &'a str,
    pub(super) seed: DrawSeed,
    pub(super) args: &'a [ValueSpec],
}

/// A run in the ring.
#[derive(Debug)]
struct KeptDraw {
    entry: String,
    args: Vec<ValueSpec>,
    seed: DrawSeed,
    shown: (RingResult, u64),
}

/// The inputs of a session, by the signature of the entry and the draw.
#[derive(Debug, Default)]
struct KeptInputs {
    made: HashMap<(String, usize, usize), Option<Vec<ValueSpec>>>,
    /// The bits of the constants of all programs so far.
    floats: HashSet<u64>,
}

impl KeptRuns {
    /// Keeps a program, and forgets an older one. Only the runs of programs that are kept are.
    pub fn keep(&self, module: &Rc<IrModule>) {
        let mut programs = self.programs.borrow_mut();
        if programs.iter().any(|known| Rc::ptr_eq(&known.module, module)) {
            return;
        }
        programs.push(KeptProgram { module: module.clone(), runs: Vec::new(), in_ring: Vec::new() });
        if programs.len() > PROGRAMS {
            programs.remove(1);
        }
    }

    /// Whether the runs of a program are kept.
    pub(super) fn keeps(&self, module: &IrModule) -> bool {
        self.programs.borrow().iter().any(|known| std::ptr::eq(&*known.module, module))
    }

    /// What a run of a program showed, if it is known.
    pub(super) fn run(&self, module: &IrModule, of: RunOf<'_>) -> Option<RunShown> {
        let programs = self.programs.borrow();
        let program = programs.iter().find(|known| std::ptr::eq(&*known.module, module))?;
        program.runs.iter().find(|run| run.of() == of).map(|run| run.shown.clone())
    }

    /// What is known of the first program on arguments of another one: a run, and runs with noise.
    pub(super) fn of_first(&self, other: &IrModule, entry: &str, args: &[ValueSpec]) -> Option<RunsOfFirst> {
        let programs = self.programs.borrow();
        let first = programs.first().filter(|first| !std::ptr::eq(&*first.module, other))?;
        let on_these = || first.runs.iter().filter(|run| run.entry == entry && run.args == args);
        let plain = on_these().find(|run| run.noise.is_none())?.shown.observed.clone();
        let noisy = on_these().filter(|run| run.noise.is_some_and(|noise| noise.finest.is_none()));
        let noisy = noisy.filter_map(|run| Some((run.shown.observed.clone(), run.shown.noise.clone()?)));
        let noisy: Vec<_> = noisy.filter(|(_, noise)| noise.was_asked()).collect();
        (!noisy.is_empty()).then_some(RunsOfFirst { plain, noisy })
    }

    /// Keeps what a run showed. The calls of closures depend on more than a run does.
    pub(super) fn insert(&self, module: &IrModule, of: RunOf<'_>, mut shown: RunShown) {
        let mut programs = self.programs.borrow_mut();
        let program = programs.iter_mut().find(|known| std::ptr::eq(&*known.module, module));
        let Some(program) = program.filter(|program| program.runs.len() < RUNS) else { return };
        if shown.observed.closures != ClosureObservations::default() {
            return;
        }
        let args = of.args.to_vec();
        // Equal arguments share their memory.
        if shown.observed.arguments == args {
            shown.observed.arguments.clone_from(&args);
        }
        program.runs.push(KeptRun { entry: of.entry.to_string(), args, noise: of.noise, shown });
    }

    /// The values of arguments, in memory of their own.
    pub(super) fn values<E>(
        &self,
        args: &[ValueSpec],
        seed: Option<DrawSeed>,
        make: impl FnOnce() -> Result<Vec<Value>, E>,
    ) -> Result<Vec<Value>, E> {
        let copied = |value: &Value| match value {
            Value::Tensor(tensor) => Value::Tensor(tensor.copied()),
            other => other.clone(),
        };
        let known = self.values.borrow();
        if let Some(known) = known.iter().find(|known| known.seed == seed && known.args == args) {
            return Ok(known.values.iter().map(copied).collect());
        }
        drop(known);
        let values = make()?;
        // Others may be changed by a run, or arguments share their memory.
        let is_plain = |(arg, value): (&ValueSpec, &Value)| match value {
            Value::Tensor(_) => matches!(arg, ValueSpec::Tensor(_)),
            value => matches!(value, Value::Shape(_) | Value::Prim(_)),
        };
        if args.iter().zip(&values).all(is_plain) {
            let mut known = self.values.borrow_mut();
            let kept = values.iter().map(copied).collect();
            known.push_back(KeptValues { args: args.to_vec(), seed, values: kept });
            if known.len() > VALUES {
                known.pop_front();
            }
        }
        Ok(values)
    }

    /// The result of a run in the ring, if it is known.
    pub(super) fn draw(&self, module: &IrModule, of: DrawOf<'_>) -> Option<(RingResult, u64)> {
        let programs = self.programs.borrow();
        let program = programs.iter().find(|known| std::ptr::eq(&*known.module, module))?;
        program.in_ring.iter().find(|run| run.of() == of).map(|run| run.shown.clone())
    }

    /// Keeps the result of a run in the ring.
    pub(super) fn insert_draw(&self, module: &IrModule, of: DrawOf<'_>, shown: (RingResult, u64)) {
        let mut programs = self.programs.borrow_mut();
        let program = programs.iter_mut().find(|known| std::ptr::eq(&*known.module, module));
        if let Some(program) = program.filter(|program| program.in_ring.len() < RUNS) {
            let (entry, args) = (of.entry.to_string(), of.args.to_vec());
            program.in_ring.push(KeptDraw { entry, args, seed: of.seed, shown });
        }
    }

    /// Forgets the inputs that are chosen around constants if these constants are new.
    pub(super) fn note_constants(&self, floats: &[f64], is_around: impl Fn(usize) -> bool) {
        let KeptInputs { made, floats: known } = &mut *self.inputs.borrow_mut();
        let before = known.len();
        known.extend(floats.iter().map(|float| float.to_bits()));
        if known.len() > before {
            made.retain(|(_, index, _), _| !is_around(*index));
        }
    }

    /// The arguments of a draw for a signature.
    pub(super) fn input(
        &self,
        signature: &str,
        draw: Draw,
        make: impl FnOnce() -> Option<Vec<ValueSpec>>,
    ) -> Option<Vec<ValueSpec>> {
        let key = (signature.to_string(), draw.index, draw.attempt);
        if let Some(known) = self.inputs.borrow().made.get(&key) {
            return known.clone();
        }
        let made = make();
        self.inputs.borrow_mut().made.insert(key, made.clone());
        made
    }
}

impl KeptRun {
    fn of(&self) -> RunOf<'_> {
        RunOf { entry: &self.entry, args: &self.args, noise: self.noise }
    }
}

impl KeptDraw {
    fn of(&self) -> DrawOf<'_> {
        DrawOf { entry: &self.entry, args: &self.args, seed: self.seed }
    }
}
