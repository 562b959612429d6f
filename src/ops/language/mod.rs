//! The operators of the language itself, from the chapter Notable Operators: calls of TIR and packed functions, shapes,
//! casts, printing and assertions.

mod buffers;
mod call_form;
mod call_tir;
mod calls;
mod debug;
mod dps;
mod in_place;
mod prim_func;
mod shape_of;

use super::OpDef;

pub use call_form::CallForm;
pub(super) use call_tir::infer_call_tir_local_view;
pub(crate) use debug::{assert_holds, printed};
pub(super) use dps::call_tir as run_call_tir;
pub use prim_func::{run_packed_func, run_prim_func, value_of_prim_func};

const FAMILIES: &[&[OpDef]] = &[calls::OPS, call_tir::OPS, shape_of::OPS, debug::OPS];

pub(super) fn all() -> impl Iterator<Item = &'static OpDef> {
    FAMILIES.iter().flat_map(|family| family.iter())
}
