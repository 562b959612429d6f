//! Interpolation: the elements along each axis that contribute to a coordinate, and their weights.

use crate::ops::kernel::at;
use crate::value::{Element, Stop, Tensor};

/// An element along an axis with its weight. `None` stands for a zero outside the image.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tap {
    pub(super) place: Option<i64>,
    pub(super) weight: f64,
}

/// The two integer coordinates around `x`.
pub(super) fn linear(x: f64) -> Vec<(i64, f64)> {
    let (first, t) = split(x);
    vec![(first, 1.0 - t), (first.saturating_add(1), t)]
}

/// The four integer coordinates around `x`, by cubic convolution with the coefficient `alpha`.
pub(super) fn cubic(x: f64, alpha: f64) -> Vec<(i64, f64)> {
    let (first, t) = split(x);
    let near = |t: f64| ((alpha + 2.0) * t - (alpha + 3.0)) * t * t + 1.0;
    let far = |t: f64| alpha * t * (1.0 - t) * (1.0 - t);
    let weights = [far(t), near(t), near(1.0 - t), far(1.0 - t)];
    (-1i64..).zip(weights).map(|(i, weight)| (first.saturating_add(i), weight)).collect()
}

fn split(x: f64) -> (i64, f64) {
    (x.floor() as i64, x - x.floor())
}

/// The sum over all combinations of the axes' taps: the element times its weights.
pub(super) fn weighted(x: &Tensor, place: &mut [i64], axes: &[(usize, &[Tap])]) -> Result<f64, Stop> {
    let Some(((axis, taps), rest)) = axes.split_first() else { return at(x, place).map(Element::from_scalar) };
    let mut sum = 0.0;
    for tap in *taps {
        let Some(found) = tap.place else { continue };
        if let Some(slot) = place.get_mut(*axis) {
            *slot = found;
        }
        sum += weighted(x, place, rest)? * tap.weight;
    }
    Ok(sum)
}
