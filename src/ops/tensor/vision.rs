//! Object detection: pooling over regions, and selection among boxes.

mod all_classes;
mod boxes;
mod overlap;
mod regions;
mod suppression;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[regions::OPS, suppression::OPS, all_classes::OPS, boxes::OPS];
