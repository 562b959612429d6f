//! Manipulation: the same elements in another shape or order, or several times.

mod broadcast;
mod pad;
mod repeat;
mod reshape;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[broadcast::OPS, pad::OPS, repeat::OPS, reshape::OPS];
