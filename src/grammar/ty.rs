//! The types (chapter Types): the results of erasing structural information (C03). There are six, and seven in later
//! editions.

use std::fmt;
use std::sync::Arc;

use super::width::is_type_mostly_repeated;
use super::{DataType, Ndim};
use crate::judge::is_shared;

/// The text printed for a long repetitive tuple.
pub(super) const REPEATED: &str = "Tuple(<more than 16384 parts, most of them repeated>)";

/// A Relax type.
#[derive(Clone, Debug)]
pub enum Type {
    /// `GRAM.TYPE.OBJECT`: every value.
    Object,
    /// `GRAM.TYPE.DYNTENSOR`: tensors with a rank and a data type.
    Tensor(DynTensorType),
    /// `GRAM.TYPE.SHAPE`: shapes with a rank.
    Shape(ShapeType),
    /// `GRAM.TYPE.PRIM`: boxed scalars of a data type, in later editions.
    Prim(PrimType),
    /// `GRAM.TYPE.TUPLE`: tuples with a type for each field.
    Tuple(Arc<[Type]>),
    /// `GRAM.TYPE.FUNC`: closures with a signature.
    Func(Arc<FuncType>),
    /// `GRAM.TYPE.PACKED`: packed functions, without further information.
    PackedFunc,
}

/// `DynTensorType(ndim, dtype)`; unknown rank is [`Ndim::Unknown`], unknown data type `Void`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DynTensorType {
    /// The number of dimensions.
    pub ndim: Ndim,
    /// The data type of the elements; `Void` if it is unknown.
    pub dtype: DataType,
}

/// `ShapeType(ndim)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeType {
    /// The number of dimensions.
    pub ndim: Ndim,
}

/// `PrimType(dtype)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrimType {
    /// The data type of the scalar.
    pub dtype: DataType,
}

/// `FuncType(arg_types, ret_type, pure)`.
#[derive(Clone, Debug)]
pub struct FuncType {
    /// The types of the parameters.
    pub arg_types: Arc<[Type]>,
    /// The type of the result.
    pub ret_type: Type,
    /// Whether calls have no visible effect (`GRAM.TYPE.FUNC.PURE`).
    pub pure: bool,
}

impl Type {
    /// A tensor type from a rank (-1 for unknown) and a data type.
    pub fn tensor(ndim: i64, dtype: DataType) -> Type {
        Type::Tensor(DynTensorType { ndim: Ndim::from_i64(ndim), dtype })
    }

    /// A shape type from a rank (-1 for unknown).
    pub fn shape(ndim: i64) -> Type {
        Type::Shape(ShapeType { ndim: Ndim::from_i64(ndim) })
    }

    /// The type of a tuple with these fields.
    pub fn tuple(fields: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(fields.into_iter().collect())
    }

    /// The type of a function.
    pub fn func(arg_types: impl IntoIterator<Item = Type>, ret_type: Type, pure: bool) -> Type {
        Type::Func(Arc::new(FuncType { arg_types: arg_types.into_iter().collect(), ret_type, pure }))
    }
}

impl fmt::Display for Type {
    /// Prints the notation: `Tensor(2, float32)`, `Shape(-1)`, `Tuple(..)`, `Func((..) -> .., pure)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Object => f.write_str("Object"),
            Type::PackedFunc => f.write_str("PackedFunc"),
            Type::Tensor(t) => write!(f, "Tensor({}, {})", t.ndim, t.dtype),
            Type::Shape(t) => write!(f, "Shape({})", t.ndim),
            Type::Prim(t) => write!(f, "Prim({})", t.dtype),
            Type::Tuple(fields) if is_shared(fields) && is_type_mostly_repeated(self) => f.write_str(REPEATED),
            Type::Tuple(fields) => {
                f.write_str("Tuple(")?;
                comma_separated(f, fields)?;
                f.write_str(")")
            }
            Type::Func(t) => {
                f.write_str("Func((")?;
                comma_separated(f, &t.arg_types)?;
                write!(f, ") -> {}, {})", t.ret_type, if t.pure { "pure" } else { "impure" })
            }
        }
    }
}

/// Writes items separated by `, `.
pub(super) fn comma_separated<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}
