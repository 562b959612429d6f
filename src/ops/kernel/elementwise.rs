//! Common parts of elementwise operators: inference, and evaluation with or without broadcasting.

use kernels::{Comparison, Unary};

use crate::book::Erratum;
use crate::grammar::{DataType, Ndim, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::Cx;
use crate::number::real::Real;
use crate::ops::infer::{Domain, TensorDims, arity, broadcast, common_dtype, held_by_all, of_held, tensor, with_dtype};
use crate::ops::kernel::reals::{OfReals, RealOp, applied, in_ring, no_ring};
use crate::ops::kernel::{self, at_broadcast, at_flat, convert, fail, fresh, slices, tabulate, tabulate_flat};
use crate::ops::{EvalArgs, InferArgs, InferError};
use crate::value::{Host, Prim, Scalar, Stop, Tensor, Value};

// Inference.

/// The i-th operand as a tensor. A boxed scalar counts as a tensor of rank 0 (A72).
fn operand(cx: &mut Cx, a: &InferArgs<'_>, i: usize) -> Result<TensorStructInfo, InferError> {
    match a.args.get(i) {
        Some(StructInfo::Prim(prim)) if !cx.literal(Erratum::A72) => Ok(TensorStructInfo {
            shape: Some(TensorShape::Dims([].into())),
            dtype: prim.dtype,
            ndim: Ndim::Known(0),
            vdevice: None,
        }),
        Some(_) | None => tensor(a, i).cloned(),
    }
}

/// The information about both operands and about the shape of the result. The result of two boxed scalars is boxed too.
struct Operands {
    dtypes: [DataType; 2],
    dims: TensorDims,
    /// The shape of both operands, if it is the same variable.
    held: Option<TensorShape>,
    boxed: bool,
}

impl Operands {
    fn of(cx: &mut Cx, a: &InferArgs<'_>) -> Result<Operands, InferError> {
        arity::<2>(a)?;
        let (x1, x2) = (operand(cx, a, 0)?, operand(cx, a, 1)?);
        let dims = broadcast(&TensorDims::of(&x1), &TensorDims::of(&x2))?;
        let boxed = a.args.iter().all(|info| matches!(info, StructInfo::Prim(_)));
        Ok(Operands { dtypes: [x1.dtype, x2.dtype], dims, held: held_by_all([&x1, &x2]), boxed })
    }

    fn result(self, dtype: DataType) -> StructInfo {
        if self.boxed { StructInfo::prim(dtype) } else { of_held(self.held, self.dims, dtype) }
    }
}

/// Infers an operation on two operands whose data types are in the operator's domain. Each is checked even if the other
/// is unknown.
pub(in crate::ops) fn infer_two(cx: &mut Cx, a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    let operands = Operands::of(cx, a)?;
    let [x1, x2] = operands.dtypes;
    let dtype = common_dtype(x1, x2)?;
    domain.demand(x1)?;
    domain.demand(x2)?;
    Ok(operands.result(dtype))
}

pub(in crate::ops) fn infer_comparison(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let operands = Operands::of(cx, a)?;
    let [x1, x2] = operands.dtypes;
    common_dtype(x1, x2)?;
    Ok(operands.result(DataType::BOOL))
}

/// The result is like the argument. A shape held in a variable stays there.
pub(in crate::ops) fn infer_same(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0).map(|t| StructInfo::Tensor(t.clone()))
}

/// The result is the argument itself, of any kind.
pub(in crate::ops) fn infer_itself(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    a.args.first().cloned().ok_or_else(|| InferError::op("an argument is missing"))
}

/// The result is like the argument, whose data type is in the operator's domain.
pub(in crate::ops) fn infer_one(cx: &mut Cx, a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    let info = infer_same(cx, a)?;
    domain.demand(tensor(a, 0)?.dtype)?;
    Ok(info)
}

pub(in crate::ops) fn infer_float(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_one(cx, a, Domain::Floats)
}

/// A Boolean for each element of the argument.
pub(in crate::ops) fn infer_predicate(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0).map(|t| with_dtype(t, DataType::BOOL))
}

// Evaluation.

pub(in crate::ops) fn binary(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    f: impl Fn(Scalar, Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    if let [Value::Prim(x1), Value::Prim(x2)] = a.values {
        let dtype = if let Some(StructInfo::Prim(result)) = a.result { result.dtype } else { x1.dtype };
        return Ok(Value::Prim(Prim { dtype, value: convert(f(x1.value, x2.value)?, dtype)? }));
    }
    let (x1, x2, out) = (unboxed(a, 0)?, unboxed(a, 1)?, kernel::out(a)?);
    if x1.shape() == x2.shape() {
        // Without broadcasting, positions are sufficient.
        return fresh(tabulate_flat(m, out.dtype, &out.shape, |i| f(at_flat(&x1, i)?, at_flat(&x2, i)?))?);
    }
    fresh(tabulate(m, out.dtype, &out.shape, |i| f(at_broadcast(&x1, i)?, at_broadcast(&x2, i)?))?)
}

/// As [`binary`], for an operation that has loops over slices.
pub(in crate::ops) fn arithmetic(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    real: RealOp,
    f: impl Fn(Scalar, Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    if let [Value::Tensor(x1), Value::Tensor(x2)] = a.values
        && let Some(value) = slices::arithmetic(m, x1, x2, &kernel::out(a)?, real)?
    {
        return Ok(value);
    }
    binary(m, a, f)
}

/// A comparison of two elements.
pub(in crate::ops) fn comparison(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    comparison: Comparison,
    f: impl Fn(Option<std::cmp::Ordering>) -> bool,
) -> Result<Value, Stop> {
    if let [Value::Tensor(x1), Value::Tensor(x2)] = a.values
        && let Some(value) = slices::compared(m, x1, x2, &kernel::out(a)?, comparison)?
    {
        return Ok(value);
    }
    binary(m, a, |x, y| compare(x, y).map(&f).map(Scalar::Bool))
}

/// As [`unary`], for a function that has a loop over slices.
pub(in crate::ops) fn simple(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    function: Unary,
    f: impl Fn(Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    match slices::simple(m, kernel::tensor(a, 0)?, function)? {
        Some(value) => Ok(value),
        None => unary(m, a, f),
    }
}

/// A function of floats, given by the name of its operator.
pub(in crate::ops) fn function(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    name: &'static str,
    float: fn(f64) -> f64,
) -> Result<Value, Stop> {
    match slices::mapped(m, kernel::tensor(a, 0)?, name, float)? {
        Some(value) => Ok(value),
        None => unary(m, a, |x| applied(x, name, float)),
    }
}

/// The i-th argument as a tensor. A boxed scalar is converted.
fn unboxed(a: &EvalArgs<'_>, i: usize) -> Result<Tensor, Stop> {
    let Some(Value::Prim(prim)) = a.values.get(i) else { return kernel::tensor(a, i).cloned() };
    let cell = Tensor::zeros(prim.dtype, &[]).map_err(|error| fail(error.to_string()))?;
    if cell.set(0, prim.value) { Ok(cell) } else { Err(fail("an element lies outside its tensor")) }
}

pub(in crate::ops) fn unary(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    f: impl Fn(Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let x: &Tensor = kernel::tensor(a, 0)?;
    fresh(tabulate_flat(m, x.dtype(), x.shape(), |i| f(at_flat(x, i)?))?)
}

/// The argument itself.
pub(in crate::ops) fn itself(_: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    a.values.first().cloned().ok_or_else(|| fail("an argument is missing"))
}

/// Arithmetic on two elements of the same kind. Integers wrap around. A float is rounded to the data type when it is
/// stored; a number of the ring is not.
pub(in crate::ops) fn number(
    x: Scalar,
    y: Scalar,
    int: impl Fn(i64, i64) -> i64,
    uint: impl Fn(u64, u64) -> u64,
    real: impl OfReals,
) -> Result<Scalar, Stop> {
    if let Some((x, y)) = in_ring(x, y) {
        return real.of_ring(x, y).map(Scalar::Ring);
    }
    match (x, y) {
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(int(x, y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(uint(x, y))),
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(real.of_floats(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("arithmetic is not defined on this data type"))
        }
    }
}

/// The order of two elements; `None` if one is NaN.
pub(in crate::ops) fn compare(x: Scalar, y: Scalar) -> Result<Option<std::cmp::Ordering>, Stop> {
    if let Some((x, y)) = in_ring(x, y) {
        return Ok(x.order(y)?);
    }
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::Float(x), Scalar::Float(y)) => Ok(x.partial_cmp(&y)),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("elements of different kinds are compared"))
        }
    }
}

pub(in crate::ops) fn float(x: Scalar) -> Result<f64, Stop> {
    match x {
        Scalar::Float(x) => Ok(x),
        Scalar::Ring(_) => Err(no_ring()),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("expects a floating-point data type")),
    }
}
