//! Replaces dimensions and shapes in structural information.

use std::sync::Arc;

use super::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::with_stack;

/// Replacements for the leaves of structural information.
pub trait Replacement {
    /// The replacement for a dimension.
    fn dim(&self, dim: &PrimExpr) -> PrimExpr;

    /// The replacement for a shape that is not a list of dimensions, such as a variable.
    fn shape(&self, shape: &TensorShape) -> TensorShape {
        shape.clone()
    }

    /// The replacement for the purity of a function.
    fn purity(&self, pure: Option<bool>) -> Option<bool> {
        pure
    }
}

impl StructInfo {
    /// A copy with its leaves replaced.
    pub fn replaced(&self, by: &dyn Replacement) -> StructInfo {
        let dims = |dims: &Arc<[PrimExpr]>| dims.iter().map(|dim| by.dim(dim)).collect();
        with_stack(|| match self {
            StructInfo::Object => StructInfo::Object,
            StructInfo::Tensor(tensor) => {
                let shape = tensor.shape.as_ref().map(|shape| match shape {
                    TensorShape::Dims(of) => TensorShape::Dims(dims(of)),
                    TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_) => by.shape(shape),
                });
                StructInfo::Tensor(TensorStructInfo { shape, ..tensor.clone() })
            }
            StructInfo::Shape(shape) => {
                StructInfo::Shape(ShapeStructInfo { values: shape.values.as_ref().map(dims), ndim: shape.ndim })
            }
            StructInfo::Prim(prim) => StructInfo::Prim(PrimStructInfo {
                dtype: prim.dtype,
                value: prim.value.as_ref().map(|value| by.dim(value)),
            }),
            StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| field.replaced(by))),
            StructInfo::Func(func) => StructInfo::Func(Arc::new(FuncStructInfo {
                params: func.params.as_ref().map(|params| params.iter().map(|param| param.replaced(by)).collect()),
                ret: func.ret.replaced(by),
                derive_func: func.derive_func.clone(),
                pure: by.purity(func.pure),
            })),
        })
    }
}

impl PrimExpr {
    /// A copy with its variables replaced.
    pub fn with_vars(&self, other: &dyn Fn(&ShapeVar) -> PrimExpr) -> PrimExpr {
        let again = |e: &Arc<PrimExpr>| Arc::new(e.with_vars(other));
        with_stack(|| match self {
            PrimExpr::Var(var) => other(var),
            PrimExpr::IntImm(value) => PrimExpr::IntImm(*value),
            PrimExpr::Binary(op, a, b) => PrimExpr::Binary(*op, again(a), again(b)),
            PrimExpr::Not(a) => PrimExpr::Not(again(a)),
            PrimExpr::Select(c, t, f) => PrimExpr::Select(again(c), again(t), again(f)),
        })
    }
}
