//! The operators of the language itself, of the chapter Notable Operators: calls of TIR and packed functions, shapes, casts,
//! and what is printed and asserted.

mod buffers;
mod call;
mod call_tir;
mod debug;
mod dps;
mod prim_func;
mod shape_of;

use super::OpDef;

pub use call_tir::CallForm;
pub(crate) use debug::{assert_holds, printed};
pub use prim_func::run_prim_func;

const FAMILIES: &[&[OpDef]] = &[call::OPS, call_tir::OPS, shape_of::OPS, debug::OPS];

pub(super) fn all() -> impl Iterator<Item = &'static OpDef> {
    FAMILIES.iter().flat_map(|family| family.iter())
}
