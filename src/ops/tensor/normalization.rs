//! Normalization.

mod of_ring;
pub(in crate::ops) mod softmax;
mod statistics;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[softmax::OPS, statistics::OPS];
