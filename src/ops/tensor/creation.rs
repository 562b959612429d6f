//! Creation: new tensors with one value or a regular pattern, and parts of tensors.

mod filled;
mod pattern;
mod window;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[filled::OPS, pattern::OPS, window::OPS];
