//! Arithmetic on two slices, element by element.

use pulp::{Arch, Simd, WithSimd};

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
    /// The larger one; NaN if one is NaN. Of two zeros the first counts.
    Larger,
    /// The smaller one; NaN if one is NaN. Of two zeros the first counts.
    Smaller,
}

/// A comparison of two numbers. NaN is only unequal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `x == y`.
    Equal,
    /// `x != y`.
    Unequal,
    /// `x < y`.
    Less,
    /// `x <= y`.
    AtMost,
    /// `x > y`.
    Greater,
    /// `x >= y`.
    AtLeast,
}

/// A function of one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// The number without its sign.
    Magnitude,
    /// The number with the opposite sign.
    Negation,
    /// -1 or 1; a zero and NaN stay as they are.
    Sign,
    /// The product with itself.
    Square,
    /// The square root.
    SquareRoot,
    /// The next integer that is not below.
    Ceiling,
    /// The next integer that is not above.
    Floor,
    /// The nearest integer, ties to even.
    Nearest,
    /// The next integer towards zero.
    Truncation,
}

/// A property of a float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// Neither infinite nor NaN.
    Finite,
    /// Infinite.
    Infinite,
    /// NaN.
    NotANumber,
}

/// Writes for each element whether it has the property.
pub fn predicate_of_f32(predicate: Predicate, x: &[f32], out: &mut [bool]) {
    fn map(x: &[f32], out: &mut [bool], f: impl Fn(f32) -> bool) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = f(*x));
    }
    match predicate {
        Predicate::Finite => map(x, out, f32::is_finite),
        Predicate::Infinite => map(x, out, f32::is_infinite),
        Predicate::NotANumber => map(x, out, f32::is_nan),
    }
}

/// Applies a function to operands that have one element for each element of the result, or a single one.
fn each<T: Copy, U>(x: &[T], y: &[T], out: &mut [U], f: impl Fn(T, T) -> U) {
    match (x, y) {
        ([x], [y]) => out.iter_mut().for_each(|out| *out = f(*x, *y)),
        ([x], y) => out.iter_mut().zip(y).for_each(|(out, y)| *out = f(*x, *y)),
        (x, [y]) => out.iter_mut().zip(x).for_each(|(out, x)| *out = f(*x, *y)),
        (x, y) => out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (x, y))| *out = f(*x, *y)),
    }
}

macro_rules! arithmetic {
    ($name:ident, $compare:ident, $t:ty, $sum:expr, $difference:expr, $product:expr, $quotient:expr, $is_nan:expr) => {
        /// Applies the operation to the elements of `x` and `y` at each index of `out`. Each operand has as many
        /// elements as `out`, or a single one for all indices.
        pub fn $name(operation: Arithmetic, x: &[$t], y: &[$t], out: &mut [$t]) {
            match operation {
                Arithmetic::Sum => each(x, y, out, $sum),
                Arithmetic::Difference => each(x, y, out, $difference),
                Arithmetic::Product => each(x, y, out, $product),
                Arithmetic::Quotient => each(x, y, out, $quotient),
                Arithmetic::Larger => each(x, y, out, |x, y| if x < y || $is_nan(y) { y } else { x }),
                Arithmetic::Smaller => each(x, y, out, |x, y| if y < x || $is_nan(y) { y } else { x }),
            }
        }

        /// Compares the elements of `x` and `y` at each index of `out`. Each operand has as many elements as `out`, or
        /// a single one for all indices.
        pub fn $compare(comparison: Comparison, x: &[$t], y: &[$t], out: &mut [bool]) {
            match comparison {
                Comparison::Equal => each(x, y, out, |x, y| x == y),
                Comparison::Unequal => each(x, y, out, |x, y| x != y),
                Comparison::Less => each(x, y, out, |x, y| x < y),
                Comparison::AtMost => each(x, y, out, |x, y| x <= y),
                Comparison::Greater => each(x, y, out, |x, y| x > y),
                Comparison::AtLeast => each(x, y, out, |x, y| x >= y),
            }
        }
    };
}
// The plain definition computes in float64 and rounds to float32. Float64 has more than twice the digits of float32
// plus two, so float32 arithmetic gives the same result (S. A. Figueroa, When is double rounding innocuous?, 1995).
arithmetic!(
    arithmetic_of_f32,
    comparison_of_f32,
    f32,
    |x, y| x + y,
    |x, y| x - y,
    |x, y| x * y,
    |x, y| x / y,
    f32::is_nan
);
arithmetic!(
    arithmetic_of_f64,
    comparison_of_f64,
    f64,
    |x, y| x + y,
    |x, y| x - y,
    |x, y| x * y,
    |x, y| x / y,
    f64::is_nan
);
arithmetic!(
    arithmetic_of_i32,
    comparison_of_i32,
    i32,
    i32::wrapping_add,
    i32::wrapping_sub,
    i32::wrapping_mul,
    |x, _| x,
    |_| false
);
arithmetic!(
    arithmetic_of_i64,
    comparison_of_i64,
    i64,
    i64::wrapping_add,
    i64::wrapping_sub,
    i64::wrapping_mul,
    |x, _| x,
    |_| false
);

/// Applies the function to each element. In float32 it gives what float64 rounded to float32 gives, for the root as for
/// the operations on two numbers.
pub fn unary_of_f32(function: Unary, x: &[f32], out: &mut [f32]) {
    fn map(x: &[f32], out: &mut [f32], f: impl Fn(f32) -> f32) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = f(*x));
    }
    match function {
        Unary::Magnitude => map(x, out, f32::abs),
        Unary::Negation => map(x, out, |x| -x),
        Unary::Sign => map(x, out, |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }),
        Unary::Square => map(x, out, |x| x * x),
        Unary::SquareRoot => map(x, out, f32::sqrt),
        // Older processors have no instruction that rounds to an integer.
        Unary::Ceiling => Arch::new().dispatch(Rounding { x, out, round: f32::ceil }),
        Unary::Floor => Arch::new().dispatch(Rounding { x, out, round: f32::floor }),
        Unary::Nearest => Arch::new().dispatch(Rounding { x, out, round: f32::round_ties_even }),
        Unary::Truncation => Arch::new().dispatch(Rounding { x, out, round: f32::trunc }),
    }
}

struct Rounding<'a, F> {
    x: &'a [f32],
    out: &'a mut [f32],
    round: F,
}

impl<F: Fn(f32) -> f32> WithSimd for Rounding<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out.iter_mut().zip(self.x).for_each(|(out, x)| *out = (self.round)(*x));
    }
}

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
    #[test]
    fn functions_of_float32_round_as_float64_rounded_to_it() {
        let x: Vec<f32> = (0..100_000u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_761))).collect();
        for (function, wide) in [
            (Unary::Square, (|x| x * x) as fn(f64) -> f64),
            (Unary::SquareRoot, f64::sqrt),
            (Unary::Ceiling, f64::ceil),
            (Unary::Floor, f64::floor),
            (Unary::Nearest, f64::round_ties_even),
            (Unary::Truncation, f64::trunc),
            (Unary::Magnitude, f64::abs),
            (Unary::Negation, |x| -x),
        ] {
            let mut out = vec![0.0; x.len()];
            unary_of_f32(function, &x, &mut out);
            for (x, out) in x.iter().zip(out) {
                let expected = wide(f64::from(*x)) as f32;
                assert!(
                    out.to_bits() == expected.to_bits() || (out.is_nan() && expected.is_nan()),
                    "{function:?}: {x}"
                );
            }
        }
    }

    #[test]
    fn nan_is_the_larger_and_the_smaller_and_compares_with_nothing() {
        let (x, y) = ([f32::NAN, 1.0, 0.0, 2.0], [1.0, f32::NAN, -0.0, 3.0]);
        let mut out = [0.0; 4];
        arithmetic_of_f32(Arithmetic::Larger, &x, &y, &mut out);
        assert!(out[0].is_nan() && out[1].is_nan() && out[2].is_sign_positive() && out[3] == 3.0);
        arithmetic_of_f32(Arithmetic::Smaller, &x, &y, &mut out);
        assert!(out[0].is_nan() && out[1].is_nan() && out[2].is_sign_positive() && out[3] == 2.0);
        let compared = |comparison| {
            let mut out = [false; 4];
            comparison_of_f32(comparison, &x, &y, &mut out);
            out
        };
        assert_eq!(compared(Comparison::Unequal), [true, true, false, true]);
        assert_eq!(compared(Comparison::AtMost), [false, false, true, true]);
        assert_eq!(compared(Comparison::Less), [false, false, false, true]);
    }
}
