//! The types (chapter Types): the image of structural information under erasure (C03). There are six, in later editions seven.

use std::fmt;
use std::sync::Arc;

use super::width::is_type_mostly_repeated;
use super::{DataType, Ndim};
use crate::judge::is_shared;

/// What is written of a tuple that repeats itself at length.
pub(super) const REPEATED: &str = "Tuple(<more than 16384 parts, most of them repeated>)";

/// A Relax type.
#[derive(Clone, Debug)]
pub enum Type {
    /// `GRAM.TYPE.OBJECT`: every value.
    Object,
    /// `GRAM.TYPE.DYNTENSOR`: tensors of a rank and a data type.
    Tensor(DynTensorType),
    /// `GRAM.TYPE.SHAPE`: shapes of a rank.
    Shape(ShapeType),
    /// `GRAM.TYPE.PRIM`: boxed scalars of a data type, in later editions.
    Prim(PrimType),
    /// `GRAM.TYPE.TUPLE`: that of each field.
    Tuple(Arc<[Type]>),
    /// `GRAM.TYPE.FUNC`: closures by their signature.
    Func(Arc<FuncType>),
    /// `GRAM.TYPE.PACKED`: packed functions, of which nothing more is known.
    PackedFunc,
}

/// `DynTensorType(ndim, dtype)`; unknown rank is [`Ndim::Unknown`], unknown data type `Void`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DynTensorType {
    /// How many dimensions there are.
    pub ndim: Ndim,
    /// The data type of the elements; `Void` if it is unknown.
    pub dtype: DataType,
}

/// `ShapeType(ndim)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeType {
    /// How many dimensions there are.
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
    /// That of each parameter.
    pub arg_types: Arc<[Type]>,
    /// That of the result.
    pub ret_type: Type,
    /// Whether calls are without visible effect (`GRAM.TYPE.FUNC.PURE`).
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

    /// That of a tuple of such fields.
    pub fn tuple(fields: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(fields.into_iter().collect())
    }

    /// That of a function.
    pub fn func(arg_types: impl IntoIterator<Item = Type>, ret_type: Type, pure: bool) -> Type {
        Type::Func(Arc::new(FuncType { arg_types: arg_types.into_iter().collect(), ret_type, pure }))
    }
}

impl fmt::Display for Type {
    /// As on paper: `Tensor(2, float32)`, `Shape(-1)`, `Tuple(..)`, `Func((..) -> .., pure)`.
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
