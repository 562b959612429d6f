//! The judgement on one pass: what it did to the meaning, and the contracts that it breaks.

use std::rc::Rc;
use std::time::Instant;

use super::apart::{StandInReads, with_stand_ins};
use super::contracts::{BrokenContract, Properties, changes_its_result, is_same};
use super::made::module_of;
use super::truth::falsehood;
use super::verdict::{Judged, PassVerdict};
use super::{Blamed, Blamer, CODE_GENERATION, GRADIENT, PassRecord, Stopped, is_of};
use crate::Failure;
use ask::stages::{PassStage, PassStep};
use relax_spec::arguments::{are_ordinary, linked};
use relax_spec::grammar::IrModule;
use relax_spec::refine::wrong_gradient;
use relax_spec::rule;
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use serde_json::Value;

impl Blamer<'_> {
    /// Judges the result of a pass.
    pub(super) fn take(&self, record: &mut PassRecord, stage: PassStage, dialect: Dialect) -> Result<(), Stopped> {
        if stage.prim_funcs || stage.pass == CODE_GENERATION {
            record.code.take(stage);
            return Ok(());
        }
        let begin = Instant::now();
        let before = record.last.clone();
        let (mut judged, name, after) = match module_of(&stage) {
            None => (Judged::from(PassVerdict::Unchanged), stage.pass.clone(), Some(None)),
            // The next verdict covers this pass too.
            Some(Err(message)) => {
                record.unread.push(stage.pass.clone());
                (Judged::from(PassVerdict::Open(message)), stage.pass.clone(), None)
            }
            Some(Ok(module)) => {
                let module = Rc::new(module);
                let judged = self.meaning(record, &module, dialect, &stage)?;
                record.unread.push(stage.pass.clone());
                (judged, std::mem::take(&mut record.unread).join(", "), Some(Some(module)))
            }
        };
        record.passed.push(stage.pass.clone());
        if let Some(after) = after {
            judged.broken = self.broken(record, &stage.pass, dialect, after.as_deref());
            judged
                .broken
                .extend(after.as_deref().and_then(|after| self.wrong_gradient(&before, after, dialect, &stage.pass)));
            let assuming = after.filter(|_| record.properties.assumes && !judged.is_wrong());
            let false_of = |after: Rc<IrModule>| falsehood(&self.cx(dialect), &before, &after, &self.entry);
            judged.broken.extend(assuming.and_then(false_of).map(BrokenContract::of_false));
        }
        if stage.text.is_some() {
            judged.broken.extend(changes_its_result(&stage.pass, record.changed.as_deref()));
            record.changed = Some(stage.pass.clone());
        }
        judged.took = begin.elapsed();
        Ok(self.conclude_pass(record, &name, &judged)?)
    }

    /// Judges what a pass did to the meaning. A module that is the same as before keeps its runs.
    pub(super) fn meaning(
        &self,
        record: &mut PassRecord,
        module: &Rc<IrModule>,
        dialect: Dialect,
        stage: &PassStage,
    ) -> Result<Judged, Failure> {
        if is_same(&record.last, module) {
            return Ok(Judged::from(PassVerdict::Unchanged));
        }
        self.kept.keep(module);
        let verdict = self.judge(&record.last, module, dialect, Some(&stage.pass))?;
        let allowed = match verdict {
            PassVerdict::Open(_) => self.allowed_apart(record, module, dialect, stage)?,
            PassVerdict::Unchanged | PassVerdict::Allowed { .. } | PassVerdict::NotAllowed { .. } => None,
        };
        let (apart, verdict) = (allowed.is_some(), allowed.unwrap_or(verdict));
        let is_wrong = matches!(verdict, PassVerdict::NotAllowed { .. });
        let made = is_wrong.then(|| print_module(module, Dialect::default()));
        let slight =
            self.is_slight(&verdict, |ordinary| ordinary.judge(&record.last, module, dialect, Some(&stage.pass)))?;
        record.last = module.clone();
        Ok(Judged { slight, apart, made, ..Judged::from(verdict) })
    }

    /// Whether the difference shows on no ordinary arguments. `judge` gives the verdict on them.
    pub(super) fn is_slight(
        &self,
        verdict: &PassVerdict,
        judge: impl FnOnce(&Blamer<'_>) -> Result<PassVerdict, Failure>,
    ) -> Result<bool, Failure> {
        let PassVerdict::NotAllowed { input, .. } = verdict else { return Ok(false) };
        if !self.given.is_empty() || are_ordinary(input) {
            return Ok(false);
        }
        let mut other = self.with((*self.source).clone(), Vec::new(), self.steps.clone());
        other.is_ordinary = true;
        Ok(!matches!(judge(&other)?, PassVerdict::NotAllowed { .. }))
    }

    /// The verdict, if a pass is allowed where the `PrimFunc`s that it leaves as they are give something simpler.
    pub(super) fn allowed_apart(
        &self,
        record: &PassRecord,
        module: &IrModule,
        dialect: Dialect,
        stage: &PassStage,
    ) -> Result<Option<PassVerdict>, Failure> {
        for reads in [StandInReads::All, StandInReads::Operands] {
            let Some((before, after)) = with_stand_ins(&record.last, module, reads) else { break };
            match self.judge(&before, &after, dialect, Some(&stage.pass))? {
                allowed @ PassVerdict::Allowed { .. } => return Ok(Some(allowed)),
                PassVerdict::Open(_) => {}
                PassVerdict::Unchanged | PassVerdict::NotAllowed { .. } => break,
            }
        }
        Ok(None)
    }

    /// Keeps what matters of the judgement on a pass, and prints it.
    pub(super) fn conclude_pass(&self, record: &mut PassRecord, pass: &str, judged: &Judged) -> Result<(), Failure> {
        record.any_open |= matches!(judged.verdict, PassVerdict::Open(_));
        if let Some((reason, input)) = judged.wrong() {
            let slight = (judged.slight || is_doubtful(&reason)) && judged.broken.is_empty();
            if record.blamed.as_ref().is_none_or(|known| known.slight && !slight) {
                record.blamed = Some(Blamed { pass: pass.to_string(), reason, input, slight });
            }
        }
        self.tell(pass, judged)
    }

    /// The contracts that a pass breaks; `None` is a module that it left as it was.
    pub(super) fn broken(
        &self,
        record: &mut PassRecord,
        pass: &str,
        dialect: Dialect,
        after: Option<&IrModule>,
    ) -> Vec<BrokenContract> {
        let mut cx = self.cx(dialect);
        let Some(after) = after else { return record.properties.broken(&mut cx, pass, &record.properties) };
        let properties = Properties::of(&mut cx, after);
        let broken = record.properties.broken(&mut cx, pass, &properties);
        record.properties = properties;
        broken
    }

    /// REFINE.GRADIENT: what is wrong with the gradient that `Gradient` has written, if that can be compared.
    fn wrong_gradient(
        &self,
        before: &IrModule,
        after: &IrModule,
        dialect: Dialect,
        pass: &str,
    ) -> Option<BrokenContract> {
        let steps = self.steps.iter().filter(|step| step.name == GRADIENT && is_of(pass, step));
        let found = steps.filter_map(|step| self.asked_gradient(step)).find_map(|(function, target)| {
            let adjoint = format!("{function}_adjoint");
            let is_new = linked(before, &adjoint).is_none() && linked(after, &adjoint).is_some();
            is_new.then(|| wrong_gradient(&self.cx(dialect), after, &function, &adjoint, target)).flatten()
        });
        found.map(BrokenContract::of_gradient)
    }

    /// The function whose gradient a step asks for, and the place of the number among its results. `None` if the
    /// gradients are those of some parameters only: then they have no place of their own.
    fn asked_gradient(&self, step: &PassStep) -> Option<(String, usize)> {
        let argument = |at: usize, name: &str| match step.arguments.as_ref()? {
            Value::Array(given) => given.get(at).cloned(),
            Value::Object(given) => given.get(name).cloned(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        if argument(1, "require_grads").is_some_and(|given| !given.is_null()) {
            return None;
        }
        let function = argument(0, "func_name").and_then(|name| name.as_str().map(str::to_string));
        let target = argument(2, "target_index").and_then(|at| at.as_u64()).unwrap_or(0);
        Some((function.unwrap_or_else(|| self.entry.to_string()), usize::try_from(target).ok()?))
    }
}

/// Whether a verdict by this clause is one on arguments on which the program fails, or within what rounding explains:
/// a value that differs, in a later pass, matters more.
fn is_doubtful(clause: &str) -> bool {
    [rule!("OPT.OUTSIDE-DF"), rule!("OPT.ERROR-IDENTITY"), rule!("REFINE.REAL")].iter().any(|rule| rule.id() == clause)
}
