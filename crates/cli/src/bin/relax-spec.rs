//! The command `relax-spec`.

use std::process::ExitCode;

/// Trees are allocated in many small pieces, for which the system's allocator is slow.
#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(relax_spec_cli::command(std::env::args_os()) as u8)
}
