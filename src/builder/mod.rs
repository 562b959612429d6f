//! Building programs binding by binding, and rewriting them, in normal form and with derived annotations.

mod block_builder;
mod mutate;

pub use block_builder::{BlockBuilder, BuildError};
pub use mutate::{Mutator, mutate_bindings, mutate_module, mutate_parts};
