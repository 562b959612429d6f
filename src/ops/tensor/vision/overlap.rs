//! Common parts of box selection: the overlap of boxes, and their order.

use std::cmp::Ordering;

use crate::ops::kernel::{self, fail};
use crate::value::{Held, Host, Stop, Tensor};

/// The sizes of batch, boxes and numbers per box.
pub(super) fn sizes(x: &Tensor) -> Result<[i64; 3], Stop> {
    x.shape().try_into().map_err(|_| fail("boxes have batch, number and length"))
}

/// Charges `times` steps for each element, and memory besides the tensor. A tensor without elements still has lists.
pub(super) fn pay(m: &mut dyn Host, x: &Tensor, times: u64) -> Result<Held, Stop> {
    let places = kernel::places(x.shape());
    m.spend(places.saturating_mul(times))?;
    kernel::beside(m, places.saturating_mul(2))
}

/// The corners of a box. Its area must be finite.
pub(super) fn bounded(corners: [f64; 4]) -> Result<[f64; 4], Stop> {
    if area(corners).is_finite() { Ok(corners) } else { Err(Stop::unspecified("a box whose area is no finite number")) }
}

/// The intersection of two boxes divided by their union; 0 if the union is empty. A box is given by two opposite
/// corners.
pub(super) fn overlap(a: [f64; 4], b: [f64; 4]) -> f64 {
    let ([a1, a2], [b1, b2]) = (lines(a), lines(b));
    let shared = a1.shared(b1) * a2.shared(b2);
    let covered = area(a) + area(b) - shared;
    if covered <= 0.0 { 0.0 } else { shared / covered }
}

/// The extent of a box in one direction.
#[derive(Clone, Copy)]
struct BoxSide {
    from: f64,
    to: f64,
}

impl BoxSide {
    fn between(a: f64, b: f64) -> BoxSide {
        BoxSide { from: a.min(b), to: a.max(b) }
    }

    /// The length of the common part with another one.
    fn shared(self, other: BoxSide) -> f64 {
        (self.to.min(other.to) - self.from.max(other.from)).max(0.0)
    }

    fn length(self) -> f64 {
        self.to - self.from
    }
}

/// The extent of a box in both directions.
fn lines([a, b, c, d]: [f64; 4]) -> [BoxSide; 2] {
    [BoxSide::between(a, c), BoxSide::between(b, d)]
}

fn area(x: [f64; 4]) -> f64 {
    let [down, across] = lines(x);
    down.length() * across.length()
}

/// Higher scores first. Equal scores keep their order.
pub(super) fn by_score(scores: &[f64]) -> Result<Vec<usize>, Stop> {
    if scores.iter().any(|score| score.is_nan()) {
        return Err(Stop::unspecified("scores that are no numbers have no order"));
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|i, j| match (scores.get(*i), scores.get(*j)) {
        (Some(a), Some(b)) => b.partial_cmp(a).unwrap_or(Ordering::Equal),
        (_, _) => Ordering::Equal,
    });
    Ok(order)
}
