//! Stack for recursion on input of any depth.

/// Stack kept free below every judgement, and the size of the piece that is added when it runs out.
const RED_ZONE: usize = 128 * 1024;
const STACK_PIECE: usize = 4 * 1024 * 1024;

/// Runs `body` with enough stack, however deep the recursion is already.
pub fn with_stack<T>(body: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, body)
}
