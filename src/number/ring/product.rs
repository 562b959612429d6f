//! The product of matrices, with the same numbers as sums of products one by one: residues are added exactly, sizes in
//! order.

use super::{NoResidue, Residue, RingNumber, TERMS, Terms};

/// What the terms of a sum have in common, which are a row or a column of a factor.
#[derive(Clone, Copy, Default)]
struct Line {
    /// The functions that were used to compute them.
    terms: u16,
    /// The first one without a residue.
    missing: Option<(usize, NoResidue)>,
}

impl Line {
    fn of<'a>(numbers: impl Iterator<Item = &'a RingNumber>) -> Line {
        let mut line = Line::default();
        for (place, number) in numbers.enumerate() {
            line.terms |= number.terms().0;
            line.missing = line.missing.or_else(|| number.missing().map(|reason| (place, reason)));
        }
        line
    }

    /// The reason why a sum of products with another line has no residue: the first one, in the order of the terms.
    fn reason(self, other: Line) -> Option<NoResidue> {
        match (self.missing, other.missing) {
            (Some((own, reason)), Some((theirs, _))) if own <= theirs => Some(reason),
            (_, Some((_, reason))) | (Some((_, reason)), None) => Some(reason),
            (None, None) => None,
        }
    }
}

impl RingNumber {
    /// Writes to `out` the product of `x`, which has `k` columns, and `y`, which has `k` rows; all are row-major.
    pub fn product(x: &[RingNumber], y: &[RingNumber], out: &mut [RingNumber], k: usize, columns: usize) {
        let residues = |numbers: &[RingNumber]| -> Vec<u64> {
            numbers.iter().map(|number| number.residue().map_or(0, Residue::bits)).collect()
        };
        let sizes = |numbers: &[RingNumber]| -> Vec<f64> { numbers.iter().map(|number| number.size()).collect() };
        let (mut sums, mut size_sums) = (vec![0; out.len()], vec![0.0; out.len()]);
        let reduced = |sum, carries| Residue::of_sum(sum, carries).bits();
        kernels::product_of_residues(&residues(x), &residues(y), &mut sums, k, columns, reduced);
        kernels::product_of_sizes(&sizes(x), &sizes(y), &mut size_sums, k, columns, !TERMS);
        let rows: Vec<Line> = x.chunks(k.max(1)).map(|row| Line::of(row.iter())).collect();
        let across: Vec<Line> = (0..columns).map(|column| Line::of(y.iter().skip(column).step_by(columns))).collect();
        for (i, (out, (sum, size))) in out.iter_mut().zip(sums.into_iter().zip(size_sums)).enumerate() {
            let row = rows.get(i / columns).copied().unwrap_or_default();
            let column = across.get(i % columns).copied().unwrap_or_default();
            let residue = row.reason(column).map_or(Ok(Residue::of_bits(sum)), Err);
            *out = RingNumber::new(residue, size, Terms(row.terms | column.terms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Function, Real};
    use super::*;

    /// A number of one of several kinds: without a residue, with a large size or none, with functions.
    fn number(i: u64) -> RingNumber {
        let x = RingNumber::drawn(i, (i as f64 * 0.73).sin() * 10f64.powi((i * 7 % 31) as i32 - 15));
        match i * 11 % 97 {
            0 => RingNumber::of_float(f64::INFINITY),
            1 => RingNumber::of_float(1.0).over(RingNumber::default()),
            2 => RingNumber::drawn(i, 1e300),
            3 => RingNumber::drawn(i, f64::NAN),
            4..8 => x.applied(Function { name: "tanh", float: libm::tanh }),
            8 => RingNumber::default(),
            _ => x,
        }
    }

    #[test]
    fn a_product_of_matrices_is_that_of_its_sums() {
        for (rows, k, columns) in [(3, 4, 5), (1, 1, 1), (2, 0, 2), (9, 40, 11), (20, 5, 33)] {
            let x: Vec<RingNumber> = (0..rows * k).map(|i| number(i as u64)).collect();
            let y: Vec<RingNumber> = (0..k * columns).map(|i| number(i as u64 + 5000)).collect();
            let mut out = vec![RingNumber::drawn(1, 1.0); rows * columns];
            RingNumber::product(&x, &y, &mut out, k, columns);
            for (i, found) in out.iter().enumerate() {
                let term = |at: usize| x[i / columns * k + at].times(y[at * columns + i % columns]);
                let sum = (0..k).fold(RingNumber::default(), |sum, at| sum.plus(term(at)));
                assert_eq!(found.bytes(), sum.bytes(), "{rows} {k} {columns}: element {i}");
            }
        }
    }
}
