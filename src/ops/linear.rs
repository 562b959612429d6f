//! Matrix products.

use super::infer::{Dims, arity, broadcast, common_dtype, dtype_attr, tensor};
use super::kernel::{self, at, fail, fresh, tabulate};
use super::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::cx::Cx;
use crate::eval::tensor::{Scalar, Tensor};
use crate::eval::{Machine, Stop, Value};
use crate::grammar::{PrimExpr, StructInfo};
use crate::rule::Rule;

pub(super) const OPS: &[OpDef] = &[operator!(
    "matmul",
    [Rule::OpsMatmulInfer, Rule::OpsMatmulValue, Rule::OpsMatmulAttrs],
    [Param::Arg("x1"), Param::Arg("x2"), Param::Attr(Attr::optional("out_dtype", AttrKind::DataType))],
    infer_matmul,
    Accumulated,
    matmul
)];

/// `[.., m, k]` times `[.., k, n]` is `[.., m, n]`; a vector stands for a row on the left and a column on the right.
fn infer_matmul(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x1, x2) = (tensor(a, 0)?, tensor(a, 1)?);
    let dtype = match dtype_attr(a.call, "out_dtype")? {
        Some(dtype) if !dtype.is_void() => dtype,
        Some(_) | None => common_dtype(x1.dtype, x2.dtype)?,
    };
    let (d1, d2) = (Dims::of(x1), Dims::of(x2));
    if d1.rank() == Some(0) || d2.rank() == Some(0) {
        return Err(InferError::op("a scalar has no matrix product"));
    }
    let dims = match (&d1, &d2) {
        (Dims::Known(d1), Dims::Known(d2)) => product_dims(d1, d2)?,
        (Dims::Known(_) | Dims::Rank(_) | Dims::Unknown, Dims::Known(_) | Dims::Rank(_) | Dims::Unknown) => {
            product_rank(d1.rank(), d2.rank())
        }
    };
    Ok(dims.tensor(dtype))
}

fn product_rank(r1: Option<usize>, r2: Option<usize>) -> Dims {
    match (r1, r2) {
        (Some(r1), Some(r2)) => {
            let rank = r1.max(r2).max(2) - usize::from(r1 == 1) - usize::from(r2 == 1);
            Dims::of_rank(rank)
        }
        (None, _) | (_, None) => Dims::Unknown,
    }
}

fn product_dims(d1: &[PrimExpr], d2: &[PrimExpr]) -> Result<Dims, InferError> {
    let (batch1, m, k1) = split(d1, true);
    let (batch2, n, k2) = split(d2, false);
    if let (Some(PrimExpr::IntImm(k1)), Some(PrimExpr::IntImm(k2))) = (k1, k2)
        && k1 != k2
    {
        return Err(InferError::op(format!("the inner dimensions {k1} and {k2} differ")));
    }
    let batch = broadcast(&Dims::Known(batch1.into()), &Dims::Known(batch2.into()))?;
    Ok(match batch {
        Dims::Known(batch) => {
            let mut dims = batch.to_vec();
            dims.extend(m.cloned());
            dims.extend(n.cloned());
            dims.into()
        }
        Dims::Rank(_) | Dims::Unknown => product_rank(Some(d1.len()), Some(d2.len())),
    })
}

/// The batch dimensions of a factor, its outer dimension (absent for a vector), and its inner one.
fn split<T>(dims: &[T], left: bool) -> (&[T], Option<&T>, Option<&T>) {
    match dims {
        [] => (&[], None, None),
        [k] => (&[], None, Some(k)),
        [batch @ .., rows, columns] => {
            if left {
                (batch, Some(rows), Some(columns))
            } else {
                (batch, Some(columns), Some(rows))
            }
        }
    }
}

/// `sum over k of x1[.., i, k] * x2[.., k, j]`, accumulated exactly enough that only the final rounding shows for
/// small integers and dyadic fractions.
fn matmul(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x1, x2) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let dtype = match dtype_attr(a.call, "out_dtype")? {
        Some(dtype) if !dtype.is_void() => dtype,
        Some(_) | None if x1.dtype() == x2.dtype() => x1.dtype(),
        Some(_) | None => return Err(fail(format!("the data types {} and {} differ", x1.dtype(), x2.dtype()))),
    };
    let (batch1, rows, k1) = split(x1.shape(), true);
    let (batch2, columns, k2) = split(x2.shape(), false);
    let (Some(k), Some(_)) = (k1.copied(), k2.filter(|k2| Some(*k2) == k1)) else {
        return Err(fail(format!("the shapes {:?} and {:?} have no product", x1.shape(), x2.shape())));
    };
    let mut shape = kernel::broadcast(batch1, batch2)?;
    let batch = shape.len();
    shape.extend(rows);
    shape.extend(columns);
    m.spend(shape.iter().fold(k.unsigned_abs(), |n, size| n.saturating_mul(size.unsigned_abs())))?;
    let product = tabulate(m, dtype, &shape, |index| {
        let (outer, inner) = index.split_at(batch.min(index.len()));
        let (row, column) = match (rows, columns, inner) {
            (Some(_), Some(_), [i, j]) => (Some(*i), Some(*j)),
            (Some(_), None, [i]) => (Some(*i), None),
            (None, Some(_), [j]) => (None, Some(*j)),
            (Some(_) | None, Some(_) | None, _) => (None, None),
        };
        (0..k).try_fold(zero(x1), |sum, k| {
            let x = at(x1, &factor_index(x1, outer, row, k, true))?;
            let y = at(x2, &factor_index(x2, outer, column, k, false))?;
            multiply_add(sum, x, y)
        })
    })?;
    fresh(product)
}

/// Where a factor has the element for a place of the result.
fn factor_index(x: &Tensor, outer: &[i64], free: Option<i64>, k: i64, left: bool) -> Vec<i64> {
    let (batch, _, _) = split(x.shape(), left);
    let skipped = outer.len().saturating_sub(batch.len());
    let mut index: Vec<i64> =
        outer.iter().skip(skipped).zip(batch).map(|(i, size)| if *size == 1 { 0 } else { *i }).collect();
    match (free, left) {
        (Some(i), true) => index.extend([i, k]),
        (Some(j), false) => index.extend([k, j]),
        (None, true | false) => index.push(k),
    }
    index
}

fn zero(x: &Tensor) -> Scalar {
    match (x.dtype().is_float(), x.dtype().is_int()) {
        (true, _) => Scalar::Float(0.0),
        (false, true) => Scalar::Int(0),
        (false, false) => Scalar::UInt(0),
    }
}

fn multiply_add(sum: Scalar, x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    match (sum, x, y) {
        (Scalar::Float(sum), Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(sum + x * y)),
        (Scalar::Int(sum), Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(sum.wrapping_add(x.wrapping_mul(y)))),
        (Scalar::UInt(sum), Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(sum.wrapping_add(x.wrapping_mul(y)))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _, _) => {
            Err(fail("a matrix product is not defined on this data type"))
        }
    }
}
