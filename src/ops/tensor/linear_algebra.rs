//! Matrix products and sums of products.

mod einsum;
mod matmul;

use crate::ops::OpDef;

pub(super) const FAMILIES: &[&[OpDef]] = &[einsum::OPS, matmul::OPS];
