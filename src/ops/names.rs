//! The names of operators.

/// Whether someone knows an operator of this name.
pub fn is_known(name: &str) -> bool {
    super::lookup(name).is_some()
}

/// Every operator that someone knows.
pub fn known() -> impl Iterator<Item = &'static str> {
    super::all().map(|def| def.name)
}
