//! The names of operators.

/// Whether there is an operator with this name.
pub fn is_known(name: &str) -> bool {
    super::lookup(name).is_some()
}

/// The names of all operators.
pub fn known() -> impl Iterator<Item = &'static str> {
    super::all().map(|def| def.name)
}
