//! Syntactic equality of structural information, for reflexivity.

use crate::grammar::{PrimExpr, StructInfo, TensorShape};
use crate::judge::is_shared;
use crate::shape::alpha_equal;
use crate::types::equality::ComparableTree;

pub(super) fn same_dims(dims1: &[PrimExpr], dims2: &[PrimExpr]) -> bool {
    let same_place = std::ptr::eq(dims1, dims2);
    same_place || dims1.len() == dims2.len() && dims1.iter().zip(dims2).all(|(dim1, dim2)| alpha_equal(dim1, dim2))
}

pub(super) fn same_tensor_shape(shape1: &TensorShape, shape2: &TensorShape) -> bool {
    match (shape1, shape2) {
        (TensorShape::Dims(dims1), TensorShape::Dims(dims2)) => same_dims(dims1, dims2),
        (TensorShape::Var(v), TensorShape::Var(w)) | (TensorShape::DataflowVar(v), TensorShape::DataflowVar(w)) => {
            v == w
        }
        (TensorShape::Other(e1), TensorShape::Other(e2)) => e1 == e2,
        (
            TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_),
            TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_),
        ) => false,
    }
}

/// Whether both are absent, or both are present and equal.
pub(super) fn same_option<T>(a: Option<&T>, b: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether two nodes are equal and, for tensors, on the same device.
pub(super) fn same_located_node(a: &StructInfo, b: &StructInfo) -> bool {
    let device = |info: &StructInfo| info.as_tensor().and_then(|tensor| tensor.vdevice.clone());
    a.same_node(b) && device(a) == device(b)
}

impl ComparableTree for StructInfo {
    fn same_node(&self, other: &StructInfo) -> bool {
        match (self, other) {
            (StructInfo::Object, StructInfo::Object) => true,
            (StructInfo::Tensor(a), StructInfo::Tensor(b)) => {
                let shapes = same_option(a.shape.as_ref(), b.shape.as_ref(), same_tensor_shape);
                a.ndim == b.ndim && a.dtype == b.dtype && shapes
            }
            (StructInfo::Shape(a), StructInfo::Shape(b)) => {
                a.ndim == b.ndim && same_option(a.values.as_ref(), b.values.as_ref(), |a, b| same_dims(a, b))
            }
            (StructInfo::Prim(a), StructInfo::Prim(b)) => {
                a.dtype == b.dtype && same_option(a.value.as_ref(), b.value.as_ref(), alpha_equal)
            }
            (StructInfo::Tuple(a), StructInfo::Tuple(b)) => a.len() == b.len(),
            (StructInfo::Func(a), StructInfo::Func(b)) => {
                let params = same_option(a.params.as_ref(), b.params.as_ref(), |a, b| a.len() == b.len());
                params && a.derive_func == b.derive_func && a.pure == b.pure
            }
            (
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
            ) => false,
        }
    }

    fn components(&self) -> (&[StructInfo], Option<&StructInfo>) {
        match self {
            StructInfo::Tuple(fields) => (fields, None),
            StructInfo::Func(func) => (func.params.as_deref().unwrap_or(&[]), Some(&func.ret)),
            StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => (&[], None),
        }
    }

    fn is_shared(&self) -> bool {
        matches!(self, StructInfo::Tuple(fields) if is_shared(fields))
    }
}
