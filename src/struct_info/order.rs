//! The order `<<:` as a decision procedure. The axioms themselves, closed under reflexivity and transitivity, are
//! in [`super::axioms`]; the tests compare the two.

use std::sync::Arc;

use super::apart::{told_apart, told_inside_if_matched};
use super::compatibility::in_terms_of;
use super::derive_func::same_derive_func;
use super::kinds::{InfoPair, is_object};
use super::mapping::{corresponding, introduced_around, params_of};
use super::own::Own;
use super::same_shape::{compare_known_shapes, compare_values};
use super::surroundings::{JudgementScope, Nowhere, Surroundings};
use super::syntactic::{same_located_node, same_option, same_tensor_shape};
use super::unknown_purity::{purity_is_below, purity_of};
use crate::book::Erratum;
use crate::grammar::{DeriveFunc, FuncStructInfo, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo};
use crate::judge::{Cx, MemoQuery, Proof};
use crate::types::equality::{same, same_by};

/// The pairs of shapes that count as equal (A15).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeRelation {
    /// Proven equal.
    Definite,
    /// Not proven different.
    Possible,
}

/// SI.ORDER: whether `s1` is at least as specific as `s2`, in the definite order. No variable is in scope.
///
/// 2023-02, Unification. Literal A15: there is one relation, closed under transitivity, in which any shape equals any
/// other of its rank via fresh variables. Literal A43: packed function infos are ordered only if they have the same
/// `derive_func`, without the exception of `empty_derive`.
pub fn is_more_specific(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    is_more_specific_in(cx, ShapeRelation::Definite, s1, s2, &Nowhere)
}

/// Like [`is_more_specific`], in the possible order.
pub fn is_possibly_more_specific(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    is_more_specific_in(cx, ShapeRelation::Possible, s1, s2, &Nowhere)
}

/// `s1 <<: s2` in either order, at a place where the variables of `scope` are bound.
pub fn is_more_specific_in(
    cx: &mut Cx,
    relation: ShapeRelation,
    s1: &StructInfo,
    s2: &StructInfo,
    scope: &dyn Surroundings,
) -> bool {
    below(cx, relation, s1, s2, &JudgementScope::new(scope))
}

pub(super) fn below(
    cx: &mut Cx,
    relation: ShapeRelation,
    s1: &StructInfo,
    s2: &StructInfo,
    scope: &JudgementScope,
) -> bool {
    InfoOrder { relation, scope }.below(cx, s1, s2)
}

/// The contribution of the shapes to the order of two tensor infos.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShapeStep {
    /// The shapes are the same.
    None,
    /// A rule relates them.
    Taken,
    /// No rule relates them.
    Missing,
}

struct InfoOrder<'a> {
    relation: ShapeRelation,
    scope: &'a JudgementScope<'a>,
}

impl InfoOrder<'_> {
    fn below(&self, cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
        let name = match self.relation {
            ShapeRelation::Definite => "is_more_specific",
            ShapeRelation::Possible => "is_possibly_more_specific",
        };
        cx.judge(name, MemoQuery::both(s1, s2).at(self.scope.state()), |cx| self.cases(cx, s1, s2))
    }

    fn cases(&self, cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
        // In the first edition devices have no meaning.
        let located = cx.has(rule!("SUBSI.TENSOR.VDEVICE"));
        let equal = if located { same_by(cx, s1, s2, same_located_node) } else { same(cx, s1, s2) };
        let by_form = cx.by_cases(&[
            (rule!("SI.ORDER.REFL"), equal, true),
            (rule!("SI.ORDER.TOP"), is_object(s2), true),
            (rule!("SI.ORDER.TOP"), is_object(s1), false),
        ]);
        if let Some(answer) = by_form {
            return answer;
        }
        match InfoPair::of(s1, s2) {
            InfoPair::Tensors(t1, t2) => self.tensor(cx, t1, t2),
            InfoPair::Shapes(s1, s2) => self.shape(cx, s1, s2),
            InfoPair::Tuples(fields1, fields2) => self.tuple(cx, fields1, fields2),
            InfoPair::Funcs(f1, f2) => self.func(cx, f1, f2),
            InfoPair::Prims(p1, p2) => self.prim(cx, p1, p2),
            InfoPair::Objects | InfoPair::Different => cx.by_kind(rule!("SI.ORDER.CROSS"), false),
        }
    }

    /// Whether the result of a comparison of dimensions counts as equality in this relation.
    fn counts(&self, cx: &mut Cx, proof: Proof) -> bool {
        // By transitivity via a fresh variable everything is possibly equal to everything (A15).
        let collapsed = cx.literal(Erratum::A15);
        match proof {
            Proof::Equal => true,
            // Literally, dimensions that may be unequal are definitely not equal (N29).
            Proof::Unknown if cx.literal(Erratum::N29) => collapsed,
            Proof::Unknown => collapsed || (self.is_possible() && cx.conclude(rule!("SUBSI.LEVELS"), true)),
            Proof::Different => collapsed,
        }
    }

    fn is_possible(&self) -> bool {
        self.relation == ShapeRelation::Possible
    }

    /// Whether an unknown property of the first may be that of the second. Errata: N30, literally the rules give no
    /// level here.
    fn leaves_open(&self, cx: &Cx) -> bool {
        self.is_possible() && !cx.literal(Erratum::N30)
    }

    /// The order of two tensors. Each rule is one step: the datatype, the device, then the shape and the rank. Several
    /// steps combine by SI.ORDER.TRANS, or by SUBSI.COMPONENTWISE to the least of their levels.
    ///
    /// Errata: N28, literally no rule combines levels, and only definite steps are transitive.
    fn tensor(&self, cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
        let other_dtype = t1.dtype != t2.dtype;
        let open = other_dtype && t1.dtype.is_void() && self.leaves_open(cx);
        let by_level = cx.by_cases(&[(rule!("SUBSI.TENSOR.MISSING-POSSIBLE"), open, true)]);
        if by_level.is_none() && other_dtype && !cx.holds(&[(rule!("SI.ORDER.TENSOR.DTYPE"), 1, t2.dtype.is_void())]) {
            return false;
        }
        let other_device = t1.vdevice != t2.vdevice && cx.has(rule!("SUBSI.TENSOR.VDEVICE"));
        if other_device && !self.device(cx, t1, t2) {
            return false;
        }
        let combined = if self.is_possible() && cx.has(rule!("SUBSI.COMPONENTWISE")) {
            rule!("SUBSI.COMPONENTWISE")
        } else {
            rule!("SI.ORDER.TRANS")
        };
        let steps = usize::from(other_dtype) + usize::from(other_device);
        let steps = match self.tensor_shape(cx, t1, t2) {
            ShapeStep::None => steps,
            ShapeStep::Taken => steps + 1,
            ShapeStep::Missing => return false,
        };
        match steps {
            // Equal shapes would be a case of reflexivity.
            0 => false,
            1 => true,
            2.. if self.is_possible() && cx.literal(Erratum::N28) => {
                InfoOrder { relation: ShapeRelation::Definite, scope: self.scope }.tensor(cx, t1, t2)
            }
            2.. => cx.conclude(combined, true),
        }
    }

    /// SUBSI.TENSOR.VDEVICE: the step for tensors that are not known to be on the same device.
    fn device(&self, cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
        let open = t1.vdevice.is_none() && self.leaves_open(cx);
        let by_level = cx.by_cases(&[(rule!("SUBSI.TENSOR.MISSING-POSSIBLE"), open, true)]);
        by_level.is_some() || cx.holds(&[(rule!("SUBSI.TENSOR.VDEVICE"), 1, t2.vdevice.is_none())])
    }

    fn tensor_shape(&self, cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> ShapeStep {
        let same_rank = t1.ndim == t2.ndim;
        if same_rank && same_option(t1.shape.as_ref(), t2.shape.as_ref(), same_tensor_shape) {
            return ShapeStep::None;
        }
        // The rank of the first is unknown, so it may be that of the second.
        let open_rank = t1.ndim.is_unknown() && self.leaves_open(cx) && cx.has(rule!("SUBSI.TENSOR.MISSING-POSSIBLE"));
        let one_shape = t1.shape.is_none() || t2.shape.is_none();
        let open_shape = same_rank && t1.shape.is_none() && self.leaves_open(cx);
        let by_form = cx.by_cases(&[
            (rule!("SI.ORDER.TENSOR.RANK"), t2.shape.is_none() && t2.ndim.is_unknown(), ShapeStep::Taken),
            (rule!("SUBSI.TENSOR.MISSING-POSSIBLE"), (open_rank && one_shape) || open_shape, ShapeStep::Taken),
            (rule!("SI.ORDER.TENSOR.RANK"), !same_rank && !open_rank, ShapeStep::Missing),
            (rule!("SI.ORDER.TENSOR.SHAPE"), t2.shape.is_none(), ShapeStep::Taken),
            (rule!("SI.ORDER.TENSOR.SHAPE"), t1.shape.is_none(), ShapeStep::Missing),
        ]);
        by_form.unwrap_or_else(|| self.equal_shapes(cx, t1, t2))
    }

    fn equal_shapes(&self, cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> ShapeStep {
        let proof = compare_known_shapes(cx, t1.shape.as_ref(), t2.shape.as_ref(), self.scope).proof;
        let equal = self.counts(cx, proof);
        if cx.holds(&[(rule!("SI.ORDER.TENSOR.EQSHAPES"), 1, equal)]) { ShapeStep::Taken } else { ShapeStep::Missing }
    }

    fn shape(&self, cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> bool {
        let by_form = cx.by_cases(&[
            (rule!("SI.ORDER.SHAPE.RANK"), s2.values.is_none() && s2.ndim.is_unknown(), true),
            (rule!("SI.ORDER.SHAPE.RANK"), s1.ndim != s2.ndim, false),
            (rule!("SI.ORDER.SHAPE.VALUES"), s2.values.is_none(), true),
            (rule!("SUBSI.LEVELS"), s1.values.is_none() && self.leaves_open(cx), true),
            (rule!("SI.ORDER.SHAPE.VALUES"), s1.values.is_none(), false),
        ]);
        by_form.unwrap_or_else(|| {
            let proof = compare_values(cx, s1.values.as_deref(), s2.values.as_deref()).proof;
            let equal = self.counts(cx, proof);
            cx.holds(&[(rule!("SI.ORDER.SHAPE.EQVALUES"), 1, equal)])
        })
    }

    fn tuple(&self, cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo]) -> bool {
        if !cx.holds(&[(rule!("SI.ORDER.TUPLE"), 1, fields1.len() == fields2.len())]) {
            return false;
        }
        fields1.iter().zip(fields2).all(|(field1, field2)| {
            let below = self.below(cx, field1, field2);
            cx.holds(&[(rule!("SI.ORDER.TUPLE"), 2, below)])
        })
    }

    fn func(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        match (&f1.params, &f2.params) {
            (None, None) => self.packed(cx, f1, f2),
            (Some(_), Some(_)) => {
                let (p1, p2) = (purity_of(cx, f1), purity_of(cx, f2));
                let by_field = purity_is_below(cx, self.relation, p1, p2);
                // A18: the first edition has the field as an extension.
                let unsaid = cx.has(rule!("PURITY.FIELD")) || cx.literal(Erratum::A18);
                let below =
                    by_field && (unsaid || f2.pure != Some(true) || f1.pure == f2.pure) && self.params(cx, f1, f2);
                below && (p1 == p2 || cx.conclude(rule!("SUBSI.FUNC.COMBINED"), true))
            }
            (None, Some(_)) | (Some(_), None) => cx.by_kind(rule!("SI.ORDER.CROSS"), false),
        }
    }

    fn packed(&self, cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> bool {
        let empty = f2.derive_func == Some(DeriveFunc::EmptyDerive) && f1.derive_func != f2.derive_func;
        let empty = empty && !cx.literal(Erratum::A43);
        if let Some(answer) = cx.by_cases(&[(rule!("SI.ORDER.FUNC.EMPTY"), empty, true)]) {
            return answer;
        }
        let same = same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref());
        cx.holds(&[(rule!("SI.ORDER.FUNC.SAME"), 1, same)])
    }

    fn params(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        let same_arity = params_of(f1).len() == params_of(f2).len();
        if !cx.holds(&[(rule!("SI.ORDER.FUNC.PARAMS"), 1, same_arity)]) {
            return false;
        }
        self.told(cx, f1, f2)
    }

    /// Compares two function types. The variables inside the outermost ones are renamed apart first, which covers the
    /// inner ones too.
    fn told(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        let Some(_until_judged) = self.scope.outermost() else { return self.matched(cx, f1, f2) };
        let told = (told_inside_if_matched(cx, f1, self.scope), told_inside_if_matched(cx, f2, self.scope));
        self.matched(cx, told.0.as_ref().unwrap_or(f1), told.1.as_ref().unwrap_or(f2))
    }

    /// Brings the first into the variables of the second, and compares.
    ///
    /// Errata: N31, literally they are compared as written.
    fn matched(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        if cx.literal(Erratum::N31) {
            let _introduced = self.scope.introduce(introduced_around(f1, f2));
            return self.parts(cx, f1, f2);
        }
        let (own1, own2) = (Own::of(f1, self.scope), Own::of(f2, self.scope));
        let (apart1, apart2) = told_apart(cx, [f1, f2], [&own1, &own2], self.scope);
        let own1_told = apart1.as_ref().map(|f1| Own::of(f1, self.scope));
        let (f1, f2) = (apart1.as_ref().unwrap_or(f1), apart2.as_ref().unwrap_or(f2));
        let mapping = corresponding(cx, params_of(f1).iter().zip(params_of(f2)), self.scope);
        let (replaced, _introduced) =
            in_terms_of(cx, [f1, f2], own1_told.as_ref().unwrap_or(&own1), &mapping, self.scope);
        self.parts(cx, replaced.as_ref().unwrap_or(f1), f2)
    }

    /// Compares two functions in the same variables: the parameters in reverse, then the results forward.
    fn parts(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        let (params1, params2) = (params_of(f1), params_of(f2));
        let contravariant = params2.iter().zip(params1).all(|(param2, param1)| {
            let below = self.below(cx, param2, param1);
            cx.holds(&[(rule!("SI.ORDER.FUNC.PARAMS"), 2, below)])
        });
        contravariant && {
            let below = self.below(cx, &f1.ret, &f2.ret);
            cx.holds(&[(rule!("SI.ORDER.FUNC.PARAMS"), 3, below)])
        }
    }

    /// Boxed scalars are related only to their own datatype (A53).
    fn prim(&self, cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> bool {
        let same_dtype = p1.dtype == p2.dtype;
        if !cx.holds(&[(rule!("SUBSI.PRIM.DTYPE"), 1, same_dtype)]) {
            return false;
        }
        let by_form = cx.by_cases(&[
            (rule!("SUBSI.PRIM.VALUE"), p2.value.is_none(), true),
            (rule!("SUBSI.LEVELS"), p1.value.is_none() && self.leaves_open(cx), true),
            (rule!("SUBSI.PRIM.VALUE"), p1.value.is_none(), false),
        ]);
        if let Some(answer) = by_form {
            return answer;
        }
        let known = cx.has(rule!("SUBSI.PRIM.EQVALUE"));
        let value = match (&p1.value, &p2.value) {
            (_, None) => !known,
            (None, Some(_)) => false,
            (Some(value1), Some(value2)) => {
                let proof = crate::shape::prove_equal(cx, value1, value2);
                self.counts(cx, proof)
            }
        };
        if known {
            return cx.holds(&[(rule!("SUBSI.PRIM.EQVALUE"), 1, value)]);
        }
        cx.holds(&[(rule!("PR14148.SI.PRIM.RULES"), 1, value && same_dtype)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::struct_info::apart::tests::beside_others;
    use crate::struct_info::apart::told_all_at_once;

    #[test]
    fn function_types_are_told_apart_inside_one_by_one_as_well_as_all_at_once() {
        let (mut told, mut below_other) = (0, 0);
        for seed in 0..3_000 {
            let (s1, s2) = beside_others(seed);
            let scope = JudgementScope::new(&Nowhere);
            let (told1, told2, back) = told_all_at_once(&s1, &s2, &scope);
            let _told = scope.outermost();
            told += usize::from(!back.is_empty());
            for relation in [ShapeRelation::Definite, ShapeRelation::Possible] {
                let at_once = below(&mut Cx::new(), relation, &told1, &told2, &scope);
                let one_by_one = is_more_specific_in(&mut Cx::new(), relation, &s1, &s2, &Nowhere);
                assert_eq!(one_by_one, at_once, "seed {seed}, {relation:?}: {s1} and {s2}");
                below_other += usize::from(at_once);
            }
        }
        assert!(told > 500 && below_other > 500, "{told} {below_other}");
    }
}
