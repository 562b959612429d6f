//! The memory layout of a tensor: the fields of its descriptor, each as a boxed scalar.

use crate::grammar::{DataType, Ndim, PrimExpr, PrimStructInfo, SmallFloat, StructInfo, TensorStructInfo, TypeCode};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, boxed_int, product, tensor};
use crate::ops::kernel::fail;
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Prim, Stop, Value};

const UINT16: DataType = DataType::new(TypeCode::UInt, 16);
const TENSOR: OpParam = OpParam::Arg("tensor");
const AXIS: OpParam = OpParam::Arg("axis");

macro_rules! inspect {
    ($name:literal, $rules:tt, [$($param:expr),*], $infer:expr) => {
        operator!($name, $rules, [$($param),*], $infer, Exact, as_inferred).unread()
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    inspect!(
        "inspect.tensor_dtype_code",
        [rule!("OPS.inspect.tensor_dtype_code.infer"), rule!("OPS.inspect.tensor_dtype_code.value")],
        [TENSOR],
        |_, a| of_dtype(a, DataType::UINT8, code)
    ),
    inspect!(
        "inspect.tensor_dtype_bits",
        [rule!("OPS.inspect.tensor_dtype_bits.infer"), rule!("OPS.inspect.tensor_dtype_bits.value")],
        [TENSOR],
        |_, a| of_dtype(a, DataType::UINT8, bits)
    ),
    inspect!(
        "inspect.tensor_dtype_lanes",
        [rule!("OPS.inspect.tensor_dtype_lanes.infer"), rule!("OPS.inspect.tensor_dtype_lanes.value")],
        [TENSOR],
        |_, a| of_dtype(a, UINT16, |dtype| dtype.lanes.into())
    ),
    inspect!(
        "inspect.tensor_ndim",
        [rule!("OPS.inspect.tensor_ndim.infer"), rule!("OPS.inspect.tensor_ndim.value")],
        [TENSOR],
        infer_ndim
    ),
    inspect!(
        "inspect.tensor_shape_i",
        [rule!("OPS.inspect.tensor_shape_i.infer"), rule!("OPS.inspect.tensor_shape_i.value")],
        [TENSOR, AXIS],
        |_, a| of_axis(a, |dims, axis| dims.get(axis).cloned())
    ),
    inspect!(
        "inspect.tensor_stride_i",
        [rule!("OPS.inspect.tensor_stride_i.infer"), rule!("OPS.inspect.tensor_stride_i.value")],
        [TENSOR, AXIS],
        |_, a| of_axis(a, |dims, axis| dims.get(axis + 1..).map(product))
    ),
    inspect!(
        "inspect.tensor_byte_offset",
        [rule!("OPS.inspect.tensor_byte_offset.infer"), rule!("OPS.inspect.tensor_byte_offset.value")],
        [TENSOR],
        infer_offset
    ),
    inspect!(
        "inspect.tensor_elem_offset",
        [rule!("OPS.inspect.tensor_elem_offset.infer"), rule!("OPS.inspect.tensor_elem_offset.value")],
        [TENSOR],
        infer_offset
    ),
];

/// The information of a boxed scalar whose value may be known.
fn boxed(dtype: DataType, value: Option<PrimExpr>) -> StructInfo {
    StructInfo::Prim(PrimStructInfo { dtype, value })
}

fn inspected<'a>(a: &InferArgs<'a>) -> Result<&'a TensorStructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0)
}

/// A number determined by the data type.
fn of_dtype(a: &InferArgs<'_>, dtype: DataType, number: fn(DataType) -> i64) -> Result<StructInfo, InferError> {
    let known = Some(inspected(a)?.dtype).filter(|known| !known.is_void());
    Ok(boxed(dtype, known.map(|known| PrimExpr::IntImm(number(known)))))
}

/// The number of the scalar kind in DLPack.
fn code(dtype: DataType) -> i64 {
    match dtype.code {
        TypeCode::UInt if dtype.bits == 1 => 6,
        TypeCode::Int => 0,
        TypeCode::UInt => 1,
        TypeCode::Float => 2,
        TypeCode::Handle => 3,
        TypeCode::BFloat => 4,
        TypeCode::Small(format) => small(format),
    }
}

fn small(format: SmallFloat) -> i64 {
    match format {
        SmallFloat::E3M4 => 7,
        SmallFloat::E4M3 => 8,
        SmallFloat::E4M3B11Fnuz => 9,
        SmallFloat::E4M3Fn => 10,
        SmallFloat::E4M3Fnuz => 11,
        SmallFloat::E5M2 => 12,
        SmallFloat::E5M2Fnuz => 13,
        SmallFloat::E8M0Fnu => 14,
        SmallFloat::E2M3Fn => 15,
        SmallFloat::E3M2Fn => 16,
        SmallFloat::E2M1Fn => 17,
    }
}

/// The width of a scalar in memory. A Boolean takes a byte.
fn bits(dtype: DataType) -> i64 {
    if dtype.code == TypeCode::UInt && dtype.bits == 1 { 8 } else { dtype.bits.into() }
}

fn infer_ndim(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let rank = match inspected(a)?.ndim {
        Ndim::Known(rank) => Some(PrimExpr::IntImm(rank.into())),
        Ndim::Unknown => None,
    };
    Ok(boxed(DataType::INT32, rank))
}

/// A number for an axis. Negative axes are not allowed.
fn of_axis(a: &InferArgs<'_>, number: fn(&[PrimExpr], usize) -> Option<PrimExpr>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let dims = TensorDims::of(tensor(a, 0)?);
    let axis = boxed_int(a, 1)?;
    if let Some(StructInfo::Prim(prim)) = a.args.get(1) {
        Domain::Integers.demand(prim.dtype)?;
    }
    let Some(PrimExpr::IntImm(axis)) = axis else { return Ok(boxed(DataType::INT64, None)) };
    let outside = || InferError::op(format!("the axis {axis} does not exist in rank {}", dims.ndim()));
    let axis = usize::try_from(*axis).map_err(|_| outside())?;
    if dims.rank().is_some_and(|rank| axis >= rank) {
        return Err(outside());
    }
    let known = if let TensorDims::Known(dims) = &dims { number(dims, axis) } else { None };
    Ok(boxed(DataType::INT64, known))
}

/// Tensors begin at the start of their memory. For an unknown shape TVM gives no value, and none is needed.
fn infer_offset(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let known = matches!(TensorDims::of(inspected(a)?), TensorDims::Known(_));
    Ok(boxed(DataType::UINT64, known.then_some(PrimExpr::IntImm(0))))
}

/// The value, which inference knows because all sizes of the tensor are known.
fn as_inferred(_: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let number = match a.result {
        Some(StructInfo::Prim(PrimStructInfo { dtype, value: Some(PrimExpr::IntImm(value)) })) => {
            Some((*dtype, *value))
        }
        Some(_) | None => None,
    };
    let (dtype, value) = number.ok_or_else(|| fail("the tensor is not known"))?;
    Ok(Value::Prim(Prim::integer(dtype, value)))
}
