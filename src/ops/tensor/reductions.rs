//! Reductions and scans.

mod collapse;
mod median;
mod reduce;
mod scan;
mod statistic;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[collapse::OPS, median::OPS, reduce::OPS, scan::OPS];
