//! Pairs of types of one kind.

use crate::grammar::{DynTensorType, FuncType, ShapeType, Type};

/// Two types of one kind, or none in common.
pub(super) enum Kinds<'a> {
    Objects,
    PackedFuncs,
    Tensors(&'a DynTensorType, &'a DynTensorType),
    Shapes(&'a ShapeType, &'a ShapeType),
    Tuples(&'a [Type], &'a [Type]),
    Funcs(&'a FuncType, &'a FuncType),
    Different,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(t1: &'a Type, t2: &'a Type) -> Kinds<'a> {
        match (t1, t2) {
            (Type::Object, Type::Object) => Kinds::Objects,
            (Type::PackedFunc, Type::PackedFunc) => Kinds::PackedFuncs,
            (Type::Tensor(a), Type::Tensor(b)) => Kinds::Tensors(a, b),
            (Type::Shape(a), Type::Shape(b)) => Kinds::Shapes(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => Kinds::Tuples(a, b),
            (Type::Func(a), Type::Func(b)) => Kinds::Funcs(a, b),
            (
                Type::Object
                | Type::PackedFunc
                | Type::Tensor(_)
                | Type::Shape(_)
                | Type::Prim(_)
                | Type::Tuple(_)
                | Type::Func(_),
                Type::Object
                | Type::PackedFunc
                | Type::Tensor(_)
                | Type::Shape(_)
                | Type::Prim(_)
                | Type::Tuple(_)
                | Type::Func(_),
            ) => Kinds::Different,
        }
    }
}
