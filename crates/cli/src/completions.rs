//! `relax-spec completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CommandResult, Exit, Failure, print};

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  relax-spec completions bash > ~/.local/share/bash-completion/completions/relax-spec"
)]
pub struct Args {
    shell: Shell,
}

pub fn run(args: &Args) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "relax-spec", &mut script);
    print(&String::from_utf8(script).map_err(Failure::unreadable)?)?;
    Ok(Exit::AsExpected)
}
