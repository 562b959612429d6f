//! Creation: new tensors of one value, of a regular content, and parts of tensors.

mod filled;
mod pattern;
mod window;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[filled::OPS, pattern::OPS, window::OPS];
