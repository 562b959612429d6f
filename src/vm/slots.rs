//! How executables name what is known at run time only: slots of the shape heap and registers, as variables.

use crate::grammar::{ShapeVar, Var};

/// What stands for the slot `k` of the shape heap in a dimension.
pub(super) fn slot_var(k: u32) -> ShapeVar {
    ShapeVar::numbered(SLOT.into(), k)
}

/// The slot that a variable stands for.
pub(super) fn slot_of(v: &ShapeVar) -> Option<u32> {
    (&*v.name == SLOT).then_some(v.id)
}

/// What stands for the shape in the register `k` in structural information.
pub(super) fn register_var(k: u32) -> Var {
    Var::numbered(REGISTER.into(), k)
}

/// The register that a variable stands for.
pub(super) fn register_of(v: &Var) -> Option<u32> {
    (&*v.name == REGISTER).then_some(v.id)
}

/// A shape variable that has no slot, under a name that is no slot's.
pub(super) fn unknown_size(v: &ShapeVar) -> ShapeVar {
    if slot_of(v).is_some() { ShapeVar::numbered(format!("{}_", v.name).into(), v.id) } else { v.clone() }
}

/// A variable that is in no register, under a name that is no register's.
pub(super) fn unknown_shape(v: &Var) -> Var {
    if register_of(v).is_some() { Var::numbered(format!("{}_", v.name).into(), v.id) } else { v.clone() }
}

const SLOT: &str = "h";
const REGISTER: &str = "r";
