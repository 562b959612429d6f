//! Pairs of structural information of one kind.

use std::sync::Arc;

use crate::grammar::{FuncStructInfo, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo};

/// Two infos of the same kind, or of different kinds.
#[derive(Clone, Copy)]
pub(super) enum InfoPair<'a> {
    Objects,
    Tensors(&'a TensorStructInfo, &'a TensorStructInfo),
    Shapes(&'a ShapeStructInfo, &'a ShapeStructInfo),
    Prims(&'a PrimStructInfo, &'a PrimStructInfo),
    Tuples(&'a Arc<[StructInfo]>, &'a Arc<[StructInfo]>),
    Funcs(&'a Arc<FuncStructInfo>, &'a Arc<FuncStructInfo>),
    Different,
}

impl<'a> InfoPair<'a> {
    pub(super) fn of(s1: &'a StructInfo, s2: &'a StructInfo) -> InfoPair<'a> {
        match (s1, s2) {
            (StructInfo::Object, StructInfo::Object) => InfoPair::Objects,
            (StructInfo::Tensor(a), StructInfo::Tensor(b)) => InfoPair::Tensors(a, b),
            (StructInfo::Shape(a), StructInfo::Shape(b)) => InfoPair::Shapes(a, b),
            (StructInfo::Prim(a), StructInfo::Prim(b)) => InfoPair::Prims(a, b),
            (StructInfo::Tuple(a), StructInfo::Tuple(b)) => InfoPair::Tuples(a, b),
            (StructInfo::Func(a), StructInfo::Func(b)) => InfoPair::Funcs(a, b),
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
            ) => InfoPair::Different,
        }
    }
}

/// Whether nothing is known.
pub(super) fn is_object(s: &StructInfo) -> bool {
    matches!(s, StructInfo::Object)
}
