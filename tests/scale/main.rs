//! Time and memory for deep or large inputs, in a separate program, so that other tests do not interfere.

mod deep;
mod growth;
mod large;
