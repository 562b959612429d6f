//! Renames the shape variables of function types apart. A variable that a signature binds is its own, whatever its name
//! (A03).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::fresh_copies::{FreshCopies, fresh_names};
use super::kinds::InfoPair;
use super::mapping::{
    Mapping, all_shape_vars, dims_in, dims_of, for_each_lone, for_each_mentioned, has_func_inside, introduced_by,
    params_of,
};
use super::own::{Own, binds_in_any_order};
use super::substitute::{rename_in_func, renamed};
use super::surroundings::{JudgementScope, Surroundings};
use crate::book::Erratum;
use crate::grammar::{FuncStructInfo, PrimExpr, ShapeVar, StructInfo};
use crate::judge::{Cx, Once, SmallSet, VisitedTuples, is_new, is_shared, place, with_stack};

type Func = Arc<FuncStructInfo>;

fn all_of(func: &Func) -> BTreeSet<ShapeVar> {
    all_shape_vars(&StructInfo::Func(func.clone()))
}

/// The information, renamed so that no function type has an own variable with the same name as one of an enclosing
/// function type. Such names occur if an inner function type comes before the outer one introduces the variable. It
/// then introduces its own. A judgement that takes all variables of a signature at once would confuse the two. If
/// signatures bind in any order, they are the same variable (WF23-12.6.ANY-ORDER).
pub(super) fn told_inside<'s>(cx: &Cx, s: &'s StructInfo, scope: &JudgementScope) -> Cow<'s, StructInfo> {
    told_inside_and_back(cx, s, scope).0
}

/// Like [`told_inside`], with the mapping back to the original names.
pub(super) fn told_inside_and_back<'s>(
    cx: &Cx,
    s: &'s StructInfo,
    scope: &JudgementScope,
) -> (Cow<'s, StructInfo>, Mapping) {
    if binds_in_any_order(cx) || !shares_names(s, &mut Around::default()) {
        return (Cow::Borrowed(s), Mapping::new());
    }
    told_beside(s, &all_shape_vars(s), scope)
}

fn told_beside<'s>(
    s: &'s StructInfo,
    used: &BTreeSet<ShapeVar>,
    scope: &JudgementScope,
) -> (Cow<'s, StructInfo>, Mapping) {
    let mut inside = Inside::new(scope, FreshCopies::beside(used, scope), false);
    let told = inside.info(s).map_or(Cow::Borrowed(s), Cow::Owned);
    (told, inside.back)
}

/// Like [`told_inside_and_back`], for two function types. Parts that are equal in both stay equal, and no name stands
/// for two variables. `None` for a function that does not change. New names given later in this scope differ from
/// these.
pub(super) fn told_in_both(
    cx: &Cx,
    f1: &Func,
    f2: &Func,
    scope: &JudgementScope,
) -> (Option<Func>, Option<Func>, Mapping) {
    let shares = |func| func_shares_names(func, &mut Around::default());
    if binds_in_any_order(cx) || !shares(f1) && !shares(f2) {
        return (None, None, Mapping::new());
    }
    let mut used = &all_of(f1) | &all_of(f2);
    let (told1, mut back) = func_told_beside(f1, &used, scope);
    let (mut told2, mut back2) = func_told_beside(f2, &used, scope);
    if back2.iter().any(|(name, var)| back.get(name).is_some_and(|other| other != var)) {
        used.extend(back.keys().cloned());
        (told2, back2) = func_told_beside(f2, &used, scope);
    }
    back.append(&mut back2);
    if let Some(last) = back.keys().map(|name| name.id).max() {
        scope.number_up_to(last);
    }
    (told1, told2, back)
}

fn func_told_beside(func: &Func, used: &BTreeSet<ShapeVar>, scope: &JudgementScope) -> (Option<Func>, Mapping) {
    let mut inside = Inside::new(scope, FreshCopies::beside(used, scope), false);
    (inside.func(func), inside.back)
}

/// Like [`told_inside`], for a function type in a judgement that matches and substitutes. Literally (E55 and E80) the
/// judgement goes by names, and nothing is renamed.
pub(super) fn told_inside_if_matched(cx: &Cx, func: &Func, scope: &JudgementScope) -> Option<Func> {
    if binds_in_any_order(cx)
        || !func_shares_names(func, &mut Around::default())
        || cx.literal_any(&[Erratum::E55, Erratum::E80])
    {
        return None;
    }
    func_told_beside(func, &all_of(func), scope).0
}

/// The variables that enclosing function types introduce, by their names.
#[derive(Default)]
struct Around<'s> {
    vars: SmallVec<[&'s ShapeVar; 16]>,
    /// The variables met so far, one bit each.
    met: u64,
    /// The tuples visited since the last change.
    seen: VisitedTuples,
}

/// The maximum number of variables. With more of them, renaming is assumed to be necessary.
const MANY: usize = 64;

impl<'s> Around<'s> {
    fn find(&self, var: &ShapeVar) -> Option<usize> {
        self.vars.iter().position(|known| *known == var)
    }

    fn has_met(&self, nth: usize) -> bool {
        self.met >> nth & 1 == 1
    }

    fn meet(&mut self, leaf: &'s StructInfo) {
        for var in dims_in(leaf).iter().filter_map(lone) {
            if let Some(nth) = self.find(var)
                && !self.has_met(nth)
            {
                self.met |= 1 << nth;
                self.seen.clear();
            }
        }
    }

    /// Adds the variables that the parameters of a function type introduce. Returns whether they differ from the
    /// existing ones.
    fn enter(&mut self, func: &'s FuncStructInfo) -> bool {
        let outer = self.vars.len();
        let mut told_apart = true;
        self.seen.clear();
        for_each_lone(params_of(func), |var| match self.find(var) {
            Some(nth) => told_apart &= nth >= outer || self.has_met(nth),
            None if self.vars.len() < MANY => {
                self.met &= !(1 << self.vars.len());
                self.vars.push(var);
            }
            None => told_apart = false,
        });
        told_apart
    }
}

/// Whether a function type may have an own variable with the same name as one of an enclosing function type. Usually
/// there is none, and nothing needs a new name.
fn shares_names<'s>(s: &'s StructInfo, around: &mut Around<'s>) -> bool {
    match s {
        StructInfo::Object => false,
        StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
            if !around.vars.is_empty() {
                around.meet(s);
            }
            false
        }
        StructInfo::Tuple(fields) => {
            is_new(fields, &mut around.seen) && with_stack(|| fields.iter().any(|field| shares_names(field, around)))
        }
        StructInfo::Func(func) => func_shares_names(func, around),
    }
}

fn func_shares_names<'s>(func: &'s FuncStructInfo, around: &mut Around<'s>) -> bool {
    if around.vars.is_empty() && !has_func_inside(func) {
        return false;
    }
    with_stack(|| {
        let (outer, met) = (around.vars.len(), around.met);
        let mut parts = params_of(func).iter().chain([&func.ret]);
        let shared = !around.enter(func) || parts.any(|part| shares_names(part, around));
        around.vars.truncate(outer);
        around.met = met;
        around.seen.clear();
        shared
    })
}

/// Facts about variables that can be restored to an earlier state.
struct Undoable<T> {
    now: BTreeMap<ShapeVar, T>,
    /// The fact before each change.
    before: Vec<(ShapeVar, Option<T>)>,
}

impl<T> Default for Undoable<T> {
    fn default() -> Undoable<T> {
        Undoable { now: BTreeMap::new(), before: Vec::new() }
    }
}

impl<T> Undoable<T> {
    fn has(&self, var: &ShapeVar) -> bool {
        self.now.contains_key(var)
    }

    fn set(&mut self, var: ShapeVar, known: T) {
        let before = self.now.insert(var.clone(), known);
        self.before.push((var, before));
    }

    fn remove(&mut self, var: &ShapeVar) {
        if let Some(before) = self.now.remove(var) {
            self.before.push((var.clone(), Some(before)));
        }
    }

    fn mark(&self) -> usize {
        self.before.len()
    }

    fn set_back(&mut self, mark: usize) {
        while self.before.len() > mark {
            match self.before.pop() {
                Some((var, Some(known))) => drop(self.now.insert(var, known)),
                Some((var, None)) => drop(self.now.remove(&var)),
                None => {}
            }
        }
    }
}

/// A walk from left to right.
struct Inside<'a> {
    scope: &'a JudgementScope<'a>,
    /// The current new names of variables.
    names: Undoable<PrimExpr>,
    /// The variables that enclosing function types introduce, under their current names.
    own: Undoable<()>,
    /// The variables introduced so far.
    met: Undoable<()>,
    fresh: FreshCopies<'a>,
    /// The original variables of the new names.
    back: Mapping,
    /// Whether all variables that function types introduce get new names.
    all: bool,
    /// The results for shared tuples, as long as nothing changes that they depend on.
    told: Rc<Once<StructInfo, Option<StructInfo>>>,
}

impl<'a> Inside<'a> {
    fn new(scope: &'a JudgementScope<'a>, fresh: FreshCopies<'a>, all: bool) -> Inside<'a> {
        let (names, own, met) = (Undoable::default(), Undoable::default(), Undoable::default());
        Inside { scope, names, own, met, fresh, back: Mapping::new(), all, told: Rc::default() }
    }

    /// The renamed information; `None` if nothing changes.
    fn info(&mut self, s: &StructInfo) -> Option<StructInfo> {
        with_stack(|| match s {
            StructInfo::Object => None,
            StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
                for var in introduced_by([s]) {
                    let name = self.name(&var);
                    if !self.met.has(&name) {
                        self.told.forget();
                        self.met.set(name, ());
                    }
                }
                renamed(s, &self.names.now)
            }
            StructInfo::Tuple(fields) => self.told.clone().of(fields, || self.infos(fields).map(StructInfo::Tuple)),
            StructInfo::Func(func) => self.func(func).map(StructInfo::Func),
        })
    }

    fn infos(&mut self, infos: &[StructInfo]) -> Option<Arc<[StructInfo]>> {
        let told: Vec<Option<StructInfo>> = infos.iter().map(|s| self.info(s)).collect();
        let changed = told.iter().any(Option::is_some);
        changed.then(|| told.into_iter().zip(infos).map(|(told, s)| told.unwrap_or_else(|| s.clone())).collect())
    }

    fn func(&mut self, func: &Func) -> Option<Func> {
        let marks = (self.names.mark(), self.own.mark(), self.met.mark());
        self.told.forget();
        introduced_by(params_of(func)).into_iter().for_each(|var| self.introduce(var));
        let params = func.params.as_ref().and_then(|params| self.infos(params));
        let ret = self.info(&func.ret);
        self.names.set_back(marks.0);
        self.own.set_back(marks.1);
        self.met.set_back(marks.2);
        self.told.forget();
        if params.is_none() && ret.is_none() {
            return None;
        }
        let params = params.or_else(|| func.params.clone());
        let ret = ret.unwrap_or_else(|| func.ret.clone());
        Some(Arc::new(FuncStructInfo { params, ret, ..(**func).clone() }))
    }

    fn name(&self, var: &ShapeVar) -> ShapeVar {
        self.names.now.get(var).and_then(lone).unwrap_or(var).clone()
    }

    /// Introduces a variable in the parameters of a function. A variable that an enclosing function has introduced
    /// already belongs to that function.
    fn introduce(&mut self, var: ShapeVar) {
        let name = self.name(&var);
        if self.scope.has_shape_var(&name) {
            return;
        }
        let around = self.own.has(&name);
        let another = if self.all { !around } else { around && !self.met.has(&name) };
        if another {
            let name = self.fresh.name(&var);
            self.own.set(name.clone(), ());
            self.back.insert(name.clone(), PrimExpr::Var(var.clone()));
            self.names.set(var, PrimExpr::Var(name));
        } else if !around {
            self.met.remove(&name);
            self.own.set(name, ());
        }
    }
}

/// Renames two functions apart for a match of their parameters. Afterwards no variable of the second has the same name
/// as one that the first has from outside. `None` for a function that does not change.
pub(super) fn told_apart(
    cx: &Cx,
    [f1, f2]: [&Func; 2],
    [own1, own2]: [&Own; 2],
    scope: &JudgementScope,
) -> (Option<Func>, Option<Func>) {
    if cx.literal_any(&[Erratum::A11, Erratum::E55, Erratum::E80]) {
        return told_apart_by_name(cx, f1, f2, scope);
    }
    (None, apart_from([f2, f1], [own2, own1], scope))
}

/// Like [`told_apart`], for literal readings that go by names.
fn told_apart_by_name(cx: &Cx, f1: &Func, f2: &Func, scope: &JudgementScope) -> (Option<Func>, Option<Func>) {
    let first = with_distinct_insides(cx, f1, f2, scope);
    let known1 = first.as_ref().unwrap_or(f1);
    // Literally a variable of a shape is mapped to itself, so it corresponds to none of the other (A11).
    let to_itself = cx.literal(Erratum::A11).then(|| Own::of(known1, scope));
    let first = to_itself.and_then(|suspects| renamed_where_met([known1, f2], &suspects, |_| true, scope)).or(first);
    let known1 = first.as_ref().unwrap_or(f1);
    let second = with_distinct_insides(cx, f2, known1, scope);
    let known2 = second.as_ref().unwrap_or(f2);
    let apart = apart_from([known2, known1], [&Own::of(known2, scope), &Own::of(known1, scope)], scope);
    (first, apart.or(second))
}

/// `func` with new names for its `own` variables that `other` mentions without binding them; `None` if there are none.
pub(super) fn apart_from([func, other]: [&Func; 2], [own, known]: [&Own; 2], scope: &JudgementScope) -> Option<Func> {
    renamed_where_met([func, other], own, |var| !known.contains(var), scope)
}

/// `func` with new names for its `own` variables that no mapping has replaced and that `other` has too.
pub(super) fn apart_if_unmapped(
    [func, other]: [&Func; 2],
    own: &Own,
    is_mapped: impl Fn(&ShapeVar) -> bool,
    scope: &JudgementScope,
) -> Option<Func> {
    renamed_where_met([func, other], own, |var| !is_mapped(var), scope)
}

/// `func` with new names for its `own` variables that are suspects and that `other` mentions; `None` if there are none.
fn renamed_where_met(
    [func, other]: [&Func; 2],
    own: &Own,
    is_suspect: impl Fn(&ShapeVar) -> bool,
    scope: &JudgementScope,
) -> Option<Func> {
    if !own.any(&is_suspect) {
        return None;
    }
    let mut met = BTreeSet::new();
    for_each_mentioned(other, &mut |var| {
        if own.contains(var) && is_suspect(var) && !met.contains(var) {
            met.insert(var.clone());
        }
    });
    if met.is_empty() {
        return None;
    }
    let used = &all_of(func) | &all_of(other);
    rename_in_func(func, fresh_names(met, &used, scope), scope)
}

/// The second function in the variables of the first; `None` if nothing changes. Two variables correspond if each is a
/// whole dimension at the same place and neither corresponds to a third, "as when checking alpha-equivalence". The
/// first must be [apart](apart_from) from the second.
pub(super) fn in_variables_of([f1, f2]: [&Func; 2], [own1, own2]: [&Own; 2], scope: &JudgementScope) -> Option<Func> {
    if own2.is_empty() {
        return None;
    }
    let mut pairs = Pairs { own1, own2, found: SmallVec::new(), seen: SmallSet::default() };
    params_of(f1).iter().zip(params_of(f2)).for_each(|(param1, param2)| pairs.infos(param1, param2));
    if pairs.found.len() == own2.len() && pairs.found.iter().all(|(v1, v2)| v1 == v2) {
        return None;
    }
    let renaming: Mapping = pairs.found.into_iter().map(|(v1, v2)| (v2.clone(), PrimExpr::Var(v1.clone()))).collect();
    let mut unpaired = own2.to_set();
    unpaired.retain(|var| !renaming.contains_key(var));
    let used = if unpaired.is_empty() { BTreeSet::new() } else { &all_of(f1) | &all_of(f2) };
    unpaired.retain(|var| used.contains(var));
    let mut renaming: Mapping = renaming.into_iter().chain(fresh_names(unpaired, &used, scope)).collect();
    renaming.retain(|var, name| !matches!(name, PrimExpr::Var(name) if name == var));
    if renaming.is_empty() { None } else { rename_in_func(f2, renaming, scope) }
}

/// The corresponding variables of two functions.
struct Pairs<'o, 's> {
    own1: &'o Own<'s>,
    own2: &'o Own<'s>,
    found: SmallVec<[(&'s ShapeVar, &'s ShapeVar); 8]>,
    /// The visited pairs of shared tuples.
    seen: SmallSet<(usize, usize)>,
}

impl<'s> Pairs<'_, 's> {
    fn infos(&mut self, s1: &'s StructInfo, s2: &'s StructInfo) {
        with_stack(|| match InfoPair::of(s1, s2) {
            InfoPair::Tensors(..) | InfoPair::Shapes(..) => {
                let (dims1, dims2) = (dims_of(s1).unwrap_or_default(), dims_of(s2).unwrap_or_default());
                if dims1.len() == dims2.len() {
                    dims1.iter().zip(dims2).for_each(|(dim1, dim2)| self.dims(dim1, dim2));
                }
            }
            InfoPair::Prims(p1, p2) => {
                if let (Some(value1), Some(value2)) = (&p1.value, &p2.value) {
                    self.dims(value1, value2);
                }
            }
            InfoPair::Tuples(fields1, fields2) => {
                let shared = is_shared(fields1) || is_shared(fields2);
                if !shared || self.seen.insert((place(fields1), place(fields2))) {
                    fields1.iter().zip(fields2.iter()).for_each(|(field1, field2)| self.infos(field1, field2));
                }
            }
            // Variables that an inner function binds belong to it.
            InfoPair::Funcs(..) | InfoPair::Objects | InfoPair::Different => {}
        });
    }

    fn dims(&mut self, dim1: &'s PrimExpr, dim2: &'s PrimExpr) {
        let (PrimExpr::Var(v1), PrimExpr::Var(v2)) = (dim1, dim2) else { return };
        let taken = self.found.iter().any(|(w1, w2)| *w1 == v1 || *w2 == v2);
        if !taken && self.own1.contains(v1) && self.own2.contains(v2) {
            self.found.push((v1, v2));
        }
    }
}

/// The function with new names for the variables of its inner functions, for literal readings that confuse variables of
/// the same name. In these, replacements are captured (E80), and a match searches function types among the parameters
/// (E55).
fn with_distinct_insides(cx: &Cx, func: &Func, other: &Func, scope: &JudgementScope) -> Option<Func> {
    if !cx.literal(Erratum::E80) && !cx.literal(Erratum::E55) || !has_func_inside(func) {
        return None;
    }
    let bound = scope.enter(Own::of(func, scope).to_set());
    let mut inside = Inside::new(scope, FreshCopies::beside(&(&all_of(func) | &all_of(other)), scope), true);
    let parts = params_of(func).iter().chain([&func.ret]);
    let parts: Vec<StructInfo> = parts.map(|part| inside.info(part).unwrap_or_else(|| part.clone())).collect();
    scope.leave(&bound);
    let (ret, params) = parts.split_last()?;
    let params = func.params.as_ref().map(|_| params.into());
    Some(Arc::new(FuncStructInfo { params, ret: ret.clone(), ..(**func).clone() }))
}

/// The information with different names for all variables that function types bind.
pub(super) fn distinct(s: &StructInfo, scope: &JudgementScope) -> StructInfo {
    let fresh = FreshCopies::beside(&all_shape_vars(s), scope);
    Inside::new(scope, fresh, true).info(s).unwrap_or_else(|| s.clone())
}

fn lone(dim: &PrimExpr) -> Option<&ShapeVar> {
    if let PrimExpr::Var(var) = dim { Some(var) } else { None }
}

/// Two infos in which all function types are renamed apart inside, with the mapping back to the original names.
/// Judgements normally do this for one function type at a time, when they meet it.
#[cfg(test)]
pub(super) fn told_all_at_once(
    s1: &StructInfo,
    s2: &StructInfo,
    scope: &JudgementScope,
) -> (StructInfo, StructInfo, Mapping) {
    let mut used = &all_shape_vars(s1) | &all_shape_vars(s2);
    let (told1, mut back) = told_beside(s1, &used, scope);
    used.extend(back.keys().cloned());
    let (told2, mut back2) = told_beside(s2, &used, scope);
    back.append(&mut back2);
    back.keys().map(|name| name.id).max().into_iter().for_each(|last| scope.number_up_to(last));
    (told1.into_owned(), told2.into_owned(), back)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::generate::{Tape, struct_info_pair};
    use crate::grammar::DataType;
    use crate::struct_info::surroundings::Nowhere;

    /// A function type with other function types among its parameters, before or after the parameters that introduce
    /// these names.
    fn signature(tape: &mut Tape, depth: usize, names: [&str; 3]) -> StructInfo {
        let vector = |tape: &mut Tape| {
            let name = names[tape.choose(3)];
            StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)
        };
        if depth == 0 {
            return vector(tape);
        }
        let inner = signature(tape, depth - 1, names);
        let (a, b, ret) = (vector(tape), vector(tape), vector(tape));
        let params = match tape.choose(3) {
            0 => vec![inner, a],
            1 => vec![a, inner, b],
            _ => vec![StructInfo::tuple([inner, a]), b],
        };
        StructInfo::func(params, ret)
    }

    pub(in crate::struct_info) fn drawn(seed: u64) -> (StructInfo, StructInfo) {
        let mut tape = Tape::from_seed(seed, 256);
        if seed.is_multiple_of(2) {
            return struct_info_pair(&mut tape, 4, &["n", "m", "k"].map(ShapeVar::new));
        }
        let names = [["n", "m", "k"], ["m", "k", "n"], ["a", "b", "c"], ["n", "m", "m"]][tape.choose(4)];
        let depth = 1 + tape.choose(4);
        // The same choices except for the last ones, so that some results differ.
        let (mut one, mut other) = (Tape::from_seed(seed, 256), Tape::from_seed(seed, 5 * depth - tape.choose(3)));
        (signature(&mut one, depth, ["n", "m", "k"]), signature(&mut other, depth, names))
    }

    /// Two tuples of such function types with other fields, which sometimes have the same variables.
    pub(in crate::struct_info) fn beside_others(seed: u64) -> (StructInfo, StructInfo) {
        let (s1, s2) = drawn(seed);
        let (t1, t2) = drawn(seed / 2 + 1);
        match seed % 3 {
            0 => (s1, s2),
            1 => (StructInfo::tuple([s1, t1]), StructInfo::tuple([s2, t2])),
            _ => {
                let vector = StructInfo::tensor([PrimExpr::var("n")], DataType::FLOAT32);
                (StructInfo::tuple([vector.clone(), s1]), StructInfo::tuple([vector, s2]))
            }
        }
    }

    #[test]
    fn what_shares_no_names_needs_no_others() {
        let vars = ["n", "m", "k"].map(ShapeVar::new);
        let (mut nested, mut sharing, mut renamed) = (0, 0, 0);
        for seed in 0..6_000 {
            let (s1, s2) = struct_info_pair(&mut Tape::from_seed(seed, 192), 3, &vars);
            // Deeper functions are rare otherwise, and own variables of them before those of outer ones are rarer
            // still.
            let inner = StructInfo::func([s1.clone()], s2.clone());
            let s = if seed % 2 == 0 { StructInfo::func([s1, inner], s2) } else { StructInfo::func([inner, s1], s2) };
            let scope = JudgementScope::new(&Nowhere);
            let (_, back) = told_beside(&s, &all_shape_vars(&s), &scope);
            let shares = shares_names(&s, &mut Around::default());
            assert!(shares || back.is_empty(), "{s}");
            nested += 1;
            sharing += usize::from(shares);
            renamed += usize::from(!back.is_empty());
        }
        assert!(renamed > 100 && sharing < nested, "{nested} {sharing} {renamed}");
    }
}
