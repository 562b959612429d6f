//! Arithmetic on two slices, element by element.

/// An operation on two numbers. Integers wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// `x + y`.
    Sum,
    /// `x - y`.
    Difference,
    /// `x * y`.
    Product,
    /// `x / y`, only for floats.
    Quotient,
}

/// Applies a function to operands that have one element for each element of the result, or a single one.
fn each<T: Copy>(x: &[T], y: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
    match (x, y) {
        ([x], [y]) => out.fill(f(*x, *y)),
        ([x], y) => out.iter_mut().zip(y).for_each(|(out, y)| *out = f(*x, *y)),
        (x, [y]) => out.iter_mut().zip(x).for_each(|(out, x)| *out = f(*x, *y)),
        (x, y) => out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (x, y))| *out = f(*x, *y)),
    }
}

macro_rules! arithmetic {
    ($name:ident, $t:ty, $sum:expr, $difference:expr, $product:expr, $quotient:expr) => {
        /// Applies the operation to the elements of `x` and `y` at each index of `out`. Each operand has as many
        /// elements as `out`, or a single one for all indices.
        pub fn $name(operation: Arithmetic, x: &[$t], y: &[$t], out: &mut [$t]) {
            match operation {
                Arithmetic::Sum => each(x, y, out, $sum),
                Arithmetic::Difference => each(x, y, out, $difference),
                Arithmetic::Product => each(x, y, out, $product),
                Arithmetic::Quotient => each(x, y, out, $quotient),
            }
        }
    };
}
// The plain definition computes in float64 and rounds to float32. Float64 has more than twice the digits of float32
// plus two, so float32 arithmetic gives the same result (S. A. Figueroa, When is double rounding innocuous?, 1995).
arithmetic!(arithmetic_of_f32, f32, |x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y);
arithmetic!(arithmetic_of_f64, f64, |x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y);
arithmetic!(arithmetic_of_i32, i32, i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul, |x, _| x);
arithmetic!(arithmetic_of_i64, i64, i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul, |x, _| x);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float32_rounds_as_float64_rounded_to_it() {
        let number = |i: u32| f32::from_bits(i.wrapping_mul(2_654_435_761));
        let (x, y): (Vec<f32>, Vec<f32>) = (0..100_000).map(|i| (number(i), number(i * 7 + 3))).unzip();
        for (operation, wide) in [
            (Arithmetic::Sum, (|x, y| x + y) as fn(f64, f64) -> f64),
            (Arithmetic::Difference, |x, y| x - y),
            (Arithmetic::Product, |x, y| x * y),
            (Arithmetic::Quotient, |x, y| x / y),
        ] {
            let mut out = vec![0.0; x.len()];
            arithmetic_of_f32(operation, &x, &y, &mut out);
            for ((x, y), out) in x.iter().zip(&y).zip(out) {
                let expected = wide(f64::from(*x), f64::from(*y)) as f32;
                assert!(out.to_bits() == expected.to_bits() || (out.is_nan() && expected.is_nan()), "{x} and {y}");
            }
        }
    }

    #[test]
    fn one_element_serves_all_places() {
        let mut out = [0; 3];
        arithmetic_of_i32(Arithmetic::Difference, &[i32::MIN], &[1, 2, 3], &mut out);
        assert_eq!(out, [i32::MAX, i32::MAX - 1, i32::MAX - 2]);
        arithmetic_of_i32(Arithmetic::Product, &[1, 2, 3], &[2], &mut out);
        assert_eq!(out, [2, 4, 6]);
    }
}
