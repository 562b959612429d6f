//! Runs a program and records the observable behaviour.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::RefineError;
use super::calls::{self, Plan};
use super::kept::{KeptRuns, NoiseChoice, RunOf, RunShown};
use super::observed::{Observed, observed, seen};
use super::reach::Reach;
use super::ring::DrawSeed;
use crate::arguments::linked;
use crate::eval::{EvalOptions, RunObserver, evaluate_then};
use crate::grammar::{Function, IrModule, StructInfo};
use crate::judge::{Cx, Ending};
use crate::value::{Effect, Host, Noise, Registry, SharedCalls, Value, ValueSpec, from_specs};

/// A program in another form than a tree; its implementation runs it.
pub trait CompiledProgram: fmt::Debug {
    /// Runs an entry point on arguments, with these packed functions, and with noise in the rounding of floats if there
    /// is any.
    fn run(&self, cx: &mut Cx, entry: &str, args: Vec<Value>, registry: Registry, noise: Option<Rc<Noise>>) -> Ran;
}

/// How a run of a compiled program ended.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub outcome: Ending<Value>,
    /// The effects that are visible outside, in order.
    pub effects: Vec<Effect>,
    /// How many steps it took.
    pub steps: u64,
}

/// A program to be run.
#[derive(Clone, Debug)]
pub(super) struct Subject<'m> {
    pub(super) module: &'m IrModule,
    pub(super) entry: &'m str,
    /// The structural information of the results of functions without annotation.
    pub(super) results: Option<Rc<HashMap<usize, StructInfo>>>,
    /// The packed functions that it can call.
    pub(super) registry: Registry,
    /// The calls that its runs share with others.
    pub(super) shared: Rc<SharedCalls>,
    /// How many steps a run may take.
    pub(super) fuel: u64,
    /// The runs that the session keeps; `None` if they depend on the other program too.
    pub(super) kept: Option<Rc<KeptRuns>>,
    /// How many bytes its values may take.
    pub(super) memory: u64,
    /// The compiled program to run in place of the module.
    pub(super) compiled: Option<&'m dyn CompiledProgram>,
}

impl<'m> Subject<'m> {
    /// The function to run.
    pub(super) fn function(&self) -> Option<&'m Function> {
        linked(self.module, self.entry)
    }

    /// Runs the program and records the observable behaviour, with the number of steps; the closures that it returns
    /// are called as planned.
    pub(super) fn observe(
        &self,
        cx: &mut Cx,
        args: &[ValueSpec],
        plan: Plan<'_>,
        noise: Option<Rc<Noise>>,
        watch: Option<Rc<dyn RunObserver>>,
    ) -> Result<(Observed, u64), RefineError> {
        if let Some(compiled) = self.compiled {
            return self.observe_compiled(compiled, cx, args, noise);
        }
        let (results, registry) = (self.results.clone(), self.registry.clone());
        let (shared, fuel, memory) = (Some(self.shared.clone()), self.fuel, self.memory);
        let options = EvalOptions { results, registry, noise, watch, shared, fuel, memory, ..EvalOptions::default() };
        let args = self.values(args, None, || from_specs(args, &options.registry))?;
        options.noise.iter().for_each(|noise| noise.look_at(&args));
        Ok(evaluate_then(cx, self.module, self.entry, args.clone(), &options, |machine, run| {
            let seen = observed(run, &args, |value| calls::of_closures(machine, value, plan, calls::DEPTH));
            (seen, options.fuel.saturating_sub(machine.fuel_left()))
        }))
    }

    /// As [`Subject::observe`] without noise, with the parts that the run reaches. A run that is kept is not repeated.
    pub(super) fn observe_reaching(
        &self,
        cx: &mut Cx,
        args: &[ValueSpec],
        plan: Plan<'_>,
        reach: &Rc<Reach>,
    ) -> Result<(Observed, u64), RefineError> {
        let Some(kept) = self.keeping() else { return self.observe(cx, args, plan, None, Some(reach.clone())) };
        let of = RunOf { entry: self.entry, args, noise: None };
        if let Some(RunShown { observed, steps, reach: own, .. }) = kept.run(self.module, of) {
            reach.join(&own);
            return Ok((observed, steps));
        }
        let own: Rc<Reach> = Rc::default();
        let (observed, steps) = self.observe(cx, args, plan, None, Some(own.clone()))?;
        reach.join(&own);
        let shown = RunShown { observed: observed.clone(), steps, reach: own, noise: None };
        kept.insert(self.module, of, shown);
        Ok((observed, steps))
    }

    /// As [`Subject::observe`] with the noise of a seed, up to a type. A run that is kept is not repeated.
    pub(super) fn observe_noisy(
        &self,
        cx: &mut Cx,
        args: &[ValueSpec],
        plan: Plan<'_>,
        choice: NoiseChoice,
    ) -> Result<(Observed, u64, Rc<Noise>), RefineError> {
        let of = RunOf { entry: self.entry, args, noise: Some(choice) };
        let kept = self.keeping();
        if let Some(RunShown { observed, steps, noise: Some(noise), .. }) =
            kept.and_then(|kept| kept.run(self.module, of))
        {
            return Ok((observed, steps, noise));
        }
        let NoiseChoice { seed, finest } = choice;
        let noise = Rc::new(finest.map_or_else(|| Noise::new(seed), |finest| Noise::at_most(seed, finest)));
        let (observed, steps) = self.observe(cx, args, plan, Some(noise.clone()), None)?;
        if let Some(kept) = kept {
            let shown =
                RunShown { observed: observed.clone(), steps, reach: Rc::default(), noise: Some(noise.clone()) };
            kept.insert(self.module, of, shown);
        }
        Ok((observed, steps, noise))
    }

    /// The values of arguments. Those that are kept are not made again.
    pub(super) fn values<E>(
        &self,
        args: &[ValueSpec],
        seed: Option<DrawSeed>,
        make: impl FnOnce() -> Result<Vec<Value>, E>,
    ) -> Result<Vec<Value>, E> {
        match self.keeping() {
            Some(kept) => kept.values(args, seed, make),
            None => make(),
        }
    }

    /// Where the runs of this program are kept, if they are.
    pub(super) fn keeping(&self) -> Option<&KeptRuns> {
        self.kept.as_deref().filter(|kept| self.compiled.is_none() && kept.keeps(self.module))
    }

    /// The closures that a compiled program returns are not called, and its blocks are unknown.
    fn observe_compiled(
        &self,
        compiled: &dyn CompiledProgram,
        cx: &mut Cx,
        args: &[ValueSpec],
        noise: Option<Rc<Noise>>,
    ) -> Result<(Observed, u64), RefineError> {
        let args = from_specs(args, &self.registry)?;
        noise.iter().for_each(|noise| noise.look_at(&args));
        let Ran { outcome, effects, steps } = compiled.run(cx, self.entry, args.clone(), self.registry.clone(), noise);
        Ok((seen(outcome, effects, &args, calls::not_called), steps))
    }
}
