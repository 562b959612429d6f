//! Wrapping types.

use std::sync::Arc;

use crate::grammar::{
    DeriveFunc, DynTensorType, FuncStructInfo, FuncType, ShapeStructInfo, ShapeType, StructInfo, TensorStructInfo, Type,
};
use crate::judge::{Cx, MemoQuery};

/// SI.WRAP: the structural information that states exactly as much as a type.
///
/// 2023-02, Auxiliary Procedures.
pub fn wrap_type(cx: &mut Cx, t: &Type) -> StructInfo {
    cx.judge("wrap_type", MemoQuery::of(t), |cx| {
        let (rule, conclusion) = match t {
            // No edition that has the type of boxed scalars wraps it.
            Type::Object | Type::Prim(_) => (rule!("SI.WRAP.OBJECT"), StructInfo::Object),
            Type::PackedFunc => (rule!("SI.WRAP.PACKED"), StructInfo::packed(DeriveFunc::DefaultDerive)),
            Type::Func(func) => (rule!("SI.WRAP.FUNC"), wrap_func(cx, func)),
            Type::Tuple(fields) => {
                let fields = fields.iter().map(|field| wrap_type(cx, field));
                (rule!("SI.WRAP.TUPLE"), StructInfo::Tuple(fields.collect()))
            }
            Type::Shape(ShapeType { ndim }) => {
                let shape = ShapeStructInfo { values: None, ndim: *ndim };
                (rule!("SI.WRAP.SHAPE"), StructInfo::Shape(shape))
            }
            Type::Tensor(DynTensorType { ndim, dtype }) => {
                let tensor = TensorStructInfo { shape: None, dtype: *dtype, ndim: *ndim, vdevice: None };
                (rule!("SI.WRAP.TENSOR"), StructInfo::Tensor(tensor))
            }
        };
        cx.by_kind(rule, conclusion)
    })
}

/// Purity is lost: the text has no place for it (A18).
fn wrap_func(cx: &mut Cx, t: &FuncType) -> StructInfo {
    let params = t.arg_types.iter().map(|arg_type| wrap_type(cx, arg_type)).collect();
    let ret = wrap_type(cx, &t.ret_type);
    StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ret, derive_func: None, pure: None }))
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
