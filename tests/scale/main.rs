//! Time and memory for deep or large inputs, and for short questions, in a separate program, so that other tests do not
//! interfere.

mod deep;
mod growth;
mod large;
mod quick;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
