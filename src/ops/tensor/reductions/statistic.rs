//! The fast implementation of the reductions of floats: loops over the lines of a slice.

use kernels::{Reduction, reduced_f32, reduced_f64, squares_of_f32, squares_of_f64};

use crate::ops::EvalArgs;
use crate::ops::kernel::{self, floats, lanes};
use crate::ops::tensor::search::LineOrder;
use crate::value::{Elements, Host, Stop, Tensor, Value};

/// What is computed from the elements that are reduced to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Statistic {
    Sum,
    Product,
    Mean,
    Largest,
    Smallest,
    /// The mean of the squared distances from the mean.
    Variance,
    /// The square root of the variance.
    Deviation,
}

impl Statistic {
    /// The result of the definition, bit for bit, for as many steps. `None` if the elements have no floating-point
    /// type with a loop, if they are not in lines, or if there are none.
    pub(super) fn in_lines(self, m: &mut dyn Host, a: &EvalArgs<'_>, axes: &[usize]) -> Result<Option<Value>, Stop> {
        let x = kernel::tensor(a, 0)?;
        let Some((count, inner)) = lines(x.shape(), axes).filter(|_| lanes::are_wanted(m) && !x.is_empty()) else {
            return Ok(None);
        };
        let results = match &*x.elements() {
            Elements::Float32(x) => x.as_slice().map(|x| {
                self.of_lines(
                    count,
                    |reduction| reduced_f32(reduction, x, count, inner),
                    |from| squares_of_f32(x, count, inner, from),
                )
            }),
            Elements::Float64(x) => x.as_slice().map(|x| {
                self.of_lines(
                    count,
                    |reduction| reduced_f64(reduction, x, count, inner),
                    |from| squares_of_f64(x, count, inner, from),
                )
            }),
            _ => None,
        };
        let Some(results) = results else { return Ok(None) };
        m.spend(x.len() as u64)?;
        let kernel::Out { dtype, shape } = kernel::out(a)?;
        floats::tensor(m, dtype, &shape, &results, floats::take).map(Some)
    }

    fn of_lines(
        self,
        count: usize,
        reduced: impl Fn(Reduction) -> Vec<f64>,
        squares: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Vec<f64> {
        let mean = |sums: Vec<f64>| sums.into_iter().map(|sum| sum / count as f64).collect::<Vec<f64>>();
        let variance = || mean(squares(&mean(reduced(Reduction::Sum))));
        match self {
            Statistic::Sum => reduced(Reduction::Sum),
            Statistic::Product => reduced(Reduction::Product),
            Statistic::Largest => reduced(Reduction::Largest),
            Statistic::Smallest => reduced(Reduction::Smallest),
            Statistic::Mean => mean(reduced(Reduction::Sum)),
            Statistic::Variance => variance(),
            Statistic::Deviation => variance().into_iter().map(f64::sqrt).collect(),
        }
    }
}

/// The places of the extremes of lines of adjacent float32, for the steps of the definition. `None` for other elements.
pub(super) fn places_in_lines(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    axes: &[usize],
    is_largest: bool,
    order: LineOrder,
) -> Result<Option<Value>, Stop> {
    let x = kernel::tensor(a, 0)?;
    let fits = lanes::are_wanted(m) && !order.is_literal() && !x.is_empty();
    let places: Option<Vec<i64>> = match (lines(x.shape(), axes).filter(|_| fits), &*x.elements()) {
        (Some((count, 1)), Elements::Float32(x)) => x
            .as_slice()
            .map(|x| x.chunks_exact(count).map(|line| kernels::place_of_f32(is_largest, line) as i64).collect()),
        _ => None,
    };
    let Some(places) = places else { return Ok(None) };
    m.spend(x.len() as u64)?;
    let kernel::Out { dtype, shape } = kernel::out(a)?;
    floats::tensor(m, dtype, &shape, &places, Tensor::take_all).map(Some)
}

/// The lines of adjacent axes: the number of their elements, and the distance between these. `None` if the axes are not
/// adjacent.
fn lines(shape: &[i64], axes: &[usize]) -> Option<(usize, usize)> {
    let (first, last) = (axes.iter().min()?, axes.iter().max()?);
    let size = |axes: std::ops::RangeInclusive<usize>| {
        let mut sizes = shape.get(axes)?.iter().map(|size| usize::try_from(*size).ok());
        sizes.try_fold(1usize, |count, size| count.checked_mul(size?))
    };
    let is_whole = (*first..=*last).all(|axis| axes.contains(&axis));
    let inner = if *last + 1 < shape.len() { size(*last + 1..=shape.len() - 1)? } else { 1 };
    is_whole.then_some((size(*first..=*last)?, inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_axes_have_lines() {
        assert_eq!(lines(&[2, 3, 4, 5], &[1, 2]), Some((12, 5)));
        assert_eq!(lines(&[2, 3, 4, 5], &[3, 2]), Some((20, 1)));
        assert_eq!(lines(&[2, 3, 4, 5], &[0, 2]), None);
        assert_eq!(lines(&[2, 3], &[0, 1]), Some((6, 1)));
        assert_eq!(lines(&[], &[]), None);
    }
}
