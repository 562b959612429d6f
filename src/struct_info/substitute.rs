//! Applies a mapping of shape variables: simultaneously and without capture.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::fresh_copies::fresh_names;
use super::mapping::{Mapping, PartialMapping, all_shape_vars, introduced_by, is_identity, owned};
use super::surroundings::{Nowhere, Surroundings};
use crate::book::Erratum;
use crate::grammar::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::{Cx, Once, with_stack};

/// SI.MAPPING.SUBST: replaces the mapping's variables in `s` simultaneously.
///
/// A function type in `s` may introduce a variable that the replacements mention. It is renamed first. Variables that
/// are bound in `scope` are introduced nowhere. 2023-02, Substituting Free Shape Variables. Literal E80: nothing is
/// renamed.
pub fn substitute(cx: &mut Cx, s: &StructInfo, mapping: &Mapping, scope: &dyn Surroundings) -> StructInfo {
    if mapping.is_empty() {
        return s.clone();
    }
    let mapping = cx.conclude(rule!("SI.MAPPING.SUBST"), Cow::Borrowed(mapping));
    let captures = cx.literal(Erratum::E80);
    Substitution { captures, ..Substitution::new(mapping, scope) }.info(s).unwrap_or_else(|| s.clone())
}

/// SI.MAPPING.SUBST for a function: the new function, or `None` if nothing changes. A mapping of every variable to
/// itself changes nothing, so the function is not examined.
pub(super) fn substitute_in_func(
    cx: &mut Cx,
    func: &Arc<FuncStructInfo>,
    mapping: &PartialMapping,
    scope: &dyn Surroundings,
) -> Option<Arc<FuncStructInfo>> {
    if is_identity(mapping) {
        // Nothing is replaced, and the rule is not even used for an empty mapping.
        let _ = !mapping.is_empty() && cx.fire(rule!("SI.MAPPING.SUBST"));
        return None;
    }
    let mapping = cx.conclude(rule!("SI.MAPPING.SUBST"), Cow::Owned(owned(mapping)));
    let captures = cx.literal(Erratum::E80);
    Substitution { captures, ..Substitution::new(mapping, scope) }.func(func)
}

/// A function with new names for some of its variables; `None` if it has none of them. This is not a step of the text,
/// which identifies variables without names.
pub(super) fn rename_in_func(
    func: &FuncStructInfo,
    names: Mapping,
    scope: &dyn Surroundings,
) -> Option<Arc<FuncStructInfo>> {
    Substitution::new(Cow::Owned(names), scope).func(func)
}

/// Replaces the mapping's variables everywhere, including those that function types introduce.
pub fn replace_everywhere(s: &StructInfo, mapping: &Mapping) -> StructInfo {
    let everywhere = Substitution { captures: true, ..Substitution::new(Cow::Borrowed(mapping), &Nowhere) };
    everywhere.info(s).unwrap_or_else(|| s.clone())
}

/// Information without function types, with new names for some of its variables; `None` if it has none of them.
pub(super) fn renamed(s: &StructInfo, names: &Mapping) -> Option<StructInfo> {
    if names.is_empty() { None } else { Substitution::new(Cow::Borrowed(names), &Nowhere).info(s) }
}

/// Replaces the variables of a dimension.
pub fn substitute_dim(e: &PrimExpr, mapping: &Mapping) -> PrimExpr {
    dim(e, mapping).unwrap_or_else(|| e.clone())
}

struct Substitution<'a> {
    mapping: Cow<'a, Mapping>,
    /// The variables in the replacements; see [`Substitution::incoming`].
    incoming: OnceCell<BTreeSet<ShapeVar>>,
    scope: &'a dyn Surroundings,
    /// Literal E80: variables that a function type introduces may capture variables in the replacements.
    captures: bool,
    /// The results for shared tuples.
    replaced: Once<StructInfo, Option<StructInfo>>,
}

impl<'a> Substitution<'a> {
    fn new(mapping: Cow<'a, Mapping>, scope: &'a dyn Surroundings) -> Substitution<'a> {
        Substitution { mapping, incoming: OnceCell::new(), scope, captures: false, replaced: Once::default() }
    }

    /// The variables in the replacements. They are collected only if a function introduces a variable that is not
    /// itself replaced, which is rare.
    fn incoming(&self) -> &BTreeSet<ShapeVar> {
        self.incoming.get_or_init(|| {
            let mut incoming = BTreeSet::new();
            for e in self.mapping.values() {
                e.for_each_var(|v| {
                    incoming.insert(v.clone());
                });
            }
            incoming
        })
    }

    /// The replaced information; `None` if nothing changes, so that unchanged parts stay shared.
    fn info(&self, s: &StructInfo) -> Option<StructInfo> {
        with_stack(|| match s {
            StructInfo::Object => None,
            StructInfo::Tensor(tensor) => match &tensor.shape {
                Some(TensorShape::Dims(dims)) => {
                    let shape = Some(TensorShape::Dims(self.dims(dims)?));
                    Some(StructInfo::Tensor(TensorStructInfo { shape, ..tensor.clone() }))
                }
                Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => None,
            },
            StructInfo::Shape(shape) => {
                let values = Some(self.dims(shape.values.as_ref()?)?);
                Some(StructInfo::Shape(ShapeStructInfo { values, ndim: shape.ndim }))
            }
            StructInfo::Prim(prim) => {
                let value = Some(dim(prim.value.as_ref()?, &self.mapping)?);
                Some(StructInfo::Prim(PrimStructInfo { dtype: prim.dtype, value }))
            }
            StructInfo::Tuple(fields) => self.replaced.of(fields, || self.infos(fields).map(StructInfo::Tuple)),
            StructInfo::Func(func) => self.func(func).map(StructInfo::Func),
        })
    }

    fn dims(&self, dims: &[PrimExpr]) -> Option<Arc<[PrimExpr]>> {
        all_or_none(dims, |e| dim(e, &self.mapping))
    }

    fn infos(&self, infos: &[StructInfo]) -> Option<Arc<[StructInfo]>> {
        all_or_none(infos, |s| self.info(s))
    }

    fn func(&self, func: &FuncStructInfo) -> Option<Arc<FuncStructInfo>> {
        match self.renaming(func) {
            None => self.func_parts(func),
            Some(renamed) => renamed.func_parts(func),
        }
    }

    fn func_parts(&self, func: &FuncStructInfo) -> Option<Arc<FuncStructInfo>> {
        let params = func.params.as_ref().and_then(|params| self.infos(params));
        let ret = self.info(&func.ret);
        if params.is_none() && ret.is_none() {
            return None;
        }
        Some(Arc::new(FuncStructInfo {
            params: params.or_else(|| func.params.clone()),
            ret: ret.unwrap_or_else(|| func.ret.clone()),
            derive_func: func.derive_func.clone(),
            pure: func.pure,
        }))
    }

    /// This substitution, with new names for variables that the function introduces and the replacements mention.
    fn renaming(&self, func: &FuncStructInfo) -> Option<Substitution<'a>> {
        let params = func.params.as_ref().filter(|_| !self.captures)?;
        let captured: BTreeSet<ShapeVar> = introduced_by(params.iter())
            .into_iter()
            .filter(|v| !self.mapping.contains_key(v) && self.incoming().contains(v) && !self.scope.has_shape_var(v))
            .collect();
        if captured.is_empty() {
            return None;
        }
        let mut used = self.incoming().clone();
        used.extend(self.mapping.keys().cloned());
        used.extend(params.iter().flat_map(all_shape_vars));
        used.extend(all_shape_vars(&func.ret));
        let mut mapping = self.mapping.clone().into_owned();
        mapping.extend(fresh_names(captured, &used, self.scope));
        Some(Substitution::new(Cow::Owned(mapping), self.scope))
    }
}

fn all_or_none<T: Clone>(items: &[T], change: impl Fn(&T) -> Option<T>) -> Option<Arc<[T]>> {
    let (at, first) = items.iter().enumerate().find_map(|(at, item)| Some((at, change(item)?)))?;
    let rest = items.iter().skip(at + 1).map(|item| change(item).unwrap_or_else(|| item.clone()));
    Some(items.iter().take(at).cloned().chain([first]).chain(rest).collect())
}

fn dim(e: &PrimExpr, mapping: &Mapping) -> Option<PrimExpr> {
    let shared = |old: &Arc<PrimExpr>, new: Option<PrimExpr>| new.map_or_else(|| old.clone(), Arc::new);
    with_stack(|| match e {
        PrimExpr::Var(v) => mapping.get(v).cloned(),
        PrimExpr::IntImm(_) => None,
        PrimExpr::Binary(op, a, b) => match (dim(a, mapping), dim(b, mapping)) {
            (None, None) => None,
            (new_a, new_b) => Some(PrimExpr::Binary(*op, shared(a, new_a), shared(b, new_b))),
        },
        PrimExpr::Not(a) => Some(PrimExpr::Not(Arc::new(dim(a, mapping)?))),
        PrimExpr::Select(c, t, f) => match (dim(c, mapping), dim(t, mapping), dim(f, mapping)) {
            (None, None, None) => None,
            (new_c, new_t, new_f) => Some(PrimExpr::Select(shared(c, new_c), shared(t, new_t), shared(f, new_f))),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Tape, struct_info_pair};
    use crate::grammar::DataType;

    fn v(name: &str) -> PrimExpr {
        PrimExpr::var(name)
    }

    fn vector(e: PrimExpr) -> StructInfo {
        StructInfo::tensor([e], DataType::FLOAT32)
    }

    fn apply(s: &StructInfo, mapping: &[(&str, PrimExpr)]) -> StructInfo {
        let mapping = mapping.iter().map(|(name, e)| (ShapeVar::new(name), e.clone())).collect();
        substitute(&mut Cx::new(), s, &mapping, &Nowhere)
    }

    #[test]
    fn simultaneous_and_once() {
        let s = StructInfo::shape([v("n"), v("m")]);
        assert_eq!(apply(&s, &[("n", v("m")), ("m", v("n"))]), StructInfo::shape([v("m"), v("n")]));
    }

    #[test]
    fn a_nested_function_does_not_capture() {
        // The inner function's own `m` differs from the `m` that replaces `n`.
        let inner = StructInfo::func([vector(v("m"))], StructInfo::tuple([vector(v("m")), vector(v("n"))]));
        let fresh = PrimExpr::Var(ShapeVar::numbered("m".into(), 1));
        let expected = StructInfo::func([vector(fresh.clone())], StructInfo::tuple([vector(fresh), vector(v("m"))]));
        assert_eq!(apply(&inner, &[("n", v("m"))]), expected);
    }

    #[test]
    fn a_mapping_of_every_variable_to_itself_changes_nothing() {
        let vars = ["n", "m"].map(ShapeVar::new);
        let mut mapped = 0;
        for seed in 0..2_000 {
            let (s, _) = struct_info_pair(&mut Tape::from_seed(seed, 128), 3, &vars);
            let mapping: Mapping = all_shape_vars(&s).into_iter().map(|v| (v.clone(), PrimExpr::Var(v))).collect();
            mapped += usize::from(!mapping.is_empty());
            assert_eq!(substitute(&mut Cx::new(), &s, &mapping, &Nowhere), s);
        }
        assert!(mapped > 500, "{mapped}");
    }

    #[test]
    fn what_the_replacements_do_not_mention_keeps_its_name() {
        let inner = StructInfo::func([vector(v("k"))], vector(v("n")));
        assert_eq!(apply(&inner, &[("n", v("m"))]), StructInfo::func([vector(v("k"))], vector(v("m"))));
    }
}
