//! Products of matrices with vector instructions that multiply and add at once, on processors that have them.
//!
//! Such an instruction rounds once, where a multiplication and an addition round twice. If the product of two factors
//! is exact, both give the same sum. The product of two float32 is exact in float64: it has at most 48 binary digits,
//! and its exponent is far from the limits.

use std::ops::Range;

use pulp::{Simd, WithSimd};

/// How many rows of the result, and how many vectors of each row, are computed together.
const ROWS: usize = 6;
const VECTORS: usize = 2;

/// How many terms are added to each sum before the next ones: as many as the first level of the cache holds.
const TERMS: usize = 256;

/// Writes the product of `x`, with `k` columns, and `y` to `out`, which has `columns` columns and is not empty. Each
/// element is a sum that starts at zero and adds its terms in order. Returns false and writes nothing if the processor
/// has no such instruction, or if a factor is not a float32.
pub(crate) fn product(x: &[f64], y: &[f64], out: &mut [f64], k: usize, columns: usize) -> bool {
    let product = Product { x, y, out, k, columns };
    // Rows and columns of fewer elements are not worth the packing.
    let are_single = || [x, y].iter().all(|factor| factor.iter().all(|x| is_single(*x)));
    if k < 8 || columns < 4 || !are_single() {
        return false;
    }
    run(product)
}

fn is_single(x: f64) -> bool {
    f64::from(x as f32) == x || x.is_nan()
}

#[cfg(target_arch = "x86_64")]
fn run(product: Product<'_>) -> bool {
    if let Some(simd) = pulp::x86::V4::try_new() {
        Simd::vectorize(simd, product);
        return true;
    }
    let simd = pulp::x86::V3::try_new();
    simd.map(|simd| Simd::vectorize(simd, product)).is_some()
}

#[cfg(target_arch = "aarch64")]
fn run(product: Product<'_>) -> bool {
    let simd = pulp::aarch64::Neon::try_new();
    simd.map(|simd| Simd::vectorize(simd, product)).is_some()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn run(_: Product<'_>) -> bool {
    false
}

struct Product<'a> {
    x: &'a [f64],
    y: &'a [f64],
    out: &'a mut [f64],
    k: usize,
    columns: usize,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Product { x, y, out, k, columns } = self;
        let (width, rows) = (VECTORS * S::F64_LANES, out.len() / columns);
        let mut tile = vec![0.0; ROWS * width];
        out.fill(0.0);
        for (number, y) in y.chunks(TERMS * columns).enumerate() {
            let terms = number * TERMS..number * TERMS + y.len() / columns;
            let right = packed_columns(y, columns, width);
            let left = packed_rows(x, rows, k, terms.clone());
            for (panel, y) in right.chunks_exact(terms.len() * width).enumerate() {
                let first = panel * width;
                let own = width.min(columns - first);
                for (x, out) in left.chunks_exact(terms.len()).zip(out.chunks_mut(ROWS * columns)) {
                    if own == width {
                        multiply_add(simd, x, y, out.chunks_mut(columns).map(|out| &mut out[first..first + width]));
                        continue;
                    }
                    for (out, tile) in out.chunks(columns).zip(tile.chunks_exact_mut(width)) {
                        tile[..own].copy_from_slice(&out[first..first + own]);
                    }
                    multiply_add(simd, x, y, tile.chunks_exact_mut(width));
                    for (out, tile) in out.chunks_mut(columns).zip(tile.chunks_exact(width)) {
                        out[first..first + own].copy_from_slice(&tile[..own]);
                    }
                }
            }
        }
    }
}

/// Adds products to the sums in the rows of a tile of the result, of which there may be fewer than `ROWS`.
#[inline(always)]
fn multiply_add<'a, S: Simd>(simd: S, x: &[[f64; ROWS]], y: &[f64], tile: impl Iterator<Item = &'a mut [f64]>) {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
    let mut rows: [&mut [S::f64s]; ROWS] = Default::default();
    for ((row, tile), sums) in rows.iter_mut().zip(tile).zip(&mut sums) {
        *row = S::as_mut_simd_f64s(tile).0;
        sums.iter_mut().zip(&**row).for_each(|(sum, start)| *sum = *start);
    }
    let (y, _) = pulp::as_arrays::<VECTORS, S::f64s>(S::as_simd_f64s(y).0);
    for (x, y) in x.iter().zip(y) {
        for (sums, x) in sums.iter_mut().zip(x) {
            let x = simd.splat_f64s(*x);
            for (sum, y) in sums.iter_mut().zip(y) {
                *sum = simd.mul_add_f64s(x, *y, *sum);
            }
        }
    }
    for (row, sums) in rows.into_iter().zip(sums) {
        row.iter_mut().zip(sums).for_each(|(row, sum)| *row = sum);
    }
}

/// These elements of the rows, so that those of adjacent rows with the same index are adjacent.
fn packed_rows(x: &[f64], rows: usize, k: usize, terms: Range<usize>) -> Vec<[f64; ROWS]> {
    let mut packed = vec![[0.0; ROWS]; rows.div_ceil(ROWS) * terms.len()];
    for (panel, x) in packed.chunks_exact_mut(terms.len()).zip(x.chunks(ROWS * k)) {
        for (row, x) in x.chunks_exact(k).enumerate() {
            panel.iter_mut().zip(&x[terms.clone()]).for_each(|(panel, x)| panel[row] = *x);
        }
    }
    packed
}

/// The rows cut into panels of `width` columns, one after the other, with zeros for columns that do not exist.
fn packed_columns(y: &[f64], columns: usize, width: usize) -> Vec<f64> {
    let terms = y.len() / columns;
    let mut packed = vec![0.0; columns.div_ceil(width) * terms * width];
    for (panel, packed) in packed.chunks_exact_mut(terms * width).enumerate() {
        let first = panel * width;
        let own = width.min(columns - first);
        for (packed, y) in packed.chunks_exact_mut(width).zip(y.chunks_exact(columns)) {
            packed[..own].copy_from_slice(&y[first..first + own]);
        }
    }
    packed
}
