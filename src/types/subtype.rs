//! Subtyping as a decision procedure. The axioms themselves, closed under reflexivity and transitivity, are in
//! [`super::axioms`]; the tests compare the two.

use super::equality::{Known, first_difference};
use crate::book::Erratum;
use crate::grammar::{DynTensorType, FuncType, ShapeType, Type};
use crate::judge::Cx;

/// SUB: is `t1` a subtype of `t2`, that is, is a member of `t1` accepted wherever one of `t2` is expected?
///
/// 2023-02, Subtyping. Literal A17: the two axioms that the text lacks are left out.
pub fn is_subtype(cx: &mut Cx, t1: &Type, t2: &Type) -> bool {
    subtype(cx, t1, t2, Known::Nothing)
}

fn subtype(cx: &mut Cx, t1: &Type, t2: &Type, known: Known) -> bool {
    cx.judge(
        "is_subtype",
        || vec![t1.to_string(), t2.to_string()],
        |cx| match known {
            Known::Same => related(cx, t1, t2, true, known),
            Known::DifferAt(_) => related(cx, t1, t2, false, known),
            Known::Nothing => match first_difference(t1, t2) {
                None => related(cx, t1, t2, true, Known::Same),
                Some(path) => related(cx, t1, t2, false, Known::DifferAt(&path)),
            },
        },
    )
}

fn related(cx: &mut Cx, t1: &Type, t2: &Type, equal: bool, known: Known) -> bool {
    if cx.rule(rule!("SUB.REFL"), equal) {
        return true;
    }
    match (t1, t2) {
        (_, Type::Object) => cx.fire(rule!("SUB.TOP")),
        (Type::Object, _) => !cx.fire(rule!("SUB.TOP")),
        (Type::Tensor(t1), Type::Tensor(t2)) => tensor(cx, t1, t2),
        (Type::Shape(t1), Type::Shape(t2)) => shape(cx, t1, t2),
        (Type::Tuple(t1), Type::Tuple(t2)) => tuple(cx, t1, t2, known),
        (Type::Func(t1), Type::Func(t2)) => func(cx, t1, t2, known),
        (Type::PackedFunc, Type::PackedFunc) => false,
        (Type::PackedFunc, Type::Tensor(_) | Type::Shape(_) | Type::Tuple(_) | Type::Func(_))
        | (Type::Tensor(_) | Type::Shape(_) | Type::Tuple(_) | Type::Func(_), Type::PackedFunc) => {
            !cx.fire(rule!("SUB.PACKED"))
        }
        (Type::Tensor(_), Type::Shape(_) | Type::Tuple(_) | Type::Func(_))
        | (Type::Shape(_), Type::Tensor(_) | Type::Tuple(_) | Type::Func(_))
        | (Type::Tuple(_), Type::Tensor(_) | Type::Shape(_) | Type::Func(_))
        | (Type::Func(_), Type::Tensor(_) | Type::Shape(_) | Type::Tuple(_)) => !cx.fire(rule!("SUB.CROSS-KIND")),
    }
}

fn tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> bool {
    forget_dtype(cx, t1, t2) || forget_rank(cx, t1, t2) || tensor_top(cx, t2) || !cx.fire(rule!("SUB.TENSOR.EXACT"))
}

/// SUB.TENSOR.DTYPE: `(m, d) <: (m, Void)` for a known rank m.
fn forget_dtype(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> bool {
    cx.rule(rule!("SUB.TENSOR.DTYPE"), !t1.ndim.is_unknown() && t1.ndim == t2.ndim && t2.dtype.is_void())
}

/// SUB.TENSOR.RANK: `(m, d) <: (-1, d)` for a known datatype d.
fn forget_rank(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> bool {
    cx.rule(rule!("SUB.TENSOR.RANK"), !t1.dtype.is_void() && t1.dtype == t2.dtype && t2.ndim.is_unknown())
}

/// SUB.TENSOR.TOP: every tensor type is below `(-1, Void)`. Literally a corollary that does not follow (A17).
fn tensor_top(cx: &mut Cx, t2: &DynTensorType) -> bool {
    let axiom = !cx.literal(Erratum::A17);
    cx.rule(rule!("SUB.TENSOR.TOP"), axiom && t2.ndim.is_unknown() && t2.dtype.is_void())
}

/// SUB.SHAPE: `Shape(n) <: Shape(-1)`, and no other. Literally there is no rule for shapes (A17).
fn shape(cx: &mut Cx, _: &ShapeType, t2: &ShapeType) -> bool {
    let below = t2.ndim.is_unknown() && !cx.literal(Erratum::A17);
    below == cx.fire(rule!("SUB.SHAPE"))
}

fn tuple(cx: &mut Cx, t1: &[Type], t2: &[Type], known: Known) -> bool {
    if !cx.premise(rule!("SUB.TUPLE"), 1, t1.len() == t2.len()) {
        return false;
    }
    t1.iter().zip(t2).enumerate().all(|(i, (field1, field2))| {
        let below = subtype(cx, field1, field2, known.component(i));
        cx.premise(rule!("SUB.TUPLE"), 2, below)
    })
}

fn func(cx: &mut Cx, t1: &FuncType, t2: &FuncType, known: Known) -> bool {
    match (t1.pure, t2.pure) {
        (false, true) => !cx.fire(rule!("SUB.FUNC.PURE")),
        (true, false) => pure_below_impure(cx, t1, t2),
        (true, true) | (false, false) => variance(cx, t1, t2, known),
    }
}

/// A step of purity, then one of variance if the types differ in more than purity.
fn pure_below_impure(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> bool {
    let as_impure = FuncType { pure: false, ..t1.clone() };
    let (t1, t2) = (Type::Func(as_impure.clone().into()), Type::Func(t2.clone().into()));
    let Some(path) = first_difference(&t1, &t2) else { return cx.fire(rule!("SUB.FUNC.PURE")) };
    let Type::Func(impure2) = &t2 else { return false };
    cx.fire(rule!("SUB.FUNC.PURE"))
        && cx.fire(rule!("SUB.TRANS"))
        && cx.fire(rule!("SUB.FUNC.COMBINED"))
        && variance(cx, &as_impure, impure2, Known::DifferAt(&path))
}

/// SUB.FUNC.VARIANCE: arguments the other way round, the result in the same direction.
fn variance(cx: &mut Cx, t1: &FuncType, t2: &FuncType, known: Known) -> bool {
    let arity = t1.arg_types.len();
    if !cx.premise(rule!("SUB.FUNC.VARIANCE"), 1, arity == t2.arg_types.len()) {
        return false;
    }
    let arguments = t1.arg_types.iter().zip(t2.arg_types.iter()).enumerate().all(|(i, (arg1, arg2))| {
        let below = subtype(cx, arg2, arg1, known.component(i));
        cx.premise(rule!("SUB.FUNC.VARIANCE"), 2, below)
    });
    arguments && {
        let below = subtype(cx, &t1.ret_type, &t2.ret_type, known.component(arity));
        cx.premise(rule!("SUB.FUNC.VARIANCE"), 3, below)
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
