//! The product of two matrices.

use crate::fused;

/// How many rows and columns of the result are computed together: as many sums as fit into registers.
const ROWS: usize = 4;
const COLUMNS: usize = 4;

/// How many rows of the left matrix stay in the cache while the right matrix is read.
const KEPT: usize = 32;

/// Packs rows of the left matrix, or columns of the right one, so that their elements with the same index are adjacent.
pub(crate) fn panels<T: Copy + Default, const N: usize>(
    count: usize,
    places: usize,
    element: impl Fn(usize, usize) -> T,
) -> Vec<[T; N]> {
    let mut panels = Vec::with_capacity(count.div_ceil(N) * places);
    for first in (0..count).step_by(N) {
        for place in 0..places {
            let of = |i: usize| if first + i < count { element(first + i, place) } else { T::default() };
            panels.push(std::array::from_fn(of));
        }
    }
    panels
}

macro_rules! product {
    ($name:ident, $t:ty, $fused:expr, $multiply_add:expr) => {
        /// Writes to `out` the product of `x`, which has `k` columns, and `y`, which has `k` rows; all are row-major.
        /// Each element is a sum that starts at zero and adds its `k` terms one by one, in order.
        pub fn $name(x: &[$t], y: &[$t], out: &mut [$t], k: usize, columns: usize) {
            if columns == 0 || out.is_empty() {
                return;
            }
            if k == 0 {
                return out.fill(<$t>::default());
            }
            if $fused(x, y, &mut *out, k, columns) {
                return;
            }
            let left: Vec<[$t; ROWS]> = panels(out.len() / columns, k, |row, place| x[row * k + place]);
            let right: Vec<[$t; COLUMNS]> = panels(columns, k, |column, place| y[place * columns + column]);
            let kept = left.chunks(KEPT / ROWS * k).zip(out.chunks_mut(KEPT * columns));
            for (left, out) in kept {
                for (across, y) in right.chunks_exact(k).enumerate() {
                    for (x, out) in left.chunks_exact(k).zip(out.chunks_mut(ROWS * columns)) {
                        let mut sums = [[<$t>::default(); COLUMNS]; ROWS];
                        for (x, y) in x.iter().zip(y) {
                            for (sums, x) in sums.iter_mut().zip(x) {
                                for (sum, y) in sums.iter_mut().zip(y) {
                                    *sum = $multiply_add(*sum, *x, *y);
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
    };
}
product!(product_of_floats, f64, fused::product, |sum: f64, x: f64, y: f64| sum + x * y);
product!(product_of_ints, i64, |_, _, _, _, _| false, |sum: i64, x: i64, y: i64| sum.wrapping_add(x.wrapping_mul(y)));
product!(product_of_uints, u64, |_, _, _, _, _| false, |sum: u64, x: u64, y: u64| sum.wrapping_add(x.wrapping_mul(y)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_is_the_sum_of_its_products_in_order() {
        // Sums of such numbers show in which order they were computed.
        let number = |i: usize| (i as f64 * 0.73).sin() * 10f64.powi((i * 7 % 31) as i32 - 15);
        let sizes =
            [(1, 1, 1), (3, 5, 2), (4, 4, 4), (33, 7, 9), (70, 1, 5), (2, 0, 3), (5, 3, 0), (7, 9, 33), (13, 300, 17)];
        // The last sizes have fused instructions, for factors that are float32.
        for ((rows, k, columns), are_single) in sizes.into_iter().flat_map(|sizes| [(sizes, false), (sizes, true)]) {
            let number = |i: usize| if are_single { f64::from(number(i) as f32) } else { number(i) };
            let x: Vec<f64> = (0..rows * k).map(number).collect();
            let y: Vec<f64> = (0..k * columns).map(|i| number(i + 1000)).collect();
            let mut out = vec![f64::NAN; rows * columns];
            product_of_floats(&x, &y, &mut out, k, columns);
            for (i, found) in out.iter().enumerate() {
                let (row, column) = (i / columns, i % columns);
                let sum = (0..k).fold(0.0, |sum, place| sum + x[row * k + place] * y[place * columns + column]);
                assert_eq!(found.to_bits(), sum.to_bits(), "{rows} {k} {columns}: element {i}");
            }
        }
    }

    #[test]
    fn integers_wrap_around() {
        let mut out = [0, 0];
        product_of_ints(&[i64::MAX, 3], &[2, 1, i64::MAX, -1], &mut out, 2, 2);
        assert_eq!(out, [(-2i64).wrapping_add(i64::MAX.wrapping_mul(3)), i64::MAX - 3]);
        let mut out = [0];
        product_of_uints(&[u64::MAX], &[2], &mut out, 1, 1);
        assert_eq!(out, [u64::MAX - 1]);
    }
}
