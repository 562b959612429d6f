//! Stack space for recursion on input of any depth.

/// The stack space that every judgement has at least, and the size of each added segment.
const RED_ZONE: usize = 128 * 1024;
const STACK_PIECE: usize = 4 * 1024 * 1024;

/// Runs `body` with enough stack, however deep the recursion already is.
pub fn with_stack<T>(body: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, body)
}
