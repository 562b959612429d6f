//! Products of matrices and of sums.

mod einsum;
mod matmul;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[einsum::OPS, matmul::OPS];
