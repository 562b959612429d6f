//! The names of run-time quantities in executables: slots of the shape heap and registers, as variables.

use crate::grammar::{ShapeVar, Var};

/// The variable for slot `k` of the shape heap in a dimension.
pub(super) fn slot_var(k: u32) -> ShapeVar {
    ShapeVar::numbered(SLOT.into(), k)
}

/// The slot of a variable, if it is one for a slot.
pub(super) fn slot_of(v: &ShapeVar) -> Option<u32> {
    (&*v.name == SLOT).then_some(v.id)
}

/// The variable for the shape in register `k` in structural information.
pub(super) fn register_var(k: u32) -> Var {
    Var::numbered(REGISTER.into(), k)
}

/// The register of a variable, if it is one for a register.
pub(super) fn register_of(v: &Var) -> Option<u32> {
    (&*v.name == REGISTER).then_some(v.id)
}

/// The variable for a shape variable without a slot. Its name differs from those of slots.
pub(super) fn unknown_size(v: &ShapeVar) -> ShapeVar {
    if slot_of(v).is_some() { ShapeVar::numbered(format!("{}_", v.name).into(), v.id) } else { v.clone() }
}

/// The variable for a variable that is in no register. Its name differs from those of registers.
pub(super) fn unknown_shape(v: &Var) -> Var {
    if register_of(v).is_some() { Var::numbered(format!("{}_", v.name).into(), v.id) } else { v.clone() }
}

const SLOT: &str = "h";
const REGISTER: &str = "r";
