//! The `relax-spec` command.

/// Trees are allocated in many small pieces, and the system's allocator is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    relax_spec::cli::main()
}
