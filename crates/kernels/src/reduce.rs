//! Reductions of lines to one number each.
//!
//! A slice with `count * inner` elements for each outer position is reduced over the middle axis: the elements of a
//! line are `inner` elements apart. Each result is computed from the elements of its line in order, starting with the
//! first one, in float64. Only lines are computed together, never parts of a line.

/// How the elements of a line are reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The largest element, NaN if there is one. Of two zeros the first counts.
    Largest,
    /// The smallest element, NaN if there is one. Of two zeros the first counts.
    Smallest,
}

/// How many lines are reduced together, so that no addition waits for the previous one.
const TOGETHER: usize = 8;

fn reduced<T: Copy + Into<f64>>(x: &[T], count: usize, inner: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    folded(x, count, inner, |_, x| x, |so_far, _, x| f(so_far, x))
}

/// Folds each line; `first` and `next` also get the number of the result.
fn folded<T: Copy + Into<f64>>(
    x: &[T],
    count: usize,
    inner: usize,
    first: impl Fn(usize, f64) -> f64,
    next: impl Fn(f64, usize, f64) -> f64,
) -> Vec<f64> {
    let (count, inner) = (count.max(1), inner.max(1));
    let mut out = vec![0.0; x.len() / count];
    if inner == 1 {
        let lines = x.chunks(TOGETHER * count).zip(out.chunks_mut(TOGETHER)).enumerate();
        for (group, (x, out)) in lines {
            let base = group * TOGETHER;
            if let Ok(out) = <&mut [f64; TOGETHER]>::try_from(&mut *out) {
                let lines: [&[T]; TOGETHER] = std::array::from_fn(|line| &x[line * count..(line + 1) * count]);
                let mut results: [f64; TOGETHER] =
                    std::array::from_fn(|line| first(base + line, lines[line][0].into()));
                for place in 1..count {
                    for (line, (result, x)) in results.iter_mut().zip(lines).enumerate() {
                        *result = next(*result, base + line, x[place].into());
                    }
                }
                *out = results;
                continue;
            }
            for (line, (x, out)) in x.chunks(count).zip(out).enumerate() {
                let start = x.first().map_or(0.0, |x| first(base + line, (*x).into()));
                *out = x.iter().skip(1).fold(start, |so_far, x| next(so_far, base + line, (*x).into()));
            }
        }
        return out;
    }
    for (outer, (x, out)) in x.chunks(count * inner).zip(out.chunks_mut(inner)).enumerate() {
        let base = outer * inner;
        for (place, x) in x.chunks(inner).enumerate() {
            let both = out.iter_mut().zip(x).enumerate();
            if place == 0 {
                both.for_each(|(i, (out, x))| *out = first(base + i, (*x).into()));
            } else {
                both.for_each(|(i, (out, x))| *out = next(*out, base + i, (*x).into()));
            }
        }
    }
    out
}

macro_rules! reductions {
    ($reduced:ident, $squares:ident, $t:ty) => {
        /// Reduces each line.
        pub fn $reduced(reduction: Reduction, x: &[$t], count: usize, inner: usize) -> Vec<f64> {
            match reduction {
                Reduction::Sum => reduced(x, count, inner, |a, b| a + b),
                Reduction::Product => reduced(x, count, inner, |a, b| a * b),
                Reduction::Largest => reduced(x, count, inner, |a, b| if b > a || b.is_nan() { b } else { a }),
                Reduction::Smallest => reduced(x, count, inner, |a, b| if b < a || b.is_nan() { b } else { a }),
            }
        }

        /// The sums of the squared distances of the elements of each line from the number given for it.
        pub fn $squares(x: &[$t], count: usize, inner: usize, from: &[f64]) -> Vec<f64> {
            let square = |line: usize, x: f64| {
                let distance = x - from.get(line).copied().unwrap_or(0.0);
                distance * distance
            };
            folded(x, count, inner, square, |so_far, line, x| so_far + square(line, x))
        }
    };
}
reductions!(reduced_f32, squares_of_f32, f32);
reductions!(reduced_f64, squares_of_f64, f64);

/// The place of the largest or of the smallest element of a line: the first of those that are equal. NaN is larger than
/// all others.
pub fn place_of_f32(is_largest: bool, line: &[f32]) -> usize {
    if is_largest {
        place(line, |x, best| x > best || (x.is_nan() && !best.is_nan()))
    } else {
        place(line, |x, best| x < best || (!x.is_nan() && best.is_nan()))
    }
}

fn place(line: &[f32], is_better: impl Fn(f32, f32) -> bool) -> usize {
    /// How many elements are tested together.
    const BLOCK: usize = 256;
    let (mut at, mut best) = (0, line.first().copied().unwrap_or(0.0));
    for (number, block) in line.chunks(BLOCK).enumerate() {
        if block.iter().fold(false, |any, x| any | is_better(*x, best)) {
            for (i, x) in block.iter().enumerate() {
                if is_better(*x, best) {
                    (at, best) = (number * BLOCK + i, *x);
                }
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_reduced_in_order() {
        // Sums of such numbers show in which order they were computed.
        let number = |i: usize| (i as f64 * 0.73).sin() * 10f64.powi((i * 7 % 31) as i32 - 15);
        for (outer, count, inner) in [(1, 1, 1), (3, 5, 1), (8, 7, 1), (19, 4, 1), (2, 6, 3), (1, 9, 10), (16, 1, 1)] {
            let x: Vec<f64> = (0..outer * count * inner).map(number).collect();
            let line = |result: usize| {
                let (outer, i) = (result / inner, result % inner);
                let x = &x;
                (0..count).map(move |place| x[(outer * count + place) * inner + i])
            };
            let sums = reduced_f64(Reduction::Sum, &x, count, inner);
            let largest = reduced_f64(Reduction::Largest, &x, count, inner);
            let squares = squares_of_f64(&x, count, inner, &sums);
            assert_eq!(sums.len(), outer * inner);
            for result in 0..outer * inner {
                assert_eq!(Some(sums[result]), line(result).reduce(|a, b| a + b));
                assert_eq!(Some(largest[result]), line(result).reduce(f64::max));
                let square = |x: f64| (x - sums[result]) * (x - sums[result]);
                assert_eq!(Some(squares[result]), line(result).map(square).reduce(|a, b| a + b));
            }
        }
    }

    #[test]
    fn of_two_zeros_the_first_is_the_extreme_and_nan_prevails() {
        let zeros = [0.0f32, -0.0, -0.0, 0.0];
        let signs = |reduction| reduced_f32(reduction, &zeros, 2, 1).into_iter().map(f64::is_sign_negative).collect();
        let expected: Vec<bool> = vec![false, true];
        assert_eq!((signs(Reduction::Largest), signs(Reduction::Smallest)), (expected.clone(), expected));
        let of = |reduction| reduced_f32(reduction, &[1.0, f32::NAN, 2.0], 3, 1);
        assert!(of(Reduction::Largest)[0].is_nan() && of(Reduction::Smallest)[0].is_nan());
        assert_eq!(reduced_f32(Reduction::Product, &[2.0, 3.0, 4.0], 3, 1), [24.0]);
    }

    #[test]
    fn the_place_is_the_first_one_and_nan_is_the_largest() {
        let place = |line: &[f32]| (place_of_f32(true, line), place_of_f32(false, line));
        assert_eq!(place(&[1.0, 3.0, 0.0, 3.0, -0.0]), (1, 2));
        assert_eq!(place(&[f32::NAN, 3.0, 0.0, f32::NAN]), (0, 2));
        assert_eq!(place(&[f32::NAN, f32::NAN]), (0, 0));
        let long: Vec<f32> = (0..1000).map(|i| (i * 37 % 991) as f32).collect();
        assert_eq!(place(&long), (long.iter().position(|x| *x == 990.0).unwrap(), 0));
    }
}
