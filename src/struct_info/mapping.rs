//! Matches shape variables of one piece of structural information with dimensions of another.

use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;
use std::sync::Arc;

use smallvec::SmallVec;

use super::kinds::InfoPair;
use super::surroundings::{Surroundings, Vars};
use crate::book::Erratum;
use crate::grammar::{FuncStructInfo, PrimExpr, PrimStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::{Conclusion, Cx, SmallSet, VisitedTuples, is_new, is_shared, place, with_stack};
use crate::shape::alpha_equal;

/// The replacements of shape variables.
pub type Mapping = BTreeMap<ShapeVar, PrimExpr>;

/// A mapping during the search, between parts of the matched infos.
pub(super) type PartialMapping<'s> = BTreeMap<&'s ShapeVar, &'s PrimExpr>;

/// An entry of a mapping.
type MappingEntry<'s> = (&'s ShapeVar, &'s PrimExpr);

/// The assignments by one list of dimensions, in order.
type Assigned<'s> = SmallVec<[MappingEntry<'s>; FEW]>;

const FEW: usize = 4;

struct MappingDisplay<'m, 's>(&'m PartialMapping<'s>);

impl Conclusion for MappingDisplay<'_, '_> {
    fn conclude(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(|(v, e)| format!("{v}: {e}")).collect();
        format!("{{{}}}", entries.join(", "))
    }
}

/// SI.MAPPING: the map from unbound shape variables of `s1` to dimensions of `s2` that a structural match finds.
///
/// `scope` has the bound variables. 2023-02, Substituting Free Shape Variables. Literal A11: a variable of a shape is
/// mapped to itself.
pub fn get_shape_var_mapping(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> Mapping {
    let to_itself = cx.literal(Erratum::A11);
    let mut united =
        United { mapping: PartialMapping::new(), scope, parts: 0, to_itself, params: false, seen: SmallSet::default() };
    united.judge(cx, s1, s2);
    owned(&united.mapping)
}

/// An owned copy of the mapping.
pub(super) fn owned(found: &PartialMapping) -> Mapping {
    found.iter().map(|(v, e)| ((*v).clone(), (*e).clone())).collect()
}

/// Whether every variable is mapped to itself.
pub(super) fn is_identity(found: &PartialMapping) -> bool {
    found.iter().all(|(v, e)| matches!(e, PrimExpr::Var(w) if w == *v))
}

/// SI.MAPPING.UNION: the union of the mappings of corresponding parameters; the leftmost entry counts (A10).
pub fn united_mapping<'s>(
    cx: &mut Cx,
    parts: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>,
    scope: &dyn Surroundings,
) -> Mapping {
    owned(&matched(cx, parts, scope))
}

/// Like [`united_mapping`], with borrowed parts.
pub(super) fn matched<'s>(
    cx: &mut Cx,
    parts: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>,
    scope: &dyn Surroundings,
) -> PartialMapping<'s> {
    let to_itself = cx.literal(Erratum::A11);
    United { mapping: PartialMapping::new(), scope, parts: 0, to_itself, params: true, seen: SmallSet::default() }
        .all(cx, parts)
}

/// Like [`matched`], for the order. The text says nothing about a mapping there (A44), so there is no literal reading.
pub(super) fn corresponding<'s>(
    cx: &mut Cx,
    parts: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>,
    scope: &dyn Surroundings,
) -> PartialMapping<'s> {
    United {
        mapping: PartialMapping::new(),
        scope,
        parts: 0,
        to_itself: false,
        params: true,
        seen: SmallSet::default(),
    }
    .all(cx, parts)
}

/// A mapping that grows from left to right.
struct United<'a, 's> {
    mapping: PartialMapping<'s>,
    scope: &'a dyn Surroundings,
    /// The number of open unions around the matched infos.
    parts: usize,
    /// Literal A11: a variable of a shape is mapped to itself.
    to_itself: bool,
    /// Whether the matched infos are in parameters.
    params: bool,
    /// The visited pairs of shared tuples, with whether they were in parameters. A second match in the same position
    /// changes nothing. A function type outside of parameters is searched, but one inside is not.
    seen: SmallSet<(usize, usize, bool)>,
}

impl<'s> United<'_, 's> {
    fn all(
        mut self,
        cx: &mut Cx,
        parts: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>,
    ) -> PartialMapping<'s> {
        parts.into_iter().for_each(|(s1, s2)| self.part(cx, s1, s2));
        self.mapping
    }

    fn judge(&mut self, cx: &mut Cx, s1: &'s StructInfo, s2: &'s StructInfo) {
        let inputs = || vec![s1.to_string(), s2.to_string()];
        cx.judge("get_shape_var_mapping", inputs, move |cx| {
            self.infos(cx, s1, s2);
            MappingDisplay(&self.mapping)
        });
    }

    fn part(&mut self, cx: &mut Cx, s1: &'s StructInfo, s2: &'s StructInfo) {
        self.parts += 1;
        self.judge(cx, s1, s2);
        self.parts -= 1;
    }

    fn infos(&mut self, cx: &mut Cx, s1: &'s StructInfo, s2: &'s StructInfo) {
        match InfoPair::of(s1, s2) {
            InfoPair::Tuples(fields1, fields2) => self.tuples(cx, fields1, fields2),
            InfoPair::Funcs(f1, f2) => self.funcs(cx, f1, f2),
            kinds @ (InfoPair::Shapes(..) | InfoPair::Tensors(..) | InfoPair::Different) => {
                self.leaves(cx, &kinds, s1, s2)
            }
            InfoPair::Prims(p1, p2) => self.prims(cx, p1, p2),
            // Objects have nothing to search.
            InfoPair::Objects => {}
        }
    }

    /// SI.MAPPING.KIND, SI.MAPPING.SHAPE, SI.MAPPING.TENSOR: matches the corresponding dimensions, if there are any.
    fn leaves(&mut self, cx: &mut Cx, kinds: &InfoPair, s1: &'s StructInfo, s2: &'s StructInfo) {
        let (dims1, dims2) = (dims_of(s1), dims_of(s2));
        let same_length = dims1.zip(dims2).is_some_and(|(dims1, dims2)| dims1.len() == dims2.len());
        let (shapes, tensors) = (matches!(kinds, InfoPair::Shapes(..)), matches!(kinds, InfoPair::Tensors(..)));
        let corresponding = cx.by_cases(&[
            (rule!("SI.MAPPING.KIND"), !shapes && !tensors, false),
            (rule!("SI.MAPPING.SHAPE"), shapes && same_length, true),
            (rule!("SI.MAPPING.SHAPE.ELSE"), shapes, false),
            (rule!("SI.MAPPING.TENSOR"), tensors && same_length, true),
            (rule!("SI.MAPPING.TENSOR.ELSE"), tensors, false),
        ]);
        if corresponding == Some(true) {
            let (dims1, dims2) = (dims1.unwrap_or_default(), dims2.unwrap_or_default());
            // The text assigns `S1.values[i]` to itself (A11).
            self.dims(cx, dims1, if self.to_itself && !tensors { dims1 } else { dims2 });
        }
    }

    /// PR14148.SI.PRIM.VALUE, SI.MAPPING.PRIM: the value of a boxed scalar corresponds to that of the other.
    ///
    /// Errata: A74, N10, literally boxed scalars are not matched.
    fn prims(&mut self, cx: &mut Cx, p1: &'s PrimStructInfo, p2: &'s PrimStructInfo) {
        let (rule, literally) = if cx.has(rule!("SI.MAPPING.PRIM")) {
            (rule!("SI.MAPPING.PRIM"), cx.literal(Erratum::N10))
        } else {
            (rule!("PR14148.SI.PRIM.VALUE"), cx.literal(Erratum::A74))
        };
        let values = p1.value.as_ref().zip(p2.value.as_ref()).filter(|_| !literally);
        if let Some((value1, value2)) = values
            && cx.fire(rule)
        {
            self.dims(cx, from_ref(value1), from_ref(value2));
        }
    }

    fn tuples(&mut self, cx: &mut Cx, fields1: &'s Arc<[StructInfo]>, fields2: &'s Arc<[StructInfo]>) {
        let shared = (is_shared(fields1) || is_shared(fields2)) && !cx.is_traced();
        if shared && !self.seen.insert((place(fields1), place(fields2), self.params)) {
            return;
        }
        let fieldwise = cx.by_cases((
            &[(rule!("SI.MAPPING.TUPLE.LEN"), fields1.len() != fields2.len(), false)],
            (rule!("SI.MAPPING.TUPLE"), true),
        ));
        if fieldwise {
            fields1.iter().zip(fields2.iter()).for_each(|(field1, field2)| self.part(cx, field1, field2));
        }
    }

    fn funcs(&mut self, cx: &mut Cx, f1: &'s FuncStructInfo, f2: &'s FuncStructInfo) {
        let arity = |f: &FuncStructInfo| f.params.as_ref().map(|params| params.len());
        let same_arity = f1.params.is_some() && arity(f1) == arity(f2);
        // Variables of a function type in a parameter are not determined by that parameter (E55).
        let searched = same_arity && (!self.params || cx.literal(Erratum::E55));
        let by_params =
            cx.by_cases((&[(rule!("SI.MAPPING.FUNC"), searched, true)], (rule!("SI.MAPPING.FUNC.ELSE"), false)));
        if !by_params {
            return;
        }
        let outside = std::mem::replace(&mut self.params, true);
        // SI.MAPPING.FUNC.NORET: the result is not a binding position. The rule counts as used if the result looks like
        // one.
        let positions = params_of(f1).len();
        let looks_like_one = !introduced_shape_vars(&f1.ret).is_empty();
        let positions = if looks_like_one { cx.conclude(rule!("SI.MAPPING.FUNC.NORET"), positions) } else { positions };
        let parts = |f: &'s FuncStructInfo| params_of(f).iter().chain([&f.ret]);
        for (part1, part2) in parts(f1).zip(parts(f2)).take(positions) {
            self.part(cx, part1, part2);
        }
        self.params = outside;
    }

    /// Matches one list of dimensions with another. The procedure assigns in order, so the later of two entries for a
    /// variable in one list counts. Unions are about several lists.
    fn dims(&mut self, cx: &mut Cx, dims1: &'s [PrimExpr], dims2: &'s [PrimExpr]) {
        let mut assigned = Assigned::new();
        for (dim1, dim2) in dims1.iter().zip(dims2) {
            if let Some(v) = self.mapped(cx, dim1) {
                assigned.push((v, dim2));
            }
        }
        self.unite(cx, &assigned);
    }

    /// SI.MAPPING.NOTBOUND: a variable that is a whole dimension is mapped unless it is bound. A compound dimension
    /// maps none.
    fn mapped(&self, cx: &mut Cx, dim: &'s PrimExpr) -> Option<&'s ShapeVar> {
        let (v, lone) = match dim {
            PrimExpr::Var(v) => (v, true),
            PrimExpr::IntImm(_) => return None,
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => (first_var(dim)?, false),
        };
        let bound = (!lone || self.scope.has_shape_var(v)) && cx.fire(rule!("SI.MAPPING.NOTBOUND"));
        (!bound).then_some(v)
    }

    /// SI.MAPPING.UNION: the leftmost entry counts.
    fn unite(&mut self, cx: &mut Cx, assigned: &[MappingEntry<'s>]) {
        let united = self.parts > 0 && !assigned.is_empty() && cx.fire(rule!("SI.MAPPING.UNION"));
        for (v, dim) in last_of_each(assigned) {
            let conflict = self.mapping.get(v).is_some_and(|earlier| !alpha_equal(earlier, dim));
            if !(united && conflict) {
                self.mapping.insert(v, dim);
            }
        }
    }
}

/// The first variable of a compound dimension.
fn first_var(dim: &PrimExpr) -> Option<&ShapeVar> {
    let mut first = None;
    dim.for_each_var(|v| first = first.or(Some(v)));
    first
}

/// The last entry of each variable. Lists are usually short, and then a linear search is faster than sorting.
fn last_of_each<'s>(assigned: &[MappingEntry<'s>]) -> Assigned<'s> {
    if assigned.len() < 2 {
        return assigned.into();
    }
    if assigned.len() > FEW {
        return assigned.iter().copied().collect::<PartialMapping>().into_iter().collect();
    }
    let is_last = |(i, (v, _)): &(usize, &MappingEntry<'s>)| assigned[i + 1..].iter().all(|(later, _)| later != v);
    assigned.iter().enumerate().filter(is_last).map(|(_, entry)| *entry).collect()
}

/// The dimensions of a tensor or the values of a shape, if they are given.
pub(super) fn dims_of(s: &StructInfo) -> Option<&[PrimExpr]> {
    match s {
        StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) => Some(dims),
        StructInfo::Shape(shape) => shape.values.as_deref(),
        StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_)
        | StructInfo::Func(_) => None,
    }
}

/// The dimensions in information that is neither a tuple nor a function type. A shape that is any other expression has
/// no shape variables to match.
pub(super) fn dims_in(s: &StructInfo) -> &[PrimExpr] {
    match s {
        StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) => dims,
        StructInfo::Shape(shape) => shape.values.as_deref().unwrap_or_default(),
        StructInfo::Prim(prim) => prim.value.as_slice(),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => &[],
    }
}

/// The shape variables that an info introduces in a binding position: its whole dimensions, also inside tuples. Those
/// of a function type belong to that type (A44).
pub fn introduced_shape_vars(s: &StructInfo) -> BTreeSet<ShapeVar> {
    introduced_by([s])
}

/// Like [`introduced_shape_vars`], for several infos together.
pub(super) fn introduced_by<'s>(infos: impl IntoIterator<Item = &'s StructInfo>) -> BTreeSet<ShapeVar> {
    let mut found = BTreeSet::new();
    for_each_lone(infos, |v| {
        if !found.contains(v) {
            found.insert(v.clone());
        }
    });
    found
}

/// Visits the same variables one after the other, including repetitions. Those of a repeated tuple are visited once.
pub(super) fn for_each_lone<'s>(infos: impl IntoIterator<Item = &'s StructInfo>, mut visit: impl FnMut(&'s ShapeVar)) {
    let mut seen = VisitedTuples::default();
    let mut visit = |dim: &'s PrimExpr| {
        if let PrimExpr::Var(v) = dim {
            visit(v);
        }
    };
    for s in infos {
        match s {
            StructInfo::Tuple(_) => collect(s, false, &mut seen, &mut visit),
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Func(_) => dims_in(s).iter().for_each(&mut visit),
        }
    }
}

/// The names in the second of each pair for the variables that the first introduces. The two are equal up to names; if
/// one pair is not, the result is empty. They need not share the same parts.
pub(crate) fn names_among<'s>(pairs: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>) -> Mapping {
    let mut names = NameMapping { found: PartialMapping::new(), seen: SmallSet::default() };
    if pairs.into_iter().all(|(s1, s2)| names.infos(s1, s2)) { owned(&names.found) } else { Mapping::new() }
}

/// The names of variables in another info.
struct NameMapping<'s> {
    found: PartialMapping<'s>,
    /// The visited pairs of shared tuples.
    seen: SmallSet<(usize, usize)>,
}

impl<'s> NameMapping<'s> {
    /// Whether the two have the same structure, as far as they introduce variables.
    fn infos(&mut self, s1: &'s StructInfo, s2: &'s StructInfo) -> bool {
        match InfoPair::of(s1, s2) {
            InfoPair::Tuples(fields1, fields2) => {
                let known =
                    (is_shared(fields1) || is_shared(fields2)) && !self.seen.insert((place(fields1), place(fields2)));
                let mut fields = fields1.iter().zip(fields2.iter());
                known
                    || fields1.len() == fields2.len()
                        && with_stack(|| fields.all(|(field1, field2)| self.infos(field1, field2)))
            }
            InfoPair::Tensors(..) | InfoPair::Shapes(..) => {
                self.dims(dims_of(s1).unwrap_or_default(), dims_of(s2).unwrap_or_default())
            }
            InfoPair::Prims(p1, p2) => self.dims(p1.value.as_slice(), p2.value.as_slice()),
            InfoPair::Funcs(..) | InfoPair::Objects => true,
            InfoPair::Different => introduced_shape_vars(s1).is_empty() && introduced_shape_vars(s2).is_empty(),
        }
    }

    fn dims(&mut self, dims1: &'s [PrimExpr], dims2: &'s [PrimExpr]) -> bool {
        let lone = |dim: &PrimExpr| matches!(dim, PrimExpr::Var(_));
        dims1.len() == dims2.len()
            && dims1.iter().zip(dims2).all(|(dim1, dim2)| {
                if let (PrimExpr::Var(v), PrimExpr::Var(_)) = (dim1, dim2) {
                    self.found.insert(v, dim2);
                }
                lone(dim1) == lone(dim2)
            })
    }
}

/// The parameters; none for a packed function.
pub(super) fn params_of(func: &FuncStructInfo) -> &[StructInfo] {
    func.params.as_deref().unwrap_or(&[])
}

/// The variables that the parameters of two functions introduce; empty without an inner function, because only there
/// the variables in scope matter.
pub(super) fn introduced_around(f1: &FuncStructInfo, f2: &FuncStructInfo) -> Vars {
    let mut vars = Vars::new();
    if has_func_inside(f1) || has_func_inside(f2) {
        for_each_lone([f1, f2].into_iter().flat_map(params_of), |var| {
            if vars.spilled() || !vars.contains(var) {
                vars.push(var.clone());
            }
        });
    }
    vars
}

/// Whether a parameter or the result is or contains a function.
pub(super) fn has_func_inside(func: &FuncStructInfo) -> bool {
    params_of(func).iter().chain([&func.ret]).any(is_or_holds_func)
}

/// Whether an info is a function type, or a tuple that contains one.
pub(super) fn is_or_holds_func(s: &StructInfo) -> bool {
    match s {
        StructInfo::Func(_) => true,
        StructInfo::Tuple(fields) => {
            holds(fields, &mut VisitedTuples::default(), &mut |part| matches!(part, StructInfo::Func(_)))
        }
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    }
}

/// Whether a condition holds for a part of a tuple that is not itself a tuple.
pub(super) fn holds(
    fields: &Arc<[StructInfo]>,
    seen: &mut VisitedTuples,
    such: &mut dyn FnMut(&StructInfo) -> bool,
) -> bool {
    is_new(fields, seen)
        && fields.iter().any(|field| match field {
            StructInfo::Tuple(fields) => with_stack(|| holds(fields, seen, such)),
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Func(_) => such(field),
        })
}

/// Every shape variable that an info mentions anywhere.
pub(crate) fn all_shape_vars(s: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut found = BTreeSet::new();
    collect(s, true, &mut VisitedTuples::default(), &mut |dim| {
        dim.for_each_var(|v| {
            found.insert(v.clone());
        })
    });
    found
}

/// Every shape variable that an info mentions outside of its function types, whose variables are their own.
pub(crate) fn shape_vars_outside_functions(s: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut found = BTreeSet::new();
    collect(s, false, &mut VisitedTuples::default(), &mut |dim| {
        dim.for_each_var(|v| {
            found.insert(v.clone());
        })
    });
    found
}

/// Visits every shape variable that a function type mentions, including repetitions. Those of a repeated tuple are
/// visited once.
pub(super) fn for_each_mentioned<'s>(func: &'s FuncStructInfo, visit: &mut dyn FnMut(&'s ShapeVar)) {
    let mut seen = VisitedTuples::default();
    for part in params_of(func).iter().chain([&func.ret]) {
        collect(part, true, &mut seen, &mut |dim| dim.for_each_var(&mut *visit));
    }
}

fn collect<'s>(s: &'s StructInfo, into_functions: bool, seen: &mut VisitedTuples, visit: &mut dyn FnMut(&'s PrimExpr)) {
    match s {
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
            dims_in(s).iter().for_each(visit);
        }
        StructInfo::Tuple(fields) => {
            if is_new(fields, seen) {
                with_stack(|| fields.iter().for_each(|field| collect(field, into_functions, seen, visit)));
            }
        }
        StructInfo::Func(func) if into_functions => with_stack(|| {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).for_each(|part| collect(part, into_functions, seen, visit));
        }),
        StructInfo::Func(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_entries_of_a_variable_in_one_list_the_last_counts_however_long_the_list_is() {
        for (length, vars) in (0..3 * FEW).flat_map(|length| (1..6).map(move |vars| (length, vars))) {
            let names: Vec<ShapeVar> = (0..length).map(|i| ShapeVar::new(&format!("v{}", i * 7 % vars))).collect();
            let dims: Vec<PrimExpr> = (0..length as i64).map(PrimExpr::from).collect();
            let assigned: Vec<MappingEntry> = names.iter().zip(&dims).collect();
            let mut plainly = PartialMapping::new();
            for (var, dim) in &assigned {
                plainly.insert(var, dim);
            }
            let last = last_of_each(&assigned);
            assert_eq!((last.len(), last.into_iter().collect()), (plainly.len(), plainly), "{length} {vars}");
        }
    }
}
