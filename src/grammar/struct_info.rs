//! Structural information (chapter Structural Information).

use std::fmt;
use std::sync::Arc;

use super::ty::{REPEATED, comma_separated};
use super::width::is_mostly_repeated;
use super::{DataType, Expr, PrimExpr, VDevice, Var};
use crate::judge::is_shared;

/// Structural information. `Prim` belongs to the next revision of the text (A53).
#[derive(Clone, Debug)]
pub enum StructInfo {
    /// `GRAM.SI.OBJECT`: nothing is known about the value.
    Object,
    /// `GRAM.SI.TENSOR`: shape, data type and rank of a tensor.
    Tensor(TensorStructInfo),
    /// `GRAM.SI.SHAPE`: dimensions and rank of a shape.
    Shape(ShapeStructInfo),
    /// `PR14148.SI.PRIM`: a boxed scalar.
    Prim(PrimStructInfo),
    /// `GRAM.SI.TUPLE`: the information of each field.
    Tuple(Arc<[StructInfo]>),
    /// `GRAM.SI.FUNC`: the parameters and the result of a function.
    Func(Arc<FuncStructInfo>),
}

/// The size of structural information determines the speed of judgements, which copy it at every step; tuples store it
/// inline. Rare large parts (a variable as a shape, a device) are therefore behind pointers.
const _: () = assert!(size_of::<StructInfo>() <= 56);

/// `TensorStructInfo(shape, dtype, ndim)`.
///
/// Input may omit `ndim`; its default is the number of dimensions of a literal shape, else unknown. The default of
/// `dtype` is `Void`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorStructInfo {
    /// The shape, if anything is known about it.
    pub shape: Option<TensorShape>,
    /// The data type; `Void` if it is unknown.
    pub dtype: DataType,
    /// The number of dimensions.
    pub ndim: Ndim,
    /// GRAM.SI.TENSOR of the later editions: the device of the tensor, if it is stated.
    pub vdevice: Option<Arc<VDevice>>,
}

/// The `shape` field of a tensor's structural information: `Dims` for a `ShapeExpr`, a variable, or another expression.
/// Criterion 13 of well-formedness rejects other expressions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TensorShape {
    /// A literal shape: the dimensions, outermost first.
    Dims(Arc<[PrimExpr]>),
    /// A variable that is bound to a shape.
    Var(Arc<Var>),
    /// A DataflowVar that is bound to a shape.
    DataflowVar(Arc<Var>),
    /// Anything else, which is not well-formed (`WF.13.FORM`).
    Other(Arc<Expr>),
}

/// `ShapeStructInfo(values, ndim)`. The default of `ndim` is the number of values, else unknown.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShapeStructInfo {
    /// The dimensions, outermost first, if they are known.
    pub values: Option<Arc<[PrimExpr]>>,
    /// The number of dimensions.
    pub ndim: Ndim,
}

/// `PrimStructInfo(dtype)` (PR14148). `value` is known for a `PrimValue` in the editions that say so.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PrimStructInfo {
    /// The data type of the scalar.
    pub dtype: DataType,
    /// The value of the scalar, if it is known.
    pub value: Option<PrimExpr>,
}

/// `FuncStructInfo(params, ret, derive_func)`. `pure` is the optional extension of C20 and A18. `None` is the text of
/// 2023-02, where structural information has no purity.
#[derive(Clone, Debug)]
pub struct FuncStructInfo {
    /// The information of each parameter; `None` for a function that accepts any arguments.
    pub params: Option<Arc<[StructInfo]>>,
    /// The information of the result. It may contain shape variables of the parameters.
    pub ret: StructInfo,
    /// The macro that computes the result from the arguments instead.
    pub derive_func: Option<DeriveFunc>,
    /// Whether calls have no effect; `None` if it is not stated.
    pub pure: Option<bool>,
}

impl FuncStructInfo {
    /// GRAM.SI.FUNC: the purity in the editions whose structural information has it. The default is pure for closures
    /// and impure for packed functions.
    pub fn purity(&self) -> bool {
        self.pure.unwrap_or(self.params.is_some())
    }
}

/// A `derive_func` macro, known by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DeriveFunc {
    /// The result follows from the call's `sinfo_args`.
    DefaultDerive,
    /// Always `ObjectStructInfo`.
    EmptyDerive,
    /// A macro that an implementation registered under a name.
    Named(super::Name),
}

/// A number of dimensions: the text's `ndim`, with -1 for unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Ndim {
    /// Unknown: -1 in the text.
    Unknown,
    /// The known number.
    Known(u32),
}

impl Ndim {
    /// Converts the text's number. -1, other negative numbers and absurdly large numbers are unknown.
    pub fn from_i64(ndim: i64) -> Ndim {
        u32::try_from(ndim).map_or(Ndim::Unknown, Ndim::Known)
    }

    /// The number, with -1 for unknown.
    pub fn to_i64(self) -> i64 {
        match self {
            Ndim::Unknown => -1,
            Ndim::Known(rank) => rank.into(),
        }
    }

    /// The rank of a shape with `len` dimensions.
    pub fn of_len(len: usize) -> Ndim {
        u32::try_from(len).map_or(Ndim::Unknown, Ndim::Known)
    }

    /// The rank implied by a tensor's shape: the number of its dimensions, if they are known.
    pub fn implied_by(shape: Option<&TensorShape>) -> Ndim {
        shape.and_then(TensorShape::as_dims).map_or(Ndim::Unknown, |dims| Ndim::of_len(dims.len()))
    }

    /// Whether it is unknown.
    pub fn is_unknown(self) -> bool {
        self == Ndim::Unknown
    }
}

impl fmt::Display for Ndim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ndim::Unknown => f.write_str("-1"),
            Ndim::Known(n) => write!(f, "{n}"),
        }
    }
}

impl StructInfo {
    /// A tensor with known dimensions.
    pub fn tensor(dims: impl IntoIterator<Item = PrimExpr>, dtype: DataType) -> StructInfo {
        let dims: Arc<[PrimExpr]> = dims.into_iter().collect();
        StructInfo::Tensor(TensorStructInfo {
            ndim: Ndim::of_len(dims.len()),
            shape: Some(TensorShape::Dims(dims)),
            dtype,
            vdevice: None,
        })
    }

    /// A tensor with a rank (-1 for unknown) and a data type, and no known dimensions.
    pub fn tensor_ndim(ndim: i64, dtype: DataType) -> StructInfo {
        StructInfo::Tensor(TensorStructInfo { shape: None, dtype, ndim: Ndim::from_i64(ndim), vdevice: None })
    }

    /// A shape with known values.
    pub fn shape(values: impl IntoIterator<Item = PrimExpr>) -> StructInfo {
        let values: Arc<[PrimExpr]> = values.into_iter().collect();
        StructInfo::Shape(ShapeStructInfo { ndim: Ndim::of_len(values.len()), values: Some(values) })
    }

    /// A shape with a rank (-1 for unknown), and no known values.
    pub fn shape_ndim(ndim: i64) -> StructInfo {
        StructInfo::Shape(ShapeStructInfo { values: None, ndim: Ndim::from_i64(ndim) })
    }

    /// The information of a tuple with these fields.
    pub fn tuple(fields: impl IntoIterator<Item = StructInfo>) -> StructInfo {
        StructInfo::Tuple(fields.into_iter().collect())
    }

    /// The structural information of a closure.
    pub fn func(params: impl IntoIterator<Item = StructInfo>, ret: StructInfo) -> StructInfo {
        StructInfo::Func(Arc::new(FuncStructInfo {
            params: Some(params.into_iter().collect()),
            ret,
            derive_func: None,
            pure: None,
        }))
    }

    /// The structural information of a packed function. The text ignores `ret`; here it is `Object`.
    pub fn packed(derive_func: DeriveFunc) -> StructInfo {
        StructInfo::Func(Arc::new(FuncStructInfo {
            params: None,
            ret: StructInfo::Object,
            derive_func: Some(derive_func),
            pure: None,
        }))
    }

    /// The information of a boxed scalar with an unknown value.
    pub fn prim(dtype: DataType) -> StructInfo {
        StructInfo::Prim(PrimStructInfo { dtype, value: None })
    }
}

impl fmt::Display for StructInfo {
    /// Prints the notation: `Tensor((n, 4), float32)`, `Tensor(ndim=2, float32)`, `Shape((n))`, `Func((..) -> ..)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self {
            StructInfo::Object => f.write_str("Object"),
            StructInfo::Tensor(t) => t.fmt(f),
            StructInfo::Shape(ShapeStructInfo { values: None, ndim }) => write!(f, "Shape(ndim={ndim})"),
            StructInfo::Shape(ShapeStructInfo { values: Some(values), ndim }) => {
                f.write_str("Shape((")?;
                comma_separated(f, values)?;
                f.write_str(")")?;
                write_odd_ndim(f, *ndim, Ndim::of_len(values.len()))?;
                f.write_str(")")
            }
            StructInfo::Prim(PrimStructInfo { dtype, value: None }) => write!(f, "Prim({dtype})"),
            StructInfo::Prim(PrimStructInfo { dtype, value: Some(value) }) => write!(f, "Prim({dtype}, value={value})"),
            StructInfo::Tuple(fields) if is_shared(fields) && is_mostly_repeated(self) => f.write_str(REPEATED),
            StructInfo::Tuple(fields) => {
                f.write_str("Tuple(")?;
                comma_separated(f, fields)?;
                f.write_str(")")
            }
            StructInfo::Func(func) => func.fmt(f),
        })
    }
}

/// Prints a rank only if it contradicts the number of dimensions.
fn write_odd_ndim(f: &mut fmt::Formatter<'_>, ndim: Ndim, implied: Ndim) -> fmt::Result {
    if ndim == implied { Ok(()) } else { write!(f, ", ndim={ndim}") }
}

impl fmt::Display for TensorStructInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            None => write!(f, "Tensor(ndim={}, {}", self.ndim, self.dtype)?,
            Some(TensorShape::Dims(dims)) => {
                f.write_str("Tensor((")?;
                comma_separated(f, dims)?;
                write!(f, "), {}", self.dtype)?;
                write_odd_ndim(f, self.ndim, Ndim::of_len(dims.len()))?;
            }
            Some(TensorShape::Var(v) | TensorShape::DataflowVar(v)) => {
                write!(f, "Tensor({v}, {}", self.dtype)?;
                write_odd_ndim(f, self.ndim, Ndim::Unknown)?;
            }
            Some(TensorShape::Other(_)) => write!(f, "Tensor(<expression>, {}, ndim={}", self.dtype, self.ndim)?,
        }
        match &self.vdevice {
            Some(device) => write!(f, ", vdevice={device})"),
            None => f.write_str(")"),
        }
    }
}

impl fmt::Display for FuncStructInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.params {
            Some(params) => {
                f.write_str("Func((")?;
                comma_separated(f, params)?;
                write!(f, ") -> {}", self.ret)?;
            }
            None => f.write_str("Func(packed")?,
        }
        match &self.derive_func {
            None => {}
            Some(DeriveFunc::DefaultDerive) => f.write_str(", default_derive")?,
            Some(DeriveFunc::EmptyDerive) => f.write_str(", empty_derive")?,
            Some(DeriveFunc::Named(name)) => write!(f, ", derive_func={name}")?,
        }
        match self.pure {
            None => {}
            Some(true) => f.write_str(", pure")?,
            Some(false) => f.write_str(", impure")?,
        }
        f.write_str(")")
    }
}
