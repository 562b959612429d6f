//! Matrix products.

use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::number::ring::RingNumber;
use crate::ops::infer::{Domain, TensorDims, arity, broadcast, common_dtype, differ, dtype_attr, tensor};
use crate::ops::kernel::lanes::{self, Lane, in_lanes};
use crate::ops::kernel::{self, fail, fresh, multiply_add, summands, zero};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "matmul",
    [rule!("OPS.matmul.infer"), rule!("OPS.matmul.value"), rule!("OPS.matmul.attrs")],
    [OpParam::Arg("x1"), OpParam::Arg("x2"), OpParam::Attr(Attr::optional("out_dtype", AttrKind::DataType))],
    infer_matmul,
    Accumulated,
    matmul
)];

/// `[.., m, k]` times `[.., k, n]` is `[.., m, n]`. A vector is a row on the left and a column on the right.
fn infer_matmul(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x1, x2) = (tensor(a, 0)?, tensor(a, 1)?);
    let dtype = match dtype_attr(a.call, "out_dtype")? {
        Some(dtype) if !dtype.is_void() => dtype,
        Some(_) | None => common_dtype(x1.dtype, x2.dtype)?,
    };
    [x1.dtype, x2.dtype, dtype].into_iter().try_for_each(|dtype| Domain::Numbers.demand(dtype))?;
    let (d1, d2) = (TensorDims::of(x1), TensorDims::of(x2));
    if d1.rank() == Some(0) || d2.rank() == Some(0) {
        return Err(InferError::op("a scalar has no matrix product"));
    }
    let dims = match (&d1, &d2) {
        (TensorDims::Known(d1), TensorDims::Known(d2)) => product_dims(cx, d1, d2)?,
        (
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
        ) => product_rank(d1.rank(), d2.rank()),
    };
    Ok(dims.tensor(dtype))
}

fn product_rank(r1: Option<usize>, r2: Option<usize>) -> TensorDims {
    match (r1, r2) {
        (Some(r1), Some(r2)) => {
            let rank = r1.max(r2).max(2) - usize::from(r1 == 1) - usize::from(r2 == 1);
            TensorDims::of_rank(rank)
        }
        (None, _) | (_, None) => TensorDims::Unknown,
    }
}

fn product_dims(cx: &mut Cx, d1: &[PrimExpr], d2: &[PrimExpr]) -> Result<TensorDims, InferError> {
    let (batch1, m, k1) = split(d1, true);
    let (batch2, n, k2) = split(d2, false);
    if let (Some(k1), Some(k2)) = (k1, k2)
        && differ(cx, k1, k2)
    {
        return Err(InferError::op(format!("the inner dimensions {k1} and {k2} differ")));
    }
    let batch = broadcast(&TensorDims::Known(batch1.into()), &TensorDims::Known(batch2.into()))?;
    Ok(match batch {
        TensorDims::Known(batch) => {
            let mut dims = batch.to_vec();
            dims.extend(m.cloned());
            dims.extend(n.cloned());
            dims.into()
        }
        TensorDims::Rank(_) | TensorDims::Unknown => product_rank(Some(d1.len()), Some(d2.len())),
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

/// `sum over k of x1[.., i, k] * x2[.., k, j]`. The accumulation is precise enough that for small integers and dyadic
/// fractions only the final rounding shows.
fn matmul(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let out = kernel::out(a)?;
    let (x1, x2) = (summands(m, kernel::tensor(a, 0)?, &out)?, summands(m, kernel::tensor(a, 1)?, &out)?);
    let (x1, x2) = (&*x1, &*x2);
    let kernel::Out { dtype, shape } = out;
    let (batch1, rows, k1) = split(x1.shape(), true);
    let (batch2, columns, _) = split(x2.shape(), false);
    let k = k1.copied().unwrap_or(0);
    let outer = usize::from(rows.is_some()) + usize::from(columns.is_some());
    let batch = shape.get(..shape.len().saturating_sub(outer)).unwrap_or_default();
    let read = (x1.len() as u64).saturating_add(x2.len() as u64);
    let _held = m.account().hold(read.saturating_add(count(&shape)).saturating_mul(size_of::<Scalar>() as u64))?;
    let terms = shape.iter().fold(k.unsigned_abs(), |n, size| n.saturating_mul(size.unsigned_abs()));
    lanes::spend_on_sums(m, terms)?;
    let (rows, columns) = (rows.copied().unwrap_or(1), columns.copied().unwrap_or(1));
    let factors =
        (Factor { x: x1, batch: batch1, rows, columns: k }, Factor { x: x2, batch: batch2, rows: k, columns });
    if let Some(sums) = lanes::sums(m, dtype, [x1, x2]) {
        return in_lanes!(sums, Lane => {
            let elements = products_in_lanes::<Lane>(&factors, batch)?;
            lanes::tensor(m, dtype, &shape, &elements)
        });
    }
    let (left, right) = (factors.0.matrices(scalars), factors.1.matrices(scalars));
    let mut elements = Vec::with_capacity(count(&shape) as usize);
    for outer in kernel::indices(batch) {
        let (x, y) = (left.at(&outer)?, right.at(&outer)?);
        product(&mut elements, x, y, rows as usize, columns as usize, k as usize, zero(dtype))?;
    }
    fresh(kernel::from_list(m, dtype, &shape, &elements)?)
}

/// The elements of a tensor.
fn scalars(x: &Tensor) -> Vec<Scalar> {
    // The cost is charged for this capacity.
    let mut elements = Vec::with_capacity(x.len());
    elements.extend((0..x.len()).filter_map(|i| x.get(i)));
    elements
}

/// The same products, of slices.
fn products_in_lanes<T: Lane>((left, right): &(Factor<'_>, Factor<'_>), batch: &[i64]) -> Result<Vec<T>, Stop> {
    // One right matrix for all left ones is the right matrix of the rows of all of them.
    let is_shared = right.batch.iter().all(|size| *size == 1) && left.batch == batch;
    let (rows, batch) = if is_shared { (left.rows * count(batch) as i64, &[][..]) } else { (left.rows, batch) };
    let left = Factor { rows, batch: if is_shared { &[] } else { left.batch }, ..*left };
    let (size, k, columns) = ((rows * right.columns) as usize, left.columns as usize, right.columns as usize);
    let (x, y) = (left.matrices(T::all), right.matrices(T::all));
    let mut elements = vec![T::default(); size * count(batch) as usize];
    for (outer, out) in kernel::indices(batch).zip(elements.chunks_exact_mut(size.max(1))) {
        T::product(x.at(&outer)?, y.at(&outer)?, out, k, columns);
    }
    Ok(elements)
}

/// A factor of a matrix product.
#[derive(Clone, Copy)]
struct Factor<'a> {
    x: &'a Tensor,
    batch: &'a [i64],
    rows: i64,
    columns: i64,
}

impl<'a> Factor<'a> {
    fn matrices<T>(&self, elements: impl Fn(&Tensor) -> Vec<T>) -> Matrices<'a, T> {
        Matrices { elements: elements(self.x), batch: self.batch, size: (self.rows * self.columns) as usize }
    }
}

/// The elements of a factor row-major, matrix by matrix.
struct Matrices<'a, T> {
    elements: Vec<T>,
    batch: &'a [i64],
    size: usize,
}

impl<T> Matrices<'_, T> {
    /// The matrix at a batch position, to which the batch of the factor is broadcast.
    fn at(&self, outer: &[i64]) -> Result<&[T], Stop> {
        let skipped = outer.len().saturating_sub(self.batch.len());
        let place = outer.iter().skip(skipped).zip(self.batch);
        let flat = place.fold(0, |flat, (i, size)| flat * size + if *size == 1 { 0 } else { *i }) as usize;
        let matrix = self.elements.get(flat * self.size..(flat + 1) * self.size);
        matrix.ok_or_else(|| fail("a factor is too short"))
    }
}

/// Appends the product of a matrix of `(rows, k)` and one of `(k, columns)`.
fn product(
    out: &mut Vec<Scalar>,
    x: &[Scalar],
    y: &[Scalar],
    rows: usize,
    columns: usize,
    k: usize,
    zero: Scalar,
) -> Result<(), Stop> {
    for row in 0..rows {
        let row = x.get(row * k..(row + 1) * k).unwrap_or_default();
        for column in 0..columns {
            let column = y.iter().skip(column).step_by(columns.max(1));
            out.push(row.iter().zip(column).try_fold(zero, |sum, (x, y)| multiply_add(sum, *x, *y))?);
        }
    }
    Ok(())
}
