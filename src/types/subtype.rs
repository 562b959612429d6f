//! Subtyping as a decision procedure. The axioms themselves, closed under reflexivity and transitivity, are in
//! [`super::axioms`]; the tests compare the two.

use super::equality::same;
use super::kinds::TypePair;
use crate::book::Erratum;
use crate::grammar::{DynTensorType, FuncType, ShapeType, Type};
use crate::judge::{Cx, MemoQuery};

/// SUB: whether `t1` is a subtype of `t2`, that is, whether every member of `t1` is accepted where one of `t2` is
/// expected.
///
/// 2023-02, Subtyping. Literal A17: the two axioms that the text lacks are left out.
pub fn is_subtype(cx: &mut Cx, t1: &Type, t2: &Type) -> bool {
    cx.judge("is_subtype", MemoQuery::both(t1, t2), |cx| related(cx, t1, t2))
}

fn related(cx: &mut Cx, t1: &Type, t2: &Type) -> bool {
    let equal = same(cx, t1, t2);
    let by_form = cx.by_cases(&[
        (rule!("SUB.REFL"), equal, true),
        (rule!("SUB.TOP"), *t2 == Type::Object, true),
        (rule!("SUB.TOP"), *t1 == Type::Object, false),
    ]);
    if let Some(answer) = by_form {
        return answer;
    }
    match TypePair::of(t1, t2) {
        TypePair::Tensors(t1, t2) => tensor(cx, t1, t2),
        TypePair::Shapes(t1, t2) => shape(cx, t1, t2),
        TypePair::Tuples(t1, t2) => tuple(cx, t1, t2),
        TypePair::Funcs(t1, t2) => func(cx, t1, t2),
        TypePair::Different if *t1 == Type::PackedFunc || *t2 == Type::PackedFunc => {
            cx.by_kind(rule!("SUB.PACKED"), false)
        }
        TypePair::Objects | TypePair::PackedFuncs | TypePair::Different => cx.by_kind(rule!("SUB.CROSS-KIND"), false),
    }
}

/// SUB.TENSOR.DTYPE: `(m, d) <: (m, Void)` for a known rank m. SUB.TENSOR.RANK: `(m, d) <: (-1, d)` for a known
/// datatype d. SUB.TENSOR.TOP: every tensor type is below `(-1, Void)`. Literally this last rule is a corollary that
/// does not follow (A17).
fn tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> bool {
    let (same_rank, same_dtype) = (t1.ndim == t2.ndim, t1.dtype == t2.dtype);
    let (any_rank, any_dtype) = (t2.ndim.is_unknown(), t2.dtype.is_void());
    let top = any_rank && any_dtype && !cx.literal(Erratum::A17);
    cx.by_cases((
        &[
            (rule!("SUB.TENSOR.DTYPE"), !t1.ndim.is_unknown() && same_rank && any_dtype, true),
            (rule!("SUB.TENSOR.RANK"), !t1.dtype.is_void() && same_dtype && any_rank, true),
            (rule!("SUB.TENSOR.TOP"), top, true),
        ],
        (rule!("SUB.TENSOR.EXACT"), false),
    ))
}

/// SUB.SHAPE: `Shape(n) <: Shape(-1)`, and nothing else. Literally there is no rule for shapes (A17).
fn shape(cx: &mut Cx, _: &ShapeType, t2: &ShapeType) -> bool {
    let below = t2.ndim.is_unknown() && !cx.literal(Erratum::A17);
    cx.conclude(rule!("SUB.SHAPE"), below)
}

fn tuple(cx: &mut Cx, t1: &[Type], t2: &[Type]) -> bool {
    let same_length = cx.holds(&[(rule!("SUB.TUPLE"), 1, t1.len() == t2.len())]);
    same_length
        && t1.iter().zip(t2).all(|(field1, field2)| {
            let below = is_subtype(cx, field1, field2);
            cx.holds(&[(rule!("SUB.TUPLE"), 2, below)])
        })
}

fn func(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> bool {
    if let Some(answer) = cx.by_cases(&[(rule!("SUB.FUNC.PURE"), !t1.pure && t2.pure, false)]) {
        return answer;
    }
    if t1.pure == t2.pure { variance(cx, t1, t2) } else { pure_below_impure(cx, t1, t2) }
}

/// A step of purity, then one of variance if the types differ in more than purity.
fn pure_below_impure(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> bool {
    let by_purity = cx.conclude(rule!("SUB.FUNC.PURE"), true);
    if t1.arg_types == t2.arg_types && t1.ret_type == t2.ret_type {
        return by_purity;
    }
    by_purity
        && cx.conclude(rule!("SUB.TRANS"), true)
        && cx.conclude(rule!("SUB.FUNC.COMBINED"), true)
        && variance(cx, t1, t2)
}

/// SUB.FUNC.VARIANCE: contravariant in the arguments, covariant in the result.
fn variance(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> bool {
    let arity = t1.arg_types.len();
    let same_arity = cx.holds(&[(rule!("SUB.FUNC.VARIANCE"), 1, arity == t2.arg_types.len())]);
    let arguments = same_arity
        && t1.arg_types.iter().zip(t2.arg_types.iter()).all(|(arg1, arg2)| {
            let below = is_subtype(cx, arg2, arg1);
            cx.holds(&[(rule!("SUB.FUNC.VARIANCE"), 2, below)])
        });
    arguments && {
        let below = is_subtype(cx, &t1.ret_type, &t2.ret_type);
        cx.holds(&[(rule!("SUB.FUNC.VARIANCE"), 3, below)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::grammar::DataType;

    const F32: DataType = DataType::FLOAT32;
    const VOID: DataType = DataType::VOID;

    fn below(t1: &Type, t2: &Type) -> bool {
        is_subtype(&mut Cx::new(), t1, t2)
    }

    #[test]
    fn tensors() {
        let t = Type::tensor;
        assert!(below(&t(2, F32), &t(2, VOID)) && !below(&t(2, VOID), &t(2, F32)));
        assert!(below(&t(2, F32), &t(-1, F32)) && !below(&t(-1, F32), &t(2, F32)));
        assert!(below(&t(2, VOID), &t(-1, VOID)) && below(&t(-1, F32), &t(-1, VOID)));
        assert!(!below(&t(2, VOID), &t(-1, F32)) && !below(&t(-1, F32), &t(2, VOID)));
        assert!(!below(&t(2, F32), &t(3, F32)));
    }

    #[test]
    fn the_literal_axioms_do_not_reach_the_top_tensor() {
        let mut cx = Cx::new().with_reading(Reading::literal_only(&[Erratum::A17]));
        assert!(!is_subtype(&mut cx, &Type::tensor(2, VOID), &Type::tensor(-1, VOID)));
        assert!(!is_subtype(&mut cx, &Type::tensor(2, F32), &Type::tensor(-1, VOID)));
        assert!(!is_subtype(&mut cx, &Type::shape(2), &Type::shape(-1)));
        assert!(is_subtype(&mut cx, &Type::shape(2), &Type::shape(2)));
    }

    #[test]
    fn functions() {
        let t = Type::tensor(2, F32);
        let f = |arg: &Type, ret: &Type, pure| Type::func([arg.clone()], ret.clone(), pure);
        assert!(below(&f(&Type::Object, &t, true), &f(&t, &Type::Object, false)));
        assert!(!below(&f(&Type::Object, &t, false), &f(&t, &Type::Object, true)));
        assert!(!below(&f(&t, &t, true), &f(&Type::Object, &t, true)));
        assert!(!below(&Type::PackedFunc, &f(&t, &t, false)) && below(&Type::PackedFunc, &Type::Object));
    }
}
