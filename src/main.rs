//! The `relax-spec` command.

fn main() -> std::process::ExitCode {
    relax_spec::cli::main()
}
