//! Normalization of the lines of a slice.

/// What is done with each line of adjacent elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Normalization<'a> {
    /// The number of elements of a line.
    pub length: usize,
    /// Whether the mean is subtracted first.
    pub is_centered: bool,
    /// What is added to the mean of the squares before the root is taken.
    pub epsilon: f64,
    /// The factors of the elements of a line.
    pub factors: Option<&'a [f64]>,
    /// What is added to the elements of a line in the end.
    pub terms: Option<&'a [f64]>,
}

impl Normalization<'_> {
    /// Writes each line, divided by the root of the mean of its squares. All is computed in float64, and rounded in the
    /// end.
    pub fn of_f32(self, x: &[f32], out: &mut [f32]) {
        let length = self.length.max(1);
        let (mut line, mut squares) = (vec![0.0; length], vec![0.0; length]);
        for (x, out) in x.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
            line.iter_mut().zip(x).for_each(|(line, x)| *line = f64::from(*x));
            if self.is_centered {
                let mean = sum_by_eight(&line) / length as f64;
                line.iter_mut().for_each(|x| *x -= mean);
            }
            squares.iter_mut().zip(&line).for_each(|(square, x)| *square = x * x);
            let root = (sum_by_eight(&squares) / length as f64 + self.epsilon).sqrt();
            line.iter_mut().for_each(|x| *x /= root);
            if let Some(factors) = self.factors {
                line.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
            }
            if let Some(terms) = self.terms {
                line.iter_mut().zip(terms).for_each(|(x, term)| *x += term);
            }
            out.iter_mut().zip(&line).for_each(|(out, x)| *out = *x as f32);
        }
    }
}

/// The sum as `ndarray` adds adjacent elements: eight sums of every eighth element, each added to the one four places
/// further, then these in order, then the last elements. All start at zero.
fn sum_by_eight(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (parts, rest) = x.as_chunks::<8>();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = 0.0 + (a + e) + (b + f) + (c + g) + (d + h);
    rest.iter().fold(sum, |sum, x| sum + x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_mean_and_the_deviation_that_are_wanted() {
        let x = [1.0, 2.0, 3.0, 6.0, 5.0, 5.0, 5.0, 5.0];
        let mut out = [0.0; 8];
        let plain = Normalization { length: 4, is_centered: true, epsilon: 0.0, factors: None, terms: None };
        plain.of_f32(&x, &mut out);
        assert!(out[..4].iter().sum::<f32>().abs() < 1e-6 && out[4..].iter().all(|x| x.is_nan()));
        assert!((out[..4].iter().map(|x| x * x).sum::<f32>() - 4.0).abs() < 1e-6);
        let (factors, terms) = ([2.0; 4], [1.0, 0.0, 0.0, 0.0]);
        let all = Normalization { epsilon: 1.0, factors: Some(&factors), terms: Some(&terms), ..plain };
        all.of_f32(&x, &mut out);
        assert_eq!(out[4..], [1.0, 0.0, 0.0, 0.0]);
        let squares = Normalization { is_centered: false, ..plain };
        squares.of_f32(&x, &mut out);
        assert_eq!(out[4..], [1.0; 4]);
    }

    #[test]
    fn the_order_of_addition_is_by_eight() {
        let x: Vec<f64> = (0..21).map(|i| f64::from(i).sin() * 10f64.powi(i * 7 % 31 - 15)).collect();
        let sums: Vec<f64> = (0..8).map(|i| 0.0 + x[i] + x[i + 8]).collect();
        let fourth = (0..4).fold(0.0, |sum, i| sum + (sums[i] + sums[i + 4]));
        assert_eq!(sum_by_eight(&x), x[16..].iter().fold(fourth, |sum, x| sum + x));
        assert!(sum_by_eight(&[-0.0]).is_sign_positive());
    }
}
