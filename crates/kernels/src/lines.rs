//! Arithmetic on lines of a slice, with one number for each line.

use crate::Arithmetic;

/// Applies the operation to each element and the number for its line. All lines have this length, and the numbers are
/// those of the lines in order; after the last number, the first follows again.
pub fn arithmetic_by_line(operation: Arithmetic, x: &mut [f64], length: usize, y: &[f64]) {
    match operation {
        Arithmetic::Sum => by_line(x, length, y, |x, y| x + y),
        Arithmetic::Difference => by_line(x, length, y, |x, y| x - y),
        Arithmetic::Product => by_line(x, length, y, |x, y| x * y),
        Arithmetic::Quotient => by_line(x, length, y, |x, y| x / y),
        Arithmetic::Larger => by_line(x, length, y, |x, y| if x < y || y.is_nan() { y } else { x }),
        Arithmetic::Smaller => by_line(x, length, y, |x, y| if y < x || y.is_nan() { y } else { x }),
    }
}

fn by_line(x: &mut [f64], length: usize, y: &[f64], f: impl Fn(f64, f64) -> f64) {
    if length == 1 {
        for x in x.chunks_mut(y.len().max(1)) {
            x.iter_mut().zip(y).for_each(|(x, y)| *x = f(*x, *y));
        }
        return;
    }
    for (x, y) in x.chunks_mut(length.max(1)).zip(y.iter().cycle()) {
        x.iter_mut().for_each(|x| *x = f(*x, *y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_number() {
        let mut x: Vec<f64> = (0..12).map(f64::from).collect();
        arithmetic_by_line(Arithmetic::Difference, &mut x, 3, &[0.0, 3.0]);
        assert_eq!(x, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 6.0, 7.0, 8.0, 6.0, 7.0, 8.0]);
        arithmetic_by_line(Arithmetic::Product, &mut x, 1, &[1.0, 0.0, 2.0, 0.5]);
        assert_eq!(x, [0.0, 0.0, 4.0, 0.0, 1.0, 0.0, 12.0, 3.5, 8.0, 0.0, 14.0, 4.0]);
    }
}
