//! Reductions and scans.

mod reduce;
mod scan;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[reduce::OPS, scan::OPS];
