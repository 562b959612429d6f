//! Manipulation: the same elements in another shape or order, or repeated.

mod broadcast;
mod layout;
mod pad;
mod repeat;
mod reshape;
mod sequence;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] =
    &[broadcast::OPS, layout::OPS, pad::OPS, repeat::OPS, reshape::OPS, sequence::OPS];
