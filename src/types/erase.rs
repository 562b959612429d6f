//! Erasing structural information.

use std::sync::Arc;

use crate::book::{Erratum, Rule};
use crate::grammar::{
    DynTensorType, FuncStructInfo, FuncType, PrimStructInfo, PrimType, ShapeStructInfo, ShapeType, StructInfo,
    TensorStructInfo, Type,
};
use crate::judge::{Cx, MemoQuery};

/// TYPE.ERASE: turns structural information into a type; total.
///
/// 2023-02, Erasing Structural Information into Types.
pub fn erase_struct_info(cx: &mut Cx, si: &StructInfo) -> Type {
    cx.judge("erase_struct_info", MemoQuery::of(si), |cx| {
        let (rule, conclusion) = match si {
            StructInfo::Tensor(TensorStructInfo { ndim, dtype, .. }) => {
                (rule!("TYPE.ERASE.TENSOR"), Type::Tensor(DynTensorType { ndim: *ndim, dtype: *dtype }))
            }
            StructInfo::Shape(ShapeStructInfo { ndim, .. }) => {
                (rule!("TYPE.ERASE.SHAPE"), Type::Shape(ShapeType { ndim: *ndim }))
            }
            StructInfo::Tuple(fields) => {
                let fields = fields.iter().map(|field| erase_struct_info(cx, field));
                (rule!("TYPE.ERASE.TUPLE"), Type::Tuple(fields.collect()))
            }
            StructInfo::Func(func) => match &func.params {
                None => (rule!("TYPE.ERASE.FUNC.PACKED"), Type::PackedFunc),
                Some(params) => (rule!("TYPE.ERASE.FUNC"), erase_func(cx, params, func)),
            },
            StructInfo::Prim(PrimStructInfo { dtype, .. }) if cx.has(rule!("TYPE.ERASE.PRIM")) => {
                let prim = Type::Prim(PrimType { dtype: *dtype });
                (rule!("TYPE.ERASE.PRIM"), cx.by_kind(rule!("PR14148.SI.PRIM.ERASE"), prim))
            }
            StructInfo::Prim(_) => {
                (rule!("PR14148.SI.PRIM.ERASE"), cx.by_kind(rule!("TYPE.ERASE.OBJECT"), Type::Object))
            }
            StructInfo::Object => (rule!("TYPE.ERASE.OBJECT"), Type::Object),
        };
        let erased = cx.by_kind(rule, conclusion);
        if cx.has(rule!("GRAM.TYPE.PRIM")) { cx.conclude(form(&erased), erased) } else { erased }
    })
}

/// The production of a type in later editions. These state types only beside erasure.
fn form(ty: &Type) -> Rule {
    match ty {
        Type::Object => rule!("GRAM.TYPE.OBJECT"),
        Type::Tensor(_) => rule!("GRAM.TYPE.DYNTENSOR"),
        Type::Shape(_) => rule!("GRAM.TYPE.SHAPE"),
        Type::Prim(_) => rule!("GRAM.TYPE.PRIM"),
        Type::Tuple(_) => rule!("GRAM.TYPE.TUPLE"),
        Type::Func(_) => rule!("GRAM.TYPE.FUNC"),
        Type::PackedFunc => rule!("GRAM.TYPE.PACKED"),
    }
}

fn erase_func(cx: &mut Cx, params: &[StructInfo], si: &FuncStructInfo) -> Type {
    let arg_types = params.iter().map(|param| erase_struct_info(cx, param)).collect();
    let ret_type = erase_struct_info(cx, &si.ret);
    let pure = erase_purity(cx, si.pure);
    Type::Func(Arc::new(FuncType { arg_types, ret_type, pure }))
}

/// The purity of an erased function. The text always makes it impure; a purity field is carried over if there is one
/// (A18). In later editions types have no purity.
fn erase_purity(cx: &mut Cx, pure: Option<bool>) -> bool {
    let carried = pure == Some(true) && cx.has(rule!("TYPE.ERASE.FUNC.IMPURE")) && !cx.literal(Erratum::A18);
    carried || cx.conclude(rule!("TYPE.ERASE.FUNC.IMPURE"), false)
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
