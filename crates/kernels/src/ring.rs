//! Products of matrices in the ring: the sums of the residues, and those of the sizes.

use crate::product::panels;

/// How many rows of the left matrix stay in the cache while the right matrix is read.
const KEPT: usize = 16;

/// How many rows and columns of the result are computed together, where its elements are sizes.
const ROWS: usize = 2;
const COLUMNS: usize = 16;

/// Writes to `out` the product of `x`, which has `k` columns, and `y`, which has `k` rows; all are row-major. Each
/// element is what `reduced` makes of a sum of products, which is the first number plus the second times 2^128.
pub fn product_of_residues(
    x: &[u64],
    y: &[u64],
    out: &mut [u64],
    k: usize,
    columns: usize,
    reduced: fn(u128, u64) -> u64,
) {
    if columns == 0 || k == 0 {
        return out.fill(reduced(0, 0));
    }
    let right: Vec<[u64; 1]> = panels(columns, k, |column, place| y[place * columns + column]);
    for (x, out) in x.chunks(KEPT * k).zip(out.chunks_mut(KEPT * columns)) {
        for (column, y) in right.chunks_exact(k).enumerate() {
            for (x, out) in x.chunks_exact(k).zip(out.chunks_exact_mut(columns)) {
                let (sum, carries) = sum_of_products(x, y);
                out[column] = reduced(sum, carries);
            }
        }
    }
}

/// The sum, and how often it exceeded 128 bits.
fn sum_of_products(x: &[u64], y: &[[u64; 1]]) -> (u128, u64) {
    let (mut sum, mut carries) = (0u128, 0);
    for (x, [y]) in x.iter().zip(y) {
        let (more, carry) = sum.overflowing_add(u128::from(*x) * u128::from(*y));
        sum = more;
        carries += u64::from(carry);
    }
    (sum, carries)
}

/// Writes to `out` the product of matrices as above. Each element is a sum that starts at zero and adds its terms in
/// order. Each term, and each sum, is cut to the largest finite float, and loses the binary digits that `kept` lacks.
pub fn product_of_sizes(x: &[f64], y: &[f64], out: &mut [f64], k: usize, columns: usize, kept: u64) {
    if columns == 0 || k == 0 {
        return out.fill(0.0);
    }
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let is_small = largest(x) * largest(y) * (k as f64) < f64::MAX / 4.0;
    pulp::Arch::new().dispatch(|| {
        if is_small {
            sums_of_sizes(x, y, out, k, columns, |x| f64::from_bits(x.to_bits() & kept));
        } else {
            sums_of_sizes(x, y, out, k, columns, |x| f64::from_bits(x.clamp(-f64::MAX, f64::MAX).to_bits() & kept));
        }
    });
}

#[inline(always)]
fn sums_of_sizes(x: &[f64], y: &[f64], out: &mut [f64], k: usize, columns: usize, cut: impl Fn(f64) -> f64) {
    let left: Vec<[f64; ROWS]> = panels(out.len() / columns, k, |row, place| x[row * k + place]);
    let right: Vec<[f64; COLUMNS]> = panels(columns, k, |column, place| y[place * columns + column]);
    for (left, out) in left.chunks(KEPT / ROWS * k).zip(out.chunks_mut(KEPT * columns)) {
        for (across, y) in right.chunks_exact(k).enumerate() {
            for (x, out) in left.chunks_exact(k).zip(out.chunks_mut(ROWS * columns)) {
                let mut sums = [[0.0; COLUMNS]; ROWS];
                for (x, y) in x.iter().zip(y) {
                    for (sums, x) in sums.iter_mut().zip(x) {
                        for (sum, y) in sums.iter_mut().zip(y) {
                            *sum = cut(*sum + cut(*x * *y));
                        }
                    }
                }
                for (out, sums) in out.chunks_mut(columns).zip(sums) {
                    out.iter_mut().skip(across * COLUMNS).zip(sums).for_each(|(out, sum)| *out = sum);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [(usize, usize, usize); 6] = [(1, 1, 1), (3, 5, 2), (33, 7, 19), (2, 0, 3), (5, 3, 0), (17, 300, 40)];

    #[test]
    fn residues_are_added_exactly() {
        let number = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 << 63;
        const MODULUS: u128 = (1 << 64) - 59;
        let reduced = |low: u128, carries: u64| {
            let high = (u128::MAX % MODULUS + 1) * u128::from(carries) % MODULUS;
            ((low % MODULUS + high) % MODULUS) as u64
        };
        for (rows, k, columns) in SIZES {
            let x: Vec<u64> = (0..rows * k).map(number).collect();
            let y: Vec<u64> = (0..k * columns).map(|i| number(i + 1000)).collect();
            let mut out = vec![1; rows * columns];
            product_of_residues(&x, &y, &mut out, k, columns, reduced);
            for (i, found) in out.iter().enumerate() {
                let term = |at| u128::from(x[i / columns * k + at]) * u128::from(y[at * columns + i % columns]);
                let sum = (0..k).fold(0, |sum, at| (sum + term(at) % MODULUS) % MODULUS);
                assert_eq!(u128::from(*found), sum, "{rows} {k} {columns}: element {i}");
            }
        }
    }

    #[test]
    fn sizes_are_added_in_order_and_cut_each_time() {
        const KEPT_BITS: u64 = !0xffff;
        let cut = |x: f64| f64::from_bits(x.clamp(-f64::MAX, f64::MAX).to_bits() & KEPT_BITS);
        for ((rows, k, columns), exponent) in SIZES.into_iter().flat_map(|sizes| [(sizes, 15), (sizes, 150)]) {
            let number = |i: usize| cut((i as f64 * 0.73).sin() * 10f64.powi((i * 7 % 31) as i32 - 15 + exponent));
            let x: Vec<f64> = (0..rows * k).map(number).collect();
            let y: Vec<f64> = (0..k * columns).map(|i| number(i + 1000)).collect();
            let mut out = vec![f64::NAN; rows * columns];
            product_of_sizes(&x, &y, &mut out, k, columns, KEPT_BITS);
            for (i, found) in out.iter().enumerate() {
                let term = |at| x[i / columns * k + at] * y[at * columns + i % columns];
                let sum = (0..k).fold(0.0, |sum, at| cut(sum + cut(term(at))));
                assert_eq!(found.to_bits(), sum.to_bits(), "{rows} {k} {columns}: element {i}");
            }
        }
    }
}
