//! Images: resizing, and samples at given positions.

mod layout;
mod resize;
mod sample;
mod taps;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[resize::OPS, sample::OPS];
