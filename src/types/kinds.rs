//! Pairs of types of one kind.

use crate::grammar::{DynTensorType, FuncType, ShapeType, Type};

/// Two types of the same kind, or of different kinds.
pub(super) enum TypePair<'a> {
    Objects,
    PackedFuncs,
    Tensors(&'a DynTensorType, &'a DynTensorType),
    Shapes(&'a ShapeType, &'a ShapeType),
    Tuples(&'a [Type], &'a [Type]),
    Funcs(&'a FuncType, &'a FuncType),
    Different,
}

impl<'a> TypePair<'a> {
    pub(super) fn of(t1: &'a Type, t2: &'a Type) -> TypePair<'a> {
        match (t1, t2) {
            (Type::Object, Type::Object) => TypePair::Objects,
            (Type::PackedFunc, Type::PackedFunc) => TypePair::PackedFuncs,
            (Type::Tensor(a), Type::Tensor(b)) => TypePair::Tensors(a, b),
            (Type::Shape(a), Type::Shape(b)) => TypePair::Shapes(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => TypePair::Tuples(a, b),
            (Type::Func(a), Type::Func(b)) => TypePair::Funcs(a, b),
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
            ) => TypePair::Different,
        }
    }
}
