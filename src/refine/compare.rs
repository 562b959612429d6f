//! Compares two programs on one input after the other, and draws the conclusion from all of them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::agree::{Agreement, finest_in};
use super::calls::Plan;
use super::first::{Differing, first_differing_call};
use super::judge::judge_runs;
use super::kept::NoiseChoice;
use super::observe::{CompiledProgram, Subject};
use super::reach::Reach;
use super::real::{NEAR_END, RealVerdict, with_real};
use super::shrink::{Look, ShrinkOutcome, smallest};
use super::unreached::Unreached;
use super::{Deviation, Observed, RefineError, RefinementVerdict, Settings, unknown};
use crate::arguments::{ArgumentSource, Draw, is_around_constants, largest_size};
use crate::book::{Edition, Rule};
use crate::derivation::inferred_results;
use crate::eval::EvalOptions;
use crate::grammar::{Binder, Function, IrModule, Name, TensorData};
use crate::judge::{Cx, Ending};
use crate::number::FloatType;
use crate::value::{Noise, Registry, ValueSpec};

/// How often the source is run with noise if a float differs, and how often at first: one run explains many.
const SHADOWS: u64 = 3;
const FIRST_SHADOWS: u64 = 1;
/// How often it is run with noise before a difference counts: in a few runs two errors may cancel out each time.
const MORE_SHADOWS: u64 = 12;
const MOST_SHADOWS: u64 = 36;
/// The limit on the steps of quick tries of smaller inputs, as a multiple of the steps of all inputs.
const GLANCES: u64 = 2;
/// One input of this many may be undecided; for inputs near the ends of a type it is one of the second number.
const ONE_IN: usize = 10;
const EXTREME_ONE_IN: usize = 4;
/// How often either program is run with noise for each smaller input that is tried.
const SHRINKING_SHADOWS: u64 = 3;

/// The outcome of [`refine`](super::refine).
#[derive(Clone, PartialEq, Debug)]
pub struct Refinement {
    /// The verdict on all inputs together.
    pub verdict: RefinementVerdict,
    /// Whether the programs are the same as real functions.
    pub real: RealVerdict,
    /// Whether floats agree within rounding, if that is decided.
    pub within_rounding: Option<bool>,
    /// The smallest input found on which the target breaks the clause.
    pub input: Option<Vec<ValueSpec>>,
    /// The inputs on which the programs were compared, if they are to be kept.
    pub inputs: Vec<Vec<ValueSpec>>,
    /// On how many inputs the two programs were compared with a decision.
    pub compared: usize,
    /// On how many of these inputs both programs reached the end.
    pub ended: usize,
    /// How many inputs were undecided.
    pub undecided: usize,
    /// How many steps all runs took.
    pub steps: u64,
    /// Why the last of the undecided inputs was undecided.
    pub reason: Option<String>,
    /// The first variable in which the runs on that input differ.
    pub differing: Option<Differing>,
    /// The packed functions that are not available, and about which only the assumptions are known.
    pub unknown: Vec<Name>,
    /// The parts of the source and of the target that no run reached.
    pub unreached: (Vec<Unreached>, Vec<Unreached>),
    /// The largest size that was chosen for an argument, if large weights limit it.
    pub largest_size: Option<i64>,
    /// The largest allowed deviation of a float, or, if the target breaks a clause, the deviation on that input.
    pub deviation: Option<Deviation>,
}

/// The verdict on an input.
pub(super) struct Judged {
    pub(super) verdict: RefinementVerdict,
    /// Whether both runs reached the end.
    pub(super) ended: bool,
    pub(super) deviation: Option<Deviation>,
    /// Why a part of the behaviour could not be observed.
    pub(super) unseen: Option<String>,
    /// Whether the documentation of operators leaves the behaviour on this input open.
    pub(super) left_open: bool,
}

/// Runs of the source with noise.
#[derive(Default)]
struct Shadows {
    runs: Vec<Observed>,
    /// Whether a number overflowed its type in one of them.
    overflows: bool,
    /// Whether a number was near an overflow or underflow of its type in one of them.
    near_top: bool,
    near_bottom: bool,
    /// Whether floats were computed in one of them, and whether by functions without exact values.
    computes: bool,
    approximates: bool,
    /// The floating-point type with the most digits that was computed in.
    finest: Option<FloatType>,
}

/// Runs of the target with noise.
#[derive(Default)]
struct TargetShadows {
    runs: Vec<Observed>,
    /// Whether floats were computed in one of them, or in the source, by functions without exact values.
    approximates: bool,
}

impl Shadows {
    /// Records a run with this noise.
    fn note(&mut self, noise: &Noise) {
        self.overflows |= noise.overflowed();
        self.near_top |= noise.neared_top();
        self.near_bottom |= noise.neared_bottom();
        self.computes |= noise.computes();
        self.approximates |= noise.approximates();
        self.finest = noise.finest();
    }

    /// The agreement within which the other program may differ.
    fn agreement<'s>(&'s self, tolerance: f64, args: &'s [ValueSpec]) -> Agreement<'s> {
        let runs = self.runs.iter().collect();
        Agreement::within(runs, self.overflows, tolerance).of_arguments(args).approximating(self.approximates)
    }

    /// Whether a near overflow or underflow may explain a difference. Underflow explains no infinity.
    fn excuse(&self, agreement: &Agreement<'_>) -> bool {
        self.near_top || self.near_bottom && !agreement.is_unbounded()
    }
}

/// A counterexample.
struct FoundDeviation {
    size: usize,
    verdict: RefinementVerdict,
    input: Vec<ValueSpec>,
    deviation: Option<Deviation>,
}

/// A target. A compiled one has an empty module.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefinementTarget<'a> {
    pub(super) module: &'a IrModule,
    pub(super) compiled: Option<&'a dyn CompiledProgram>,
}

/// Two programs that are being compared.
pub(super) struct RefinementComparison<'a> {
    pub(super) cx: &'a mut Cx,
    pub(super) source: Subject<'a>,
    pub(super) target: Subject<'a>,
    pub(super) settings: &'a Settings,
    pub(super) arguments: ArgumentSource,
    /// The steps of all runs so far.
    pub(super) steps: u64,
    /// The parts of the source and of the target that the runs reached.
    pub(super) reach: (Rc<Reach>, Rc<Reach>),
    inputs: Vec<Vec<ValueSpec>>,
    compared: usize,
    ended: usize,
    undecided: usize,
    /// How many undecided inputs are near the ends of a type.
    extreme: usize,
    /// How many inputs the documentation of operators leaves open.
    left_open: usize,
    /// How many undecided inputs were given by the user.
    undecided_given: usize,
    reason: Option<RefinementVerdict>,
    unseen: Option<String>,
    deviation: Option<Deviation>,
    found: Option<FoundDeviation>,
    differing: Option<Differing>,
    unknown: Vec<Name>,
    /// Whether smaller inputs are tried after a counterexample is found.
    shrinks: bool,
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
        let arguments = ArgumentSource::of(&[source, target], settings.seed, settings.memory).knowing(&settings.known);
        let (registry, unknown) = packed_functions(cx.edition(), settings, [source, target])?;
        let subject = |module| Subject {
            module,
            entry,
            results: inferred_results(cx, module),
            registry: registry.clone(),
            shared: settings.shared.clone(),
            fuel: settings.fuel,
            kept: unknown.is_empty().then(|| settings.kept.clone()),
            memory: settings.memory.max(EvalOptions::default().memory),
            compiled: None,
        };
        let (source, target) = (subject(source), Subject { compiled, ..subject(target) });
        settings.kept.note_constants(arguments.floats(), is_around_constants);
        let missing = source.function().and_then(|func| settings.known.missing(func));
        if let Some(name) = missing {
            return Err(RefineError::Parameter(name.clone()));
        }
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
            extreme: 0,
            left_open: 0,
            undecided_given: 0,
            reason: None,
            unseen: None,
            deviation: None,
            found: None,
            differing: None,
            unknown,
            shrinks: false,
        })
    }

    /// A given argument must have the known properties.
    pub(super) fn is_as_known(&self, args: &[ValueSpec]) -> Result<(), RefineError> {
        match self.source.function().and_then(|func| self.arguments.broken(func, args)) {
            Some((name, what)) => Err(RefineError::Known(name, what)),
            None => Ok(()),
        }
    }

    /// The context.
    pub(super) fn cx(&self) -> &Cx {
        self.cx
    }

    /// Whether an input was found on which the target breaks a clause.
    pub(super) fn is_broken(&self) -> bool {
        self.found.is_some()
    }

    /// The generated arguments of a draw. Beside large weights the comparisons of a session take the same ones.
    pub(super) fn generated(&self, func: &Function, draw: Draw) -> Option<Vec<ValueSpec>> {
        let make = || self.arguments.for_function(func, &BTreeMap::new(), draw);
        if largest_size(func).is_none() {
            return make();
        }
        let annotation = |param: &Binder| param.annotation.as_ref().map(ToString::to_string).unwrap_or_default();
        let signature: Vec<String> = func.params.iter().map(annotation).collect();
        self.settings.kept.input(&signature.join(", "), draw, make)
    }

    /// The source, run on the arguments.
    pub(super) fn source_on(&mut self, args: &[ValueSpec]) -> Result<Observed, RefineError> {
        let plan = Plan::Make(&self.arguments);
        let (observed, steps) = self.source.observe_reaching(self.cx, args, plan, &self.reach.0)?;
        self.steps += steps;
        Ok(observed)
    }

    /// The parts of the source and of the target that no run reached.
    pub(super) fn unreached(&self) -> (Vec<Unreached>, Vec<Unreached>) {
        {
            let entry = self.source.entry;
            (self.reach.0.unreached(self.source.module, entry), self.reach.1.unreached(self.target.module, entry))
        }
    }

    /// Compares the programs on an input that was generated to reach more parts, if the run of the source reaches its
    /// end. `run` is that run, and `before` the parts that were reached before it. An undecided input does not count,
    /// and the parts that it reaches do not either.
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
        let (undecided, extreme) = (self.undecided, self.extreme);
        let (reason, unseen) = (self.reason.clone(), self.unseen.clone());
        self.on_run(args, run)?;
        if self.undecided > undecided {
            open(&self.reach);
            (self.undecided, self.extreme, self.reason, self.unseen) = (undecided, extreme, reason, unseen);
        }
        Ok(())
    }

    /// Compares the programs on an input that does not count otherwise: it matters only if the programs differ on it.
    pub(super) fn beside(&mut self, args: &[ValueSpec]) -> Result<(), RefineError> {
        let (compared, ended) = (self.compared, self.ended);
        let before = self.reach.0.known();
        let run = self.source_on(args)?;
        self.try_on(args, &run, &before)?;
        if !self.is_broken() {
            (self.compared, self.ended) = (compared, ended);
        }
        Ok(())
    }

    /// Compares the programs on a given input, and records the verdict.
    pub(super) fn on(&mut self, args: &[ValueSpec]) -> Result<(), RefineError> {
        let before = self.source_on(args)?;
        self.on_run(args, &before)?;
        self.undecided_given = self.undecided + self.left_open;
        Ok(())
    }

    /// As [`RefinementComparison::on`], if the source was run already.
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
                self.undecided += usize::from(!judged.left_open);
                self.left_open += usize::from(judged.left_open);
                self.extreme +=
                    usize::from(matches!(&open, RefinementVerdict::Undecided(reason) if reason == NEAR_END));
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

    /// The verdict on an input for which the run of the source is known.
    pub(super) fn judge(&mut self, args: &[ValueSpec], before: &Observed) -> Result<Judged, RefineError> {
        if matches!(before.outcome, Ending::Unspecified(_) | Ending::Unknown(_)) {
            // The target may do anything, and compiled code does: it writes outside of its tensors.
            let verdict = judge_runs(self.cx, before, before, &Agreement::exact());
            let unseen = before.closures.unseen().map(String::from);
            return Ok(Judged { verdict, ended: false, deviation: None, unseen, left_open: false });
        }
        let plan = Plan::Repeat(&before.closures);
        let (after, steps) = self.target.observe_reaching(self.cx, args, plan, &self.reach.1)?;
        self.steps += steps;
        let ended = matches!((&before.outcome, &after.outcome), (Ending::Value(_), Ending::Value(_)));
        if let (Ending::Value(_), Ending::Error(error)) = (&before.outcome, &after.outcome)
            && error.rule == rule!("PURE.ERR.OP")
            && args.iter().any(is_empty)
        {
            // Each operator defines for itself whether it has a value for an empty tensor (OP.FREE).
            let reason = format!("an argument has no elements, for which operators differ: {error}");
            let verdict = RefinementVerdict::Undecided(reason);
            return Ok(Judged { verdict, ended, deviation: None, unseen: None, left_open: false });
        }
        let unseen = before.closures.unseen().or_else(|| after.closures.unseen()).map(String::from);
        // OPT.FLOAT: floats that are rounded may differ.
        let rounded = !self.settings.exact && may_be_rounding(before, &after) && self.cx.fire(rule!("OPT.FLOAT"));
        let (verdict, deviation) = if rounded {
            self.judge_rounded(args, before, &after)?
        } else {
            (judge_runs(self.cx, before, &after, &Agreement::exact()), None)
        };
        self.unless_left_open(args, before, Judged { verdict, ended, deviation, unseen, left_open: false })
    }

    /// The verdict if rounding may explain the difference, and how far the runs differ.
    fn judge_rounded(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        after: &Observed,
    ) -> Result<(RefinementVerdict, Option<Deviation>), RefineError> {
        let undecided = |reason: &str| (RefinementVerdict::Undecided(reason.to_string()), None);
        let (mut shadows, mut of_target) = (Shadows::default(), TargetShadows::default());
        let (more, most) = self.wanted();
        if let Some(explained) = self.explained_by_first(args, before, after) {
            return Ok(explained);
        }
        for wanted in [FIRST_SHADOWS, SHADOWS, more, most] {
            while (shadows.runs.len() as u64) < wanted {
                if !self.shadow(args, before, &mut shadows)? {
                    return self.judge_exact(args, before, after, &shadows);
                }
            }
            if !shadows.runs.iter().all(|shadow| is_alike(before, shadow)) {
                return Ok(undecided("rounding decides how the source goes on"));
            }
            let agreement = self.agreement(&shadows, args);
            let verdict = judge_runs(&mut self.cx.clone(), before, after, &agreement);
            if verdict == RefinementVerdict::Allowed {
                return Ok((judge_runs(self.cx, before, after, &agreement), agreement.largest()));
            }
            // Few runs explain most differences; fewer allow less than more of them.
            if wanted == SHADOWS
                && let Some(explained @ (RefinementVerdict::Allowed, _)) =
                    self.explained_by_target(args, (before, after), &shadows, &mut of_target, &[SHADOWS])?
            {
                return Ok(explained);
            }
            if wanted == more
                && let Some(explained) =
                    self.explained_by_target(args, (before, after), &shadows, &mut of_target, &[more, most])?
            {
                return Ok(explained);
            }
            let excused = shadows.excuse(&agreement) && wanted == more;
            if excused && !(agreement.is_unbounded() && self.is_free_of_tops(args, before)?) {
                return Ok(undecided(NEAR_END));
            }
            if shadows.runs.len() as u64 == most {
                return Ok((judge_runs(self.cx, before, after, &agreement), agreement.largest()));
            }
        }
        Ok(undecided("no shadow was run"))
    }

    /// How often each program is run with noise before a difference counts, and how often the source before it
    /// certainly counts.
    fn wanted(&self) -> (u64, u64) {
        if self.shrinks { (SHRINKING_SHADOWS, SHRINKING_SHADOWS) } else { (MORE_SHADOWS, MOST_SHADOWS) }
    }

    /// The agreement of the target that these runs of the source allow.
    fn agreement<'s>(&self, shadows: &'s Shadows, args: &'s [ValueSpec]) -> Agreement<'s> {
        shadows.agreement(self.settings.tolerance, args).of_compiled(self.target.compiled.is_some())
    }

    /// Runs the source, and once with noise, which explains most differences.
    pub(super) fn explain_ahead(&mut self, args: &[ValueSpec]) -> Result<(), RefineError> {
        let before = self.source_on(args)?;
        match before.outcome {
            Ending::Value(_) => self.shadow(args, &before, &mut Shadows::default()).map(|_| ()),
            Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_) => Ok(()),
        }
    }

    /// The verdict, if rounding in the first program of the session explains both runs. No pass is to blame for such a
    /// difference, and the source need not be run with noise.
    fn explained_by_first(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        after: &Observed,
    ) -> Option<(RefinementVerdict, Option<Deviation>)> {
        let known = self.source.keeping()?.of_first(self.source.module, self.source.entry, args)?;
        let mut shadows = Shadows::default();
        for (run, noise) in known.noisy {
            shadows.note(&noise);
            shadows.runs.push(run);
        }
        if !shadows.runs.iter().all(|shadow| is_alike(&known.plain, shadow)) {
            return None;
        }
        let agreement = self.agreement(&shadows, args);
        let verdict_on = |run: &Observed| judge_runs(&mut self.cx.clone(), &known.plain, run, &agreement);
        if [before, after].into_iter().any(|run| verdict_on(run) != RefinementVerdict::Allowed) {
            return None;
        }
        Some((judge_runs(self.cx, &known.plain, after, &agreement), agreement.largest()))
    }

    /// The verdict if the source rounds nothing: the target may still round if it computes what the source only moves.
    fn judge_exact(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        after: &Observed,
        shadows: &Shadows,
    ) -> Result<(RefinementVerdict, Option<Deviation>), RefineError> {
        let agreement = self.agreement(shadows, args);
        let computes = shadows.computes || self.target_computes(args, before)?;
        // OPT.FLOAT.ZERO: a value that is only moved keeps its bits.
        let moved = !computes && self.cx.fire(rule!("OPT.FLOAT.ZERO"));
        let agreement = if moved { agreement.of_moved() } else { agreement };
        if judge_runs(&mut self.cx.clone(), before, after, &agreement) != RefinementVerdict::Allowed && computes {
            let (mut of_target, (more, most)) = (TargetShadows::default(), self.wanted());
            let few = self.explained_by_target(args, (before, after), shadows, &mut of_target, &[SHADOWS])?;
            if let Some(explained @ (RefinementVerdict::Allowed, _)) = few {
                return Ok(explained);
            }
            let counts = [more, most];
            if let Some(explained) =
                self.explained_by_target(args, (before, after), shadows, &mut of_target, &counts)?
            {
                return Ok(explained);
            }
            if shadows.excuse(&agreement) {
                return Ok((RefinementVerdict::Undecided(NEAR_END.to_string()), None));
            }
        }
        Ok((judge_runs(self.cx, before, after, &agreement), agreement.largest()))
    }

    /// Whether no result of the source depends on a number that overflows its type, or nearly does: the result is the
    /// same with NaN in place of such numbers. Then the target has no reason to become infinite.
    fn is_free_of_tops(&mut self, args: &[ValueSpec], before: &Observed) -> Result<bool, RefineError> {
        let (noise, plan) = (Rc::new(Noise::without_tops()), Plan::Repeat(&before.closures));
        let (run, steps) = self.source.observe(&mut self.cx.clone(), args, plan, Some(noise.clone()), None)?;
        self.steps += steps;
        let same = run.outcome == before.outcome && run.arguments == before.arguments;
        Ok(same && !noise.begins_at_end())
    }

    /// Runs the source once more, with noise. Returns whether the run used any noise.
    fn shadow(&mut self, args: &[ValueSpec], before: &Observed, shadows: &mut Shadows) -> Result<bool, RefineError> {
        let choice = NoiseChoice { seed: shadows.runs.len() as u64 + 1, finest: None };
        let plan = Plan::Repeat(&before.closures);
        let (shadow, steps, noise) = self.source.observe_noisy(&mut self.cx.clone(), args, plan, choice)?;
        self.steps += steps;
        shadows.note(&noise);
        if !noise.was_asked() {
            return Ok(false);
        }
        shadows.runs.push(shadow);
        Ok(true)
    }

    /// Whether the target computes floats, and does not only move them. A compiled target counts as one that computes.
    fn target_computes(&mut self, args: &[ValueSpec], before: &Observed) -> Result<bool, RefineError> {
        let plan = Plan::Repeat(&before.closures);
        let (_, steps, noise) =
            self.target.observe_noisy(&mut self.cx.clone(), args, plan, NoiseChoice { seed: 1, finest: None })?;
        self.steps += steps;
        Ok(noise.computes() || self.target.compiled.is_some())
    }

    /// The verdict, if rounding in the target explains the difference: noise of the same size as in the source moves
    /// the target as far. `counts` says how often the target is run with noise.
    fn explained_by_target(
        &mut self,
        args: &[ValueSpec],
        (before, after): (&Observed, &Observed),
        shadows: &Shadows,
        of_target: &mut TargetShadows,
        counts: &[u64],
    ) -> Result<Option<(RefinementVerdict, Option<Deviation>)>, RefineError> {
        let returned = || if let Ending::Value(value) = &before.outcome { finest_in(value) } else { None };
        let Some(finest) = shadows.finest.or_else(returned) else { return Ok(None) };
        of_target.approximates |= shadows.approximates;
        for wanted in counts {
            for seed in of_target.runs.len() as u64..*wanted {
                let choice = NoiseChoice { seed: seed + 1, finest: Some(finest) };
                let plan = Plan::Repeat(&before.closures);
                let (shadow, steps, noise) = self.target.observe_noisy(&mut self.cx.clone(), args, plan, choice)?;
                self.steps += steps;
                of_target.approximates |= noise.approximates();
                if !noise.was_asked() {
                    return Ok(None);
                }
                of_target.runs.push(shadow);
            }
            if !of_target.runs.iter().all(|shadow| is_alike(after, shadow)) {
                return Ok(None);
            }
            let agreement = self.agreement(shadows, args);
            let agreement = agreement.and_of_target(of_target.runs.iter()).approximating(of_target.approximates);
            let verdict = judge_runs(&mut self.cx.clone(), before, after, &agreement);
            if verdict == RefinementVerdict::Allowed {
                let reason = "rounding in the target leaves no digit of what the source returns".to_string();
                let blurred = agreement.is_blurred();
                let verdict = if blurred { RefinementVerdict::Undecided(reason) } else { verdict };
                return Ok(Some((verdict, agreement.largest())));
            }
        }
        Ok(None)
    }

    /// The first element of the results that differs on the input.
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

    /// Whether two runs without noise break the clause, with this tolerance for floats.
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

    /// Makes the counterexample smaller, and judges it again.
    pub(super) fn shrink(&mut self) -> Result<(), RefineError> {
        let Some(found) = self.found.take() else { return Ok(()) };
        let RefinementVerdict::NotAllowed { rule, .. } = found.verdict else { return Ok(()) };
        let input = found.input.clone();
        let tolerance = found.deviation.map_or(0.0, |d| d.error / 2.0 / (1.0 + d.before.abs()));
        let limit = self.steps.saturating_add(self.settings.steps / 4);
        self.shrinks = true;
        // Each smaller input is tried once.
        let kept = (self.source.kept.take(), self.target.kept.take());
        let glances = self.settings.steps.saturating_mul(GLANCES);
        let func = self.source.function();
        let element = match found.deviation {
            Some(deviation) => Some(deviation.index),
            None => self.first_element(&found.input)?,
        };
        let first = FoundDeviation { verdict: found.verdict.clone(), input: found.input.clone(), ..found };
        let mut breaking =
            Breaking { comparison: self, rule, best: found, limit, cost: 0, glances, tolerance, element };
        let smaller = smallest(input, func, &mut breaking);
        let best = breaking.best;
        debug_assert_eq!(smaller, best.input);
        self.shrinks = false;
        (self.source.kept, self.target.kept) = kept;
        let (mut best, mut before) = (best, self.source_on(&smaller)?);
        // Few runs with noise were used for each of the smaller inputs; the last one must withstand all of them.
        if !matches!(self.judge(&smaller, &before)?.verdict, RefinementVerdict::NotAllowed { .. }) {
            before = self.source_on(&first.input)?;
            best = first;
        }
        self.differing = self.first_differing(&best.input, &before)?;
        self.found = Some(best);
        Ok(())
    }

    fn first_differing(&self, args: &[ValueSpec], before: &Observed) -> Result<Option<Differing>, RefineError> {
        let seeds = if self.settings.exact { 1..1 } else { 1..SHADOWS + 1 };
        first_differing_call(&mut self.cx.clone(), &self.source, &self.target, args, before, seeds)
    }

    /// Searches for the first variable that differs on the input that breaks a clause, as it is.
    pub(super) fn locate(&mut self) -> Result<(), RefineError> {
        let args = match &self.found {
            Some(FoundDeviation { verdict: RefinementVerdict::NotAllowed { .. }, input, .. }) => input.clone(),
            Some(_) | None => return Ok(()),
        };
        let before = self.source_on(&args)?;
        self.differing = self.first_differing(&args, &before)?;
        Ok(())
    }

    /// Whether comparing numbers makes sense: both programs reach their end on some input, or differ on one.
    pub(super) fn has_results(&self) -> bool {
        self.ended > 0 || self.found.is_some()
    }

    /// The verdict on all inputs.
    pub(super) fn conclusion(self, real: RealVerdict) -> Refinement {
        let unreached = self.unreached();
        let largest_size = self.source.function().and_then(largest_size);
        let (compared, ended, given) = (self.compared, self.ended, self.undecided_given);
        let undecided = if compared == 0 { self.undecided + self.left_open } else { self.undecided };
        let (all, extreme) = (compared + undecided, self.extreme);
        let is_much = (undecided - extreme) * ONE_IN > all || extreme * EXTREME_ONE_IN > all;
        let reason = self.reason.as_ref().map(|verdict| match verdict {
            RefinementVerdict::Undecided(reason)
            | RefinementVerdict::OutOfBudget(reason)
            | RefinementVerdict::Vacuous(reason) => reason.clone(),
            RefinementVerdict::NotAllowed { message, .. } => message.clone(),
            RefinementVerdict::Allowed => String::new(),
        });
        let (verdict, input, deviation) = match (self.found, self.reason, self.unseen) {
            (Some(FoundDeviation { verdict, input, deviation, .. }), _, _) => (verdict, Some(input), deviation),
            // The behaviour of a closure on other arguments is unknown.
            (None, _, Some(reason)) => (RefinementVerdict::Undecided(reason), None, None),
            // Undecided inputs prevent the verdict "allowed", unless they are exceptions.
            (None, Some(open), None) if given > 0 || is_much => (open, None, None),
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
        // A user who gives a tolerance accepts differences within it.
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
            steps: self.steps,
            reason,
            differing,
            unknown,
            unreached,
            largest_size,
            deviation,
        }
    }
}

/// Tries smaller inputs than the one that was found.
struct Breaking<'c, 'a> {
    comparison: &'c mut RefinementComparison<'a>,
    /// The clause that the target breaks.
    rule: Rule,
    best: FoundDeviation,
    /// The number of steps of all runs at which the search ends.
    limit: u64,
    /// The steps of the last try: the next one is expected to take as many.
    cost: u64,
    /// The steps that are left for quick tries.
    glances: u64,
    /// The tolerance for floats in a quick try: half of the deviation that was found.
    tolerance: f64,
    /// The element that differs in the counterexample.
    element: Option<usize>,
}

impl Look for &mut Breaking<'_, '_> {
    fn at(&mut self, input: &[ValueSpec]) -> ShrinkOutcome {
        let steps = self.comparison.steps;
        // The first try is always allowed.
        if self.cost > 0 && steps.saturating_add(self.cost) > self.limit {
            return ShrinkOutcome::Unasked;
        }
        if self.comparison.is_as_known(input).is_err() {
            return ShrinkOutcome::Other;
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
        if self.comparison.is_as_known(input).is_err() {
            return ShrinkOutcome::Other;
        }
        let steps = self.comparison.steps;
        let shown = self.comparison.differs_by(input, self.rule, self.tolerance);
        // The steps of quick tries are counted separately, including the elements of the input.
        let taken = self.comparison.steps.saturating_sub(steps).saturating_add(size_of(input) as u64);
        self.glances = self.glances.saturating_sub(taken);
        self.comparison.steps = steps;
        if shown.unwrap_or(false) { ShrinkOutcome::Broken } else { ShrinkOutcome::Other }
    }

    fn element(&self) -> Option<usize> {
        self.element
    }
}

/// The available packed functions, and replacements for those that are not available.
fn packed_functions(
    edition: Edition,
    settings: &Settings,
    [source, target]: [&IrModule; 2],
) -> Result<(Registry, Vec<Name>), RefineError> {
    let mut registry = settings.registry.clone();
    let Some(assumed) = &settings.unknown else { return Ok((registry, Vec::new())) };
    let missing = unknown::missing(&registry, &[source, target]);
    if let Some(name) = assumed.keys().find(|name| !missing.contains(*name)) {
        return Err(RefineError::Assumed(name.clone()));
    }
    let programs: Vec<&IrModule> = settings.origin.as_deref().into_iter().chain([source]).collect();
    unknown::register(&mut registry, missing.iter().cloned(), assumed, edition, &programs);
    Ok((registry, missing.into_iter().collect()))
}

fn larger(a: Option<Deviation>, b: Option<Deviation>) -> Option<Deviation> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.part() > a.part() { b } else { a }),
        (one, other) => one.or(other),
    }
}

/// Whether rounding of floats may explain the difference: the runs end in the same way, with different results.
fn may_be_rounding(before: &Observed, after: &Observed) -> bool {
    let alike =
        matches!((&before.outcome, &after.outcome), (Ending::Value(_), Ending::Value(_)) | (Ending::Error(_), _));
    let same = before.outcome == after.outcome
        && before.effects == after.effects
        && before.arguments == after.arguments
        && before.closures == after.closures;
    alike && !same
}

/// Whether a run with noise ends in the same way as the run without.
fn is_alike(run: &Observed, shadow: &Observed) -> bool {
    let ends = match (&run.outcome, &shadow.outcome) {
        (Ending::Value(_), Ending::Value(_)) => true,
        (Ending::Error(a), Ending::Error(b)) => a.rule == b.rule,
        (Ending::Value(_) | Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_), _) => {
            false
        }
    };
    ends && run.effects.len() == shadow.effects.len()
}

/// Whether a value is or contains a tensor without elements.
fn is_empty(value: &ValueSpec) -> bool {
    value.tensors().any(|data| data.bytes.is_empty())
}

/// The size of an input: the sum of its sizes and its numbers of elements.
fn size_of(input: &[ValueSpec]) -> usize {
    let tensor = |data: &TensorData| data.shape.len() + data.bytes.len();
    let size = |value: &ValueSpec| {
        let own: usize = value.parts().map(|part| 1 + part.as_shape().map_or(0, Vec::len)).sum();
        own + value.tensors().map(tensor).sum::<usize>()
    };
    input.iter().map(size).sum()
}
