//! Access to the contents of a tree of a given kind, and comparison of the kinds of two trees.

use std::sync::Arc;

use super::{
    AttrValue, Constant, DynTensorType, Expr, FuncStructInfo, FuncType, Name, ObjectCall, Op, PrimExpr, PrimStructInfo,
    ShapeStructInfo, ShapeType, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Tuple, Type,
};

/// Defines one function for each kind. It returns the contents of a tree of that kind, and `None` for others.
macro_rules! kinds {
    ($type:ident { $($name:ident: $kind:ident($part:ty)),+ $(,)? }) => {
        impl $type {
            $(
                #[doc = concat!("What is in a `", stringify!($kind), "`.")]
                pub fn $name(&self) -> Option<&$part> {
                    if let $type::$kind(part) = self { Some(part) } else { None }
                }
            )+

            /// Whether both are of the same kind, whatever their contents.
            pub fn same_kind(&self, other: &$type) -> bool {
                std::mem::discriminant(self) == std::mem::discriminant(other)
            }
        }
    };
}

pub(crate) use kinds;

kinds!(StructInfo {
    as_tensor: Tensor(TensorStructInfo),
    as_shape: Shape(ShapeStructInfo),
    as_prim: Prim(PrimStructInfo),
    as_tuple: Tuple(Arc<[StructInfo]>),
    as_func: Func(Arc<FuncStructInfo>),
});

kinds!(Type {
    as_tensor: Tensor(DynTensorType),
    as_shape: Shape(ShapeType),
    as_tuple: Tuple(Arc<[Type]>),
    as_func: Func(Arc<FuncType>),
});

kinds!(TensorShape { as_dims: Dims(Arc<[PrimExpr]>) });

kinds!(PrimExpr { as_int: IntImm(i64), as_var: Var(ShapeVar) });

kinds!(Expr {
    as_constant: Constant(Constant),
    as_tuple: Tuple(Arc<Tuple>),
    as_op: Op(Op),
});

kinds!(AttrValue {
    as_int: Int(i64),
    as_str: Str(Name),
    as_prim: Prim(PrimExpr),
    as_list: List(Vec<AttrValue>),
    as_made: Made(Arc<ObjectCall>),
});
