//! Wrapping types.

use std::sync::Arc;

use crate::grammar::{
    DeriveFunc, DynTensorType, FuncStructInfo, FuncType, ShapeStructInfo, ShapeType, StructInfo, TensorStructInfo, Type,
};
use crate::judge::Cx;

/// SI.WRAP: the structural information that says what a type says and no more.
///
/// Where a rule is masked the answer is `ObjectStructInfo`. 2023-02, Auxiliary Procedures.
pub fn wrap_type(cx: &mut Cx, t: &Type) -> StructInfo {
    cx.judge(
        "wrap_type",
        || vec![t.to_string()],
        |cx| match t {
            Type::Object => wrap_object(cx),
            Type::PackedFunc => wrap_packed(cx),
            Type::Func(func) => wrap_func(cx, func),
            Type::Tuple(fields) => wrap_tuple(cx, fields),
            Type::Shape(shape) => wrap_shape(cx, shape),
            Type::Tensor(tensor) => wrap_tensor(cx, tensor),
        },
    )
}

fn wrap_object(cx: &mut Cx) -> StructInfo {
    // Masking leaves no answer, for which the empty tuple stands.
    if cx.fire(rule!("SI.WRAP.OBJECT")) { StructInfo::Object } else { StructInfo::tuple([]) }
}

fn wrap_packed(cx: &mut Cx) -> StructInfo {
    if cx.fire(rule!("SI.WRAP.PACKED")) { StructInfo::packed(DeriveFunc::DefaultDerive) } else { StructInfo::Object }
}

/// Purity is lost: the text has no place for it (A18).
fn wrap_func(cx: &mut Cx, t: &FuncType) -> StructInfo {
    if !cx.fire(rule!("SI.WRAP.FUNC")) {
        return StructInfo::Object;
    }
    let params = t.arg_types.iter().map(|arg_type| wrap_type(cx, arg_type)).collect();
    let ret = wrap_type(cx, &t.ret_type);
    StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ret, derive_func: None, pure: None }))
}

fn wrap_tuple(cx: &mut Cx, fields: &[Type]) -> StructInfo {
    if !cx.fire(rule!("SI.WRAP.TUPLE")) {
        return StructInfo::Object;
    }
    StructInfo::Tuple(fields.iter().map(|field| wrap_type(cx, field)).collect())
}

fn wrap_shape(cx: &mut Cx, t: &ShapeType) -> StructInfo {
    if !cx.fire(rule!("SI.WRAP.SHAPE")) {
        return StructInfo::Object;
    }
    StructInfo::Shape(ShapeStructInfo { values: None, ndim: t.ndim })
}

fn wrap_tensor(cx: &mut Cx, t: &DynTensorType) -> StructInfo {
    if !cx.fire(rule!("SI.WRAP.TENSOR")) {
        return StructInfo::Object;
    }
    StructInfo::Tensor(TensorStructInfo { shape: None, dtype: t.dtype, ndim: t.ndim })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    #[test]
    fn every_kind() {
        let wrap = |t: &Type| wrap_type(&mut Cx::new(), t);
        let tensor = StructInfo::tensor_ndim(2, DataType::FLOAT32);
        assert_eq!(wrap(&Type::tensor(2, DataType::FLOAT32)), tensor);
        assert_eq!(wrap(&Type::PackedFunc), StructInfo::packed(DeriveFunc::DefaultDerive));
        let func = Type::func([Type::tensor(2, DataType::FLOAT32)], Type::shape(1), true);
        assert_eq!(wrap(&func), StructInfo::func([tensor], StructInfo::shape_ndim(1)));
        assert_eq!(wrap(&Type::tuple([Type::Object])), StructInfo::tuple([StructInfo::Object]));
    }
}
