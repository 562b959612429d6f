//! Images: other sizes, and samples at given places.

mod layout;
mod resize;
mod sample;
mod taps;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[resize::OPS, sample::OPS];
