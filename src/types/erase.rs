//! Erasing structural information.

use std::sync::Arc;

use crate::book::Erratum;
use crate::grammar::{
    DynTensorType, FuncStructInfo, FuncType, PrimStructInfo, ShapeStructInfo, ShapeType, StructInfo, TensorStructInfo,
    Type,
};
use crate::judge::Cx;

/// TYPE.ERASE: turns structural information into a type; total.
///
/// Where a rule is masked the answer is `ObjectType`, the last case of the pseudocode. 2023-02, Erasing Structural
/// Information into Types.
pub fn erase_struct_info(cx: &mut Cx, si: &StructInfo) -> Type {
    cx.judge(
        "erase_struct_info",
        || vec![si.to_string()],
        |cx| match si {
            StructInfo::Tensor(tensor) => erase_tensor(cx, tensor),
            StructInfo::Shape(shape) => erase_shape(cx, shape),
            StructInfo::Tuple(fields) => erase_tuple(cx, fields),
            StructInfo::Func(func) if func.params.is_none() => erase_packed(cx),
            StructInfo::Func(func) => erase_func(cx, func),
            StructInfo::Prim(prim) => erase_prim(cx, prim),
            StructInfo::Object => erase_object(cx),
        },
    )
}

fn erase_tensor(cx: &mut Cx, si: &TensorStructInfo) -> Type {
    if cx.fire(rule!("TYPE.ERASE.TENSOR")) {
        Type::Tensor(DynTensorType { ndim: si.ndim, dtype: si.dtype })
    } else {
        Type::Object
    }
}

fn erase_shape(cx: &mut Cx, si: &ShapeStructInfo) -> Type {
    if cx.fire(rule!("TYPE.ERASE.SHAPE")) { Type::Shape(ShapeType { ndim: si.ndim }) } else { Type::Object }
}

fn erase_tuple(cx: &mut Cx, fields: &[StructInfo]) -> Type {
    if !cx.fire(rule!("TYPE.ERASE.TUPLE")) {
        return Type::Object;
    }
    Type::Tuple(fields.iter().map(|field| erase_struct_info(cx, field)).collect())
}

fn erase_packed(cx: &mut Cx) -> Type {
    if cx.fire(rule!("TYPE.ERASE.FUNC.PACKED")) { Type::PackedFunc } else { Type::Object }
}

fn erase_func(cx: &mut Cx, si: &FuncStructInfo) -> Type {
    if !cx.fire(rule!("TYPE.ERASE.FUNC")) {
        return Type::Object;
    }
    let arg_types = si.params.iter().flat_map(|params| params.iter()).map(|p| erase_struct_info(cx, p)).collect();
    let ret_type = erase_struct_info(cx, &si.ret);
    let pure = erase_purity(cx, si.pure);
    Type::Func(Arc::new(FuncType { arg_types, ret_type, pure }))
}

/// The text always gives an impure type; a purity field, where there is one, is carried through (A18).
fn erase_purity(cx: &mut Cx, pure: Option<bool>) -> bool {
    let carried = match pure {
        Some(pure) if !cx.literal(Erratum::A18) => pure,
        Some(_) | None => false,
    };
    carried || !cx.fire(rule!("TYPE.ERASE.FUNC.IMPURE"))
}

fn erase_prim(cx: &mut Cx, _: &PrimStructInfo) -> Type {
    // Without the rule there is no type for boxed scalars at all; `PackedFuncType` would be any other wrong one.
    if cx.fire(rule!("PR14148.SI.PRIM.ERASE")) { erase_object(cx) } else { Type::PackedFunc }
}

fn erase_object(cx: &mut Cx) -> Type {
    // The last case of the pseudocode: masking it leaves no answer, for which the empty tuple stands.
    if cx.fire(rule!("TYPE.ERASE.OBJECT")) { Type::Object } else { Type::tuple([]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::grammar::{DataType, DeriveFunc, PrimExpr};

    fn erase(si: &StructInfo) -> Type {
        erase_struct_info(&mut Cx::new(), si)
    }

    #[test]
    fn dims_are_dropped() {
        let tensor = StructInfo::tensor([PrimExpr::var("n"), 4.into()], DataType::FLOAT32);
        assert_eq!(erase(&tensor), Type::tensor(2, DataType::FLOAT32));
        assert_eq!(erase(&StructInfo::shape([3.into()])), Type::shape(1));
        assert_eq!(erase(&StructInfo::packed(DeriveFunc::EmptyDerive)), Type::PackedFunc);
        let nested = StructInfo::tuple([StructInfo::Object, StructInfo::prim(DataType::INT64)]);
        assert_eq!(erase(&nested), Type::tuple([Type::Object, Type::Object]));
    }

    #[test]
    fn purity_is_lost_unless_the_field_says_otherwise() {
        let StructInfo::Func(func) = StructInfo::func([StructInfo::Object], StructInfo::Object) else { panic!() };
        let plain = StructInfo::Func(func.clone());
        let pure = StructInfo::Func(Arc::new(FuncStructInfo { pure: Some(true), ..(*func).clone() }));
        let as_type = |pure| Type::func([Type::Object], Type::Object, pure);
        assert_eq!(erase(&plain), as_type(false));
        assert_eq!(erase(&pure), as_type(true));
        let mut literal = Cx::new().with_reading(Reading::literal_only(&[Erratum::A18]));
        assert_eq!(erase_struct_info(&mut literal, &pure), as_type(false));
    }
}
