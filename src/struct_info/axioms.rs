//! The order `<<:` as the text gives it: axioms, which must be closed under reflexivity and transitivity on a finite
//! set ([`FiniteRelation::closure`]). [`super::is_more_specific`] decides the same relation without the closure.
//!
//! [`FiniteRelation::closure`]: crate::types::axioms::FiniteRelation::closure

use super::same_shape::{compare_dims, compare_shapes};
use super::surroundings::Nowhere;
use crate::book::Erratum;
use crate::grammar::{DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo};
use crate::judge::{Cx, Proof};

/// Whether one clause of the order, other than reflexivity and transitivity, puts `s1` below `s2`. `below` is the
/// relation of the components. Functions whose parameters introduce shape variables must have these replaced first, and
/// are left to the decision procedure.
pub fn axiom(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, below: &dyn Fn(&StructInfo, &StructInfo) -> bool) -> bool {
    match (s1, s2) {
        (_, StructInfo::Object) => cx.fire(rule!("SI.ORDER.TOP")),
        (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => {
            forget_rank(cx, t1, t2)
                || forget_dtype(cx, t1, t2)
                || forget_shape(cx, t1, t2)
                || forget_device(cx, t1, t2)
                || equal_shapes(cx, t1, t2)
        }
        (StructInfo::Prim(p1), StructInfo::Prim(p2)) => prim_axiom(cx, p1, p2),
        (StructInfo::Shape(s1), StructInfo::Shape(s2)) => shape_axiom(cx, s1, s2),
        (StructInfo::Tuple(fields1), StructInfo::Tuple(fields2)) => {
            let fieldwise =
                fields1.len() == fields2.len() && fields1.iter().zip(fields2.iter()).all(|(a, b)| below(a, b));
            fieldwise && cx.fire(rule!("SI.ORDER.TUPLE"))
        }
        (StructInfo::Func(f1), StructInfo::Func(f2)) => {
            empty_axiom(cx, f1, f2) || purity_axiom(cx, f1, f2) || params_axiom(cx, f1, f2, below)
        }
        (
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
            StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
        ) => false,
    }
}

/// Literally the clauses on shapes include possible equality (A15).
fn counts(cx: &Cx, proof: Proof) -> bool {
    match proof {
        Proof::Equal => true,
        Proof::Unknown => cx.literal(Erratum::A15),
        Proof::Different => false,
    }
}

fn forget_rank(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let above = TensorStructInfo { shape: None, ndim: Ndim::Unknown, ..t1.clone() };
    *t2 == above && cx.fire(rule!("SI.ORDER.TENSOR.RANK"))
}

fn forget_dtype(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let above = TensorStructInfo { dtype: crate::grammar::DataType::VOID, ..t1.clone() };
    *t2 == above && cx.fire(rule!("SI.ORDER.TENSOR.DTYPE"))
}

fn forget_shape(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let above = TensorStructInfo { shape: None, ..t1.clone() };
    t1.shape.is_some() && *t2 == above && cx.fire(rule!("SI.ORDER.TENSOR.SHAPE"))
}

/// In the first edition devices have no meaning.
fn forget_device(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let above = TensorStructInfo { vdevice: None, ..t1.clone() };
    t1.vdevice.is_some() && *t2 == above && cx.fire(rule!("SUBSI.TENSOR.VDEVICE"))
}

fn equal_shapes(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let (Some(shape1), Some(shape2)) = (&t1.shape, &t2.shape) else { return false };
    let proof = compare_shapes(cx, shape1, shape2, &Nowhere).proof;
    let same_device = t1.vdevice == t2.vdevice || !cx.has(rule!("SUBSI.TENSOR.VDEVICE"));
    let equal = t1.ndim == t2.ndim && t1.dtype == t2.dtype && same_device && counts(cx, proof);
    equal && cx.fire(rule!("SI.ORDER.TENSOR.EQSHAPES"))
}

fn shape_axiom(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> bool {
    match (&s1.values, &s2.values) {
        (_, None) if s2.ndim.is_unknown() => cx.fire(rule!("SI.ORDER.SHAPE.RANK")),
        (Some(_), None) => s1.ndim == s2.ndim && cx.fire(rule!("SI.ORDER.SHAPE.VALUES")),
        (Some(values1), Some(values2)) => {
            let proof = compare_dims(cx, values1, values2).proof;
            let equal = s1.ndim == s2.ndim && counts(cx, proof);
            equal && cx.fire(rule!("SI.ORDER.SHAPE.EQVALUES"))
        }
        (None, Some(_) | None) => false,
    }
}

/// The axioms for values of boxed scalars, in later editions.
fn prim_axiom(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> bool {
    match (&p1.value, &p2.value) {
        (Some(_), None) => p1.dtype == p2.dtype && cx.fire(rule!("SUBSI.PRIM.VALUE")),
        (Some(value1), Some(value2)) => {
            let proof = crate::shape::prove_equal(cx, value1, value2);
            let equal = p1.dtype == p2.dtype && counts(cx, proof);
            equal && cx.fire(rule!("SUBSI.PRIM.EQVALUE"))
        }
        (None, Some(_) | None) => false,
    }
}

/// Literally its own corollary contradicts this clause (A43).
fn empty_axiom(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> bool {
    let packed = f1.params.is_none() && f2.params.is_none();
    let stated = !cx.literal(Erratum::A43) && f2.derive_func == Some(DeriveFunc::EmptyDerive);
    packed && stated && cx.fire(rule!("SI.ORDER.FUNC.EMPTY"))
}

/// In the first edition purity is a property of types.
fn purity_axiom(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> bool {
    let same_but_purity = f1.params == f2.params && f1.ret == f2.ret && f1.params.is_some();
    same_but_purity && (f1.purity() || !f2.purity()) && cx.fire(rule!("SUBSI.FUNC.PURITY"))
}

fn params_axiom(
    cx: &mut Cx,
    f1: &FuncStructInfo,
    f2: &FuncStructInfo,
    below: &dyn Fn(&StructInfo, &StructInfo) -> bool,
) -> bool {
    let (Some(params1), Some(params2)) = (&f1.params, &f2.params) else { return false };
    let same_purity = f1.purity() == f2.purity() || !cx.has(rule!("SUBSI.FUNC.PURITY"));
    let holds = same_purity
        && params1.len() == params2.len()
        && params1.iter().zip(params2.iter()).all(|(param1, param2)| below(param2, param1))
        && below(&f1.ret, &f2.ret);
    holds && cx.fire(rule!("SI.ORDER.FUNC.PARAMS"))
}
