//! The first variable that two runs bind to different values.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::agree::{Agreement, Shadow};
use super::calls::Plan;
use super::observe::Subject;
use super::{Observed, RefineError};
use crate::book::Rule;
use crate::derivation::inferred_results;
use crate::eval::RunObserver;
use crate::grammar::visit::{Visitor, walk_module, walk_var_binding};
use crate::grammar::{Expr, Name, Var, VarBinding};
use crate::judge::Cx;
use crate::normal_form::normalize;
use crate::ops::{self, Clauses};
use crate::value::{Host, Noise, Value, ValueSpec, to_spec};

/// The first variable of the source that has another value in the target, under the same name.
#[derive(Clone, PartialEq, Debug)]
pub struct Differing {
    /// Its name.
    pub name: Name,
    /// Its value in the source.
    pub before: ValueSpec,
    /// The value in the target.
    pub after: ValueSpec,
    /// The clause of the operator that computes it in the source, if any.
    pub clause: Option<Rule>,
}

/// The maximum number of recorded bindings of a run.
const KEPT: usize = 4096;

/// The bindings in order: the name, how often it was bound before, and the value.
#[derive(Debug, Default)]
struct BindingTrace(RefCell<Vec<((Name, usize), ValueSpec)>>);

impl RunObserver for BindingTrace {
    fn bound(&self, _: &mut dyn Host, var: &Var, value: &Value) {
        let mut seen = self.0.borrow_mut();
        if seen.len() < KEPT
            && let Ok(value) = to_spec(value)
        {
            let before = seen.iter().filter(|((name, _), _)| **name == *var.name).count();
            seen.push(((var.name.clone(), before), value));
        }
    }
}

/// As [`first_differing`] in the programs as they are, else in their normal forms, where each call is bound.
pub(super) fn first_differing_call(
    cx: &mut Cx,
    source: &Subject<'_>,
    target: &Subject<'_>,
    args: &[ValueSpec],
    before: &Observed,
    seeds: Range<u64>,
) -> Result<Option<Differing>, RefineError> {
    // A compiled program does not show its variables.
    if source.compiled.is_some() || target.compiled.is_some() {
        return Ok(None);
    }
    let found = first_differing(cx, source, target, args, before, seeds.clone())?;
    if found.is_some() {
        return Ok(found);
    }
    let [before_module, after_module] = [source, target].map(|subject| normalize(&mut cx.clone(), subject.module));
    let [source, target] = [(source, &before_module), (target, &after_module)].map(|(subject, module)| Subject {
        module,
        results: inferred_results(cx, module),
        ..subject.clone()
    });
    first_differing(cx, &source, &target, args, before, seeds)
}

/// Runs both programs again and searches for the first different variable; `seeds` are those of the noise that shows
/// which differences rounding explains.
fn first_differing(
    cx: &mut Cx,
    source: &Subject<'_>,
    target: &Subject<'_>,
    args: &[ValueSpec],
    before: &Observed,
    seeds: Range<u64>,
) -> Result<Option<Differing>, RefineError> {
    let mut bindings = |subject: &Subject<'_>, noise: Option<u64>| {
        let watch = Rc::new(BindingTrace::default());
        let noise = noise.map(|seed| Rc::new(Noise::new(seed)));
        subject.observe(cx, args, Plan::Repeat(&before.closures), noise, Some(watch.clone()))?;
        Ok::<_, RefineError>(watch.0.take())
    };
    let of_source = bindings(source, None)?;
    let of_target: HashMap<(Name, usize), ValueSpec> = bindings(target, None)?.into_iter().collect();
    let mut shadows = Vec::new();
    for seed in seeds {
        shadows.push(bindings(source, Some(seed))?.into_iter().collect::<HashMap<_, _>>());
    }
    let agreement = if shadows.is_empty() { Agreement::exact() } else { Agreement::within(Vec::new(), false, 0.0) };
    let differs = |key: &(Name, usize), before: &ValueSpec, after: &ValueSpec| {
        let others = shadows.iter().map(|shadow| Shadow { shown: shadow.get(key), of_target: false });
        !agreement.values(before, after, &others.collect::<Vec<_>>())
    };
    Ok(of_source.into_iter().find_map(|(key, before)| {
        let after = of_target.get(&key)?;
        let clause = || clause_of(source, &key);
        let (name, after) = (key.0.clone(), after.clone());
        differs(&key, &before, &after).then(|| Differing { clause: clause(), name, before, after })
    }))
}

/// The clause on the value of the operator whose call defines a variable of the source, if only one variable has the
/// name.
fn clause_of(source: &Subject<'_>, (name, _): &(Name, usize)) -> Option<Rule> {
    let mut bound = BoundOperators { name, found: Vec::new() };
    walk_module(&mut bound, source.module);
    match bound.found.as_slice() {
        [op] => match ops::lookup(op)?.clauses {
            Clauses::Tensor(clauses) => Some(clauses.value),
            Clauses::Text => None,
        },
        [] | [_, ..] => None,
    }
}

/// The operators whose calls define variables with this name.
struct BoundOperators<'n> {
    name: &'n Name,
    found: Vec<Name>,
}

impl Visitor for BoundOperators<'_> {
    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if binding.var.var.name == *self.name
            && let Expr::Call(call) = &binding.value
            && let Expr::Op(op) = &call.op
        {
            self.found.push(op.op_name.clone());
        }
        walk_var_binding(self, binding);
    }
}
