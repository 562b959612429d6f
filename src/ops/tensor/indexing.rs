//! Indexing: reading and writing elements at given positions.

pub(in crate::ops) mod gather;
mod scatter;
pub(super) mod slice;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[gather::OPS, scatter::OPS, slice::OPS];
