//! The comparison of two programs on one input after the other, and what comes of all of them.

use std::rc::Rc;

use super::agree::{Agreement, is_extreme};
use super::calls::Plan;
use super::first::{Differing, first_differing};
use super::judge::judge_runs;
use super::observe::{CompiledProgram, Subject};
use super::reach::Reach;
use super::ring::{RealVerdict, with_real};
use super::shrink::{Look, ShrinkOutcome, smallest};
use super::unreached::Unreached;
use super::{Deviation, Observed, RefineError, RefinementVerdict, Settings, unknown};
use crate::arguments::ArgumentSource;
use crate::book::Rule;
use crate::derivation::inferred_results;
use crate::eval::RunObserver;
use crate::grammar::{IrModule, Name, TensorData};
use crate::judge::{Cx, Ending};
use crate::number::FloatType;
use crate::value::{Noise, Registry, ValueSpec};

/// How often the source is run with noise where a float differs.
const SHADOWS: u64 = 3;
/// How often it is run so before the difference counts.
const MORE_SHADOWS: u64 = 12;
/// So many times the steps of all inputs the glances at smaller ones may take.
const GLANCES: u64 = 2;
/// Of so many inputs one may be undecided.
const ONE_IN: usize = 10;

/// The outcome of [`refine`](super::refine).
#[derive(Clone, PartialEq, Debug)]
pub struct Refinement {
    /// On all inputs together.
    pub verdict: RefinementVerdict,
    /// Whether the programs are the same as real functions.
    pub real: RealVerdict,
    /// Whether what floats show is the same within rounding, where that is decided.
    pub within_rounding: Option<bool>,
    /// The smallest input found on which the target breaks the clause.
    pub input: Option<Vec<ValueSpec>>,
    /// The inputs on which they were compared, if they are kept.
    pub inputs: Vec<Vec<ValueSpec>>,
    /// On how many inputs the two programs were compared with a decision.
    pub compared: usize,
    /// On how many of these both reached the end.
    pub ended: usize,
    /// How many inputs were undecided.
    pub undecided: usize,
    /// Why the last of them was.
    pub reason: Option<String>,
    /// Where the runs on that input part.
    pub differing: Option<Differing>,
    /// The packed functions of which nothing is known but what was assumed.
    pub unknown: Vec<Name>,
    /// What no run reached of the source, and of the target.
    pub unreached: (Vec<Unreached>, Vec<Unreached>),
    /// The largest deviation of a float that the bound allows, or, where the target breaks a clause, on that input.
    pub deviation: Option<Deviation>,
}

/// The verdict on an input.
pub(super) struct Judged {
    pub(super) verdict: RefinementVerdict,
    /// Whether both runs reached the end.
    pub(super) ended: bool,
    deviation: Option<Deviation>,
    /// Why something could not be seen.
    unseen: Option<String>,
}

/// Runs of the source with noise.
#[derive(Default)]
struct Shadows {
    runs: Vec<Observed>,
    /// Whether something was too large for its type in one of them.
    overflows: bool,
    /// Whether something was almost too large or too small for its type in one of them.
    near_end: bool,
    /// The finest type that was rounded to.
    finest: Option<FloatType>,
}

/// A counterexample.
struct FoundDeviation {
    size: usize,
    verdict: RefinementVerdict,
    input: Vec<ValueSpec>,
    deviation: Option<Deviation>,
}

/// A target. One that is compiled has no module to look into, and that is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefinementTarget<'a> {
    pub(super) module: &'a IrModule,
    pub(super) compiled: Option<&'a dyn CompiledProgram>,
}

/// Two programs that are being compared.
pub(super) struct RefinementComparison<'a> {
    cx: &'a mut Cx,
    pub(super) source: Subject<'a>,
    pub(super) target: Subject<'a>,
    pub(super) settings: &'a Settings,
    pub(super) arguments: ArgumentSource,
    /// The steps of all runs so far.
    pub(super) steps: u64,
    /// What the runs reach of the source, and of the target.
    pub(super) reach: (Rc<Reach>, Rc<Reach>),
    inputs: Vec<Vec<ValueSpec>>,
    compared: usize,
    ended: usize,
    undecided: usize,
    /// How many of these inputs the user gave.
    undecided_given: usize,
    reason: Option<RefinementVerdict>,
    unseen: Option<String>,
    deviation: Option<Deviation>,
    found: Option<FoundDeviation>,
    differing: Option<Differing>,
    unknown: Vec<Name>,
}

impl<'a> RefinementComparison<'a> {
    pub(super) fn of(
        cx: &'a mut Cx,
        source: &'a IrModule,
        target: &'a IrModule,
        entry: &'a str,
        settings: &'a Settings,
    ) -> Result<RefinementComparison<'a>, RefineError> {
        RefinementComparison::with(cx, source, RefinementTarget { module: target, compiled: None }, entry, settings)
    }

    /// As [`RefinementComparison::of`], with a target that may be compiled.
    pub(super) fn with(
        cx: &'a mut Cx,
        source: &'a IrModule,
        target: RefinementTarget<'a>,
        entry: &'a str,
        settings: &'a Settings,
    ) -> Result<RefinementComparison<'a>, RefineError> {
        let compiled = target.compiled;
        let target = target.module;
        let arguments = ArgumentSource::of(&[source, target], settings.seed, settings.memory);
        let (registry, unknown) = packed_functions(settings, &[source, target])?;
        let subject = |module| Subject {
            module,
            entry,
            results: inferred_results(cx, module),
            registry: registry.clone(),
            fuel: settings.fuel,
            compiled: None,
        };
        let (source, target) = (subject(source), Subject { compiled, ..subject(target) });
        Ok(RefinementComparison {
            source,
            target,
            cx,
            settings,
            arguments,
            steps: 0,
            reach: <(Rc<Reach>, Rc<Reach>)>::default(),
            inputs: Vec::new(),
            compared: 0,
            ended: 0,
            undecided: 0,
            undecided_given: 0,
            reason: None,
            unseen: None,
            deviation: None,
            found: None,
            differing: None,
            unknown,
        })
    }

    /// The context.
    pub(super) fn cx(&self) -> &Cx {
        self.cx
    }

    /// Whether an input was found on which the target breaks a clause.
    pub(super) fn is_broken(&self) -> bool {
        self.found.is_some()
    }

    /// The source, run on the arguments.
    pub(super) fn source_on(&mut self, args: &[ValueSpec]) -> Result<Observed, RefineError> {
        let watch: Rc<dyn RunObserver> = self.reach.0.clone();
        let (observed, steps) = self.source.observe(self.cx, args, Plan::Make(&self.arguments), None, Some(watch))?;
        self.steps += steps;
        Ok(observed)
    }

    /// What no run of the source reached, and of the target.
    pub(super) fn unreached(&self) -> (Vec<Unreached>, Vec<Unreached>) {
        (self.reach.0.unreached(self.source.module), self.reach.1.unreached(self.target.module))
    }

    /// Compares the programs on an input that was made to reach more, if the run of the source, which is given with what was
    /// reached before it, reaches its end. What cannot be decided does not count, and nothing is reached by it.
    pub(super) fn try_on(&mut self, args: &[ValueSpec], run: &Observed, before: &Reach) -> Result<(), RefineError> {
        let target = self.reach.1.known();
        let open = |reach: &(Rc<Reach>, Rc<Reach>)| {
            reach.0.back_to(before);
            reach.1.back_to(&target);
        };
        if !matches!(run.outcome, Ending::Value(_)) {
            open(&self.reach);
            return Ok(());
        }
        let (undecided, reason, unseen) = (self.undecided, self.reason.clone(), self.unseen.clone());
        self.on_run(args, run)?;
        if self.undecided > undecided {
            open(&self.reach);
            (self.undecided, self.reason, self.unseen) = (undecided, reason, unseen);
        }
        Ok(())
    }

    /// Compares the programs on an input that was given and takes note of the verdict.
    pub(super) fn on(&mut self, args: &[ValueSpec]) -> Result<(), RefineError> {
        let before = self.source_on(args)?;
        self.on_run(args, &before)?;
        self.undecided_given = self.undecided;
        Ok(())
    }

    /// As [`RefinementComparison::on`], where the source was run already.
    pub(super) fn on_run(&mut self, args: &[ValueSpec], before: &Observed) -> Result<(), RefineError> {
        let judged = self.judge(args, before)?;
        if self.settings.keep {
            self.inputs.push(args.to_vec());
        }
        self.unseen = self.unseen.take().or(judged.unseen);
        match judged.verdict {
            RefinementVerdict::Allowed | RefinementVerdict::Vacuous(_) => {
                self.compared += 1;
                self.ended += usize::from(judged.ended);
                self.deviation = larger(self.deviation, judged.deviation);
            }
            open @ (RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_)) => {
                self.undecided += 1;
                self.reason = Some(open);
            }
            verdict @ RefinementVerdict::NotAllowed { .. } => {
                self.compared += 1;
                self.ended += usize::from(judged.ended);
                let size = size_of(args);
                if self.found.as_ref().is_none_or(|found| size < found.size) {
                    let (input, deviation) = (args.to_vec(), judged.deviation);
                    self.found = Some(FoundDeviation { size, verdict, input, deviation });
                }
            }
        }
        Ok(())
    }

    /// The verdict on an input on which the source was run.
    pub(super) fn judge(&mut self, args: &[ValueSpec], before: &Observed) -> Result<Judged, RefineError> {
        let watch: Rc<dyn RunObserver> = self.reach.1.clone();
        let plan = Plan::Repeat(&before.closures);
        let (after, steps) = self.target.observe(self.cx, args, plan, None, Some(watch))?;
        self.steps += steps;
        let ended = matches!((&before.outcome, &after.outcome), (Ending::Value(_), Ending::Value(_)));
        if let (Ending::Value(_), Ending::Error(error)) = (&before.outcome, &after.outcome)
            && error.rule == rule!("PURE.ERR.OP")
            && args.iter().any(is_empty)
        {
            // Whether an operator has a value for nothing is its own definition (OP.FREE), and each has another.
            let reason = format!("an argument has no elements, for which operators differ: {error}");
            return Ok(Judged { verdict: RefinementVerdict::Undecided(reason), ended, deviation: None, unseen: None });
        }
        let unseen = before.closures.unseen().or_else(|| after.closures.unseen()).map(String::from);
        let (verdict, deviation) = if self.settings.exact || !may_be_rounding(before, &after) {
            (judge_runs(self.cx, before, &after, &Agreement::exact()), None)
        } else {
            self.judge_rounded(args, before, &after)?
        };
        Ok(Judged { verdict, ended, deviation, unseen })
    }

    /// The verdict where rounding may explain what differs, and how far the runs are apart.
    fn judge_rounded(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        after: &Observed,
    ) -> Result<(RefinementVerdict, Option<Deviation>), RefineError> {
        let undecided = |reason: &str| (RefinementVerdict::Undecided(reason.to_string()), None);
        let mut shadows = Shadows::default();
        for wanted in [SHADOWS, MORE_SHADOWS] {
            while (shadows.runs.len() as u64) < wanted {
                if !self.shadow(args, before, &mut shadows)? {
                    let agreement = Agreement::within(Vec::new(), false, self.settings.tolerance).of_arguments(args);
                    return Ok((judge_runs(self.cx, before, after, &agreement), agreement.largest()));
                }
            }
            if !shadows.runs.iter().all(|shadow| is_alike(before, shadow)) {
                return Ok(undecided("rounding decides how the source goes on"));
            }
            let runs = shadows.runs.iter().collect();
            let agreement = Agreement::within(runs, shadows.overflows, self.settings.tolerance).of_arguments(args);
            let verdict = judge_runs(&mut self.cx.clone(), before, after, &agreement);
            if verdict != RefinementVerdict::Allowed
                && args.iter().any(is_extreme)
                && (shadows.near_end || self.target_nears_end(args, before)?)
            {
                return Ok(undecided("an argument is so large or small that the order of operations decides"));
            }
            if verdict != RefinementVerdict::Allowed
                && wanted == MORE_SHADOWS
                && let Some(explained) = self.explained_by_target(args, before, after, shadows.finest)?
            {
                return Ok(explained);
            }
            if verdict == RefinementVerdict::Allowed || wanted == MORE_SHADOWS {
                return Ok((judge_runs(self.cx, before, after, &agreement), agreement.largest()));
            }
        }
        Ok(undecided("no shadow was run"))
    }

    /// Runs the source once more, with noise; whether any of it was asked for.
    fn shadow(&mut self, args: &[ValueSpec], before: &Observed, shadows: &mut Shadows) -> Result<bool, RefineError> {
        let noise = Rc::new(Noise::new(shadows.runs.len() as u64 + 1));
        let plan = Plan::Repeat(&before.closures);
        let (shadow, steps) = self.source.observe(&mut self.cx.clone(), args, plan, Some(noise.clone()), None)?;
        self.steps += steps;
        if !noise.was_asked() {
            return Ok(false);
        }
        shadows.overflows |= noise.overflowed();
        shadows.near_end |= noise.neared_end();
        shadows.finest = noise.finest();
        shadows.runs.push(shadow);
        Ok(true)
    }

    /// Whether the target computes what is almost too large or too small for its type.
    fn target_nears_end(&mut self, args: &[ValueSpec], before: &Observed) -> Result<bool, RefineError> {
        let noise = Rc::new(Noise::new(1));
        let plan = Plan::Repeat(&before.closures);
        let (_, steps) = self.target.observe(&mut self.cx.clone(), args, plan, Some(noise.clone()), None)?;
        self.steps += steps;
        Ok(noise.neared_end())
    }

    /// The verdict, if rounding in the target explains what differs: noise as fine as that of the source moves it so far.
    fn explained_by_target(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        after: &Observed,
        finest: Option<FloatType>,
    ) -> Result<Option<(RefinementVerdict, Option<Deviation>)>, RefineError> {
        let Some(finest) = finest else { return Ok(None) };
        let mut shadows = Vec::new();
        for seed in 0..SHADOWS {
            let noise = Rc::new(Noise::at_most(seed + 1, finest));
            let plan = Plan::Repeat(&before.closures);
            let (shadow, steps) = self.target.observe(&mut self.cx.clone(), args, plan, Some(noise), None)?;
            self.steps += steps;
            shadows.push(shadow);
        }
        if !shadows.iter().all(|shadow| is_alike(after, shadow)) {
            return Ok(None);
        }
        let agreement =
            Agreement::within_of_target(shadows.iter().collect(), self.settings.tolerance).of_arguments(args);
        let verdict = judge_runs(&mut self.cx.clone(), before, after, &agreement);
        let deviation = agreement.largest();
        Ok((verdict == RefinementVerdict::Allowed).then(|| match deviation {
            Some(deviation) if deviation.leaves_no_digit() => {
                let reason = "rounding in the target leaves no digit of what the source returns".to_string();
                (RefinementVerdict::Undecided(reason), Some(deviation))
            }
            Some(_) | None => (verdict, deviation),
        }))
    }

    /// The first element of the results that is not the same on the input.
    fn first_element(&mut self, args: &[ValueSpec]) -> Result<Option<usize>, RefineError> {
        let before = self.source_on(args)?;
        let (after, steps) = self.target.observe(self.cx, args, Plan::Repeat(&before.closures), None, None)?;
        self.steps += steps;
        let (Ending::Value(before), Ending::Value(after)) = (&before.outcome, &after.outcome) else { return Ok(None) };
        let differing = before.tensors().zip(after.tensors()).find_map(|(x, y)| {
            let byte = x.bytes.iter().zip(y.bytes.iter()).position(|(x, y)| x != y)?;
            byte.checked_div(x.dtype.bytes())
        });
        Ok(differing)
    }

    /// Whether two runs without noise break the clause, where floats may be so far apart.
    fn differs_by(&mut self, args: &[ValueSpec], rule: Rule, tolerance: f64) -> Result<bool, RefineError> {
        let before = self.source_on(args)?;
        let plan = Plan::Repeat(&before.closures);
        let (after, steps) = self.target.observe(self.cx, args, plan, None, None)?;
        self.steps += steps;
        let agreement = match tolerance {
            0.0 => Agreement::exact(),
            tolerance => Agreement::within(Vec::new(), false, tolerance),
        };
        let verdict = judge_runs(&mut self.cx.clone(), &before, &after, &agreement);
        Ok(matches!(verdict, RefinementVerdict::NotAllowed { rule: broken, .. } if broken == rule))
    }

    /// The verdict on the input that was found, made smaller.
    pub(super) fn shrink(&mut self) -> Result<(), RefineError> {
        let Some(found) = self.found.take() else { return Ok(()) };
        let RefinementVerdict::NotAllowed { rule, .. } = found.verdict else { return Ok(()) };
        let input = found.input.clone();
        let tolerance = found.deviation.map_or(0.0, |d| d.error / 2.0 / (1.0 + d.before.abs()));
        let limit = self.steps.saturating_add(self.settings.steps / 4);
        let glances = self.settings.steps.saturating_mul(GLANCES);
        let func = self.source.function();
        let element = match found.deviation {
            Some(deviation) => Some(deviation.index),
            None => self.first_element(&found.input)?,
        };
        let mut breaking =
            Breaking { comparison: self, rule, best: found, limit, cost: 0, glances, tolerance, element };
        let smaller = smallest(input, func, &mut breaking);
        let best = breaking.best;
        debug_assert_eq!(smaller, best.input);
        let before = self.source_on(&smaller)?;
        let seeds = if self.settings.exact { 1..1 } else { 1..SHADOWS + 1 };
        let (source, target) = (&self.source, &self.target);
        self.differing = first_differing(&mut self.cx.clone(), source, target, &smaller, &before, seeds)?;
        self.found = Some(best);
        Ok(())
    }

    /// What comes of all inputs.
    pub(super) fn conclusion(self, real: RealVerdict) -> Refinement {
        let unreached = self.unreached();
        let (compared, ended, undecided, given) = (self.compared, self.ended, self.undecided, self.undecided_given);
        let reason = self.reason.as_ref().map(|verdict| match verdict {
            RefinementVerdict::Undecided(reason)
            | RefinementVerdict::OutOfBudget(reason)
            | RefinementVerdict::Vacuous(reason) => reason.clone(),
            RefinementVerdict::NotAllowed { message, .. } => message.clone(),
            RefinementVerdict::Allowed => String::new(),
        });
        let (verdict, input, deviation) = match (self.found, self.reason, self.unseen) {
            (Some(FoundDeviation { verdict, input, deviation, .. }), _, _) => (verdict, Some(input), deviation),
            // What a closure does on other arguments may be anything.
            (None, _, Some(reason)) => (RefinementVerdict::Undecided(reason), None, None),
            // What cannot be evaluated is not allowed, unless it is the exception.
            (None, Some(open), None) if given > 0 || undecided * ONE_IN > compared + undecided => (open, None, None),
            (None, _, None) if ended == 0 => {
                let reason = "no run of the programs reached its end".to_string();
                (RefinementVerdict::Vacuous(reason), None, self.deviation)
            }
            (None, _, None) => (RefinementVerdict::Allowed, None, self.deviation),
        };
        let within_rounding = match &verdict {
            RefinementVerdict::Allowed => Some(true),
            RefinementVerdict::NotAllowed { .. } => Some(false),
            RefinementVerdict::Vacuous(_) | RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_) => None,
        };
        // Who says how far floats may be off says that they may be off.
        let verdict = if self.settings.tolerance > 0.0 { verdict } else { with_real(self.cx, verdict, &real) };
        let (inputs, differing, unknown) = (self.inputs, self.differing, self.unknown);
        Refinement {
            verdict,
            real,
            within_rounding,
            input,
            inputs,
            compared,
            ended,
            undecided,
            reason,
            differing,
            unknown,
            unreached,
            deviation,
        }
    }
}

/// Looks at smaller inputs than the one that was found.
struct Breaking<'c, 'a> {
    comparison: &'c mut RefinementComparison<'a>,
    /// The clause that the target breaks.
    rule: Rule,
    best: FoundDeviation,
    /// The steps of all runs after which nobody looks any more.
    limit: u64,
    /// The steps that the last look took: the next one will take as many.
    cost: u64,
    /// The steps that are left for glances.
    glances: u64,
    /// How far floats may be apart at a glance: by half of what was found.
    tolerance: f64,
    /// The element that differs in what was found.
    element: Option<usize>,
}

impl Look for &mut Breaking<'_, '_> {
    fn at(&mut self, input: &[ValueSpec]) -> ShrinkOutcome {
        let steps = self.comparison.steps;
        // The first look is due, whatever it takes.
        if self.cost > 0 && steps.saturating_add(self.cost) > self.limit {
            return ShrinkOutcome::Unasked;
        }
        let Ok(before) = self.comparison.source_on(input) else { return ShrinkOutcome::Other };
        let judged = self.comparison.judge(input, &before);
        self.cost = self.comparison.steps.saturating_sub(steps).max(1);
        match judged {
            Ok(Judged { verdict: verdict @ RefinementVerdict::NotAllowed { rule, .. }, deviation, .. })
                if rule == self.rule =>
            {
                self.best = FoundDeviation { size: size_of(input), verdict, input: input.to_vec(), deviation };
                ShrinkOutcome::Broken
            }
            Ok(_) | Err(_) => ShrinkOutcome::Other,
        }
    }

    fn glance_at(&mut self, input: &[ValueSpec]) -> ShrinkOutcome {
        if self.glances == 0 {
            return ShrinkOutcome::Unasked;
        }
        let steps = self.comparison.steps;
        let shown = self.comparison.differs_by(input, self.rule, self.tolerance);
        // Glances are counted by themselves, the elements of the input among them.
        let taken = self.comparison.steps.saturating_sub(steps).saturating_add(size_of(input) as u64);
        self.glances = self.glances.saturating_sub(taken);
        self.comparison.steps = steps;
        if shown.unwrap_or(false) { ShrinkOutcome::Broken } else { ShrinkOutcome::Other }
    }

    fn element(&self) -> Option<usize> {
        self.element
    }
}

/// The packed functions that are there, and those in place of others that are not.
fn packed_functions(settings: &Settings, modules: &[&IrModule]) -> Result<(Registry, Vec<Name>), RefineError> {
    let mut registry = settings.registry.clone();
    let Some(assumed) = &settings.unknown else { return Ok((registry, Vec::new())) };
    let missing = unknown::missing(&registry, modules);
    if let Some(name) = assumed.keys().find(|name| !missing.contains(*name)) {
        return Err(RefineError::Assumed(name.clone()));
    }
    unknown::register(&mut registry, missing.iter().cloned(), assumed);
    Ok((registry, missing.into_iter().collect()))
}

fn larger(a: Option<Deviation>, b: Option<Deviation>) -> Option<Deviation> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.part() > a.part() { b } else { a }),
        (one, other) => one.or(other),
    }
}

/// Whether what differs may be how floats are rounded: the runs end alike, and not with the same.
fn may_be_rounding(before: &Observed, after: &Observed) -> bool {
    let alike =
        matches!((&before.outcome, &after.outcome), (Ending::Value(_), Ending::Value(_)) | (Ending::Error(_), _));
    let same = before.outcome == after.outcome
        && before.effects == after.effects
        && before.arguments == after.arguments
        && before.closures == after.closures;
    alike && !same
}

/// Whether a run with noise goes as the run without.
fn is_alike(run: &Observed, shadow: &Observed) -> bool {
    let ends = match (&run.outcome, &shadow.outcome) {
        (Ending::Value(_), Ending::Value(_)) => true,
        (Ending::Error(a), Ending::Error(b)) => a.rule == b.rule,
        (Ending::Value(_) | Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_), _) => false,
    };
    ends && run.effects.len() == shadow.effects.len()
}

/// Whether it is a tensor without elements, or has one in it.
fn is_empty(value: &ValueSpec) -> bool {
    value.tensors().any(|data| data.bytes.is_empty())
}

/// How large an input is: its sizes and elements together.
fn size_of(input: &[ValueSpec]) -> usize {
    let tensor = |data: &TensorData| data.shape.len() + data.bytes.len();
    let size = |value: &ValueSpec| {
        let own: usize = value.parts().map(|part| 1 + part.as_shape().map_or(0, Vec::len)).sum();
        own + value.tensors().map(tensor).sum::<usize>()
    };
    input.iter().map(size).sum()
}
