//! `relax-spec mcp`.

use std::env;
use std::path::PathBuf;

use super::{CommandResult, Exit, Failure};

/// Serve an agent, by the Model Context Protocol on standard input and output
///
/// The tools are check, run, refine, blame and explain. Each result has a verdict, and says what may be concluded from
/// it; `docs/agents/SKILL.md` says the same on a page for the agent.
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> CommandResult {
    // Where an interpreter runs the command, as in the wheel, the interpreter is the program.
    let named = env::var_os("RELAX_SPEC_COMMAND").filter(|path| !path.is_empty()).map(PathBuf::from);
    let command = named.map_or_else(env::current_exe, Ok)?;
    server::mcp::serve_stdio(command).map_err(Failure::unreadable)?;
    Ok(Exit::AsExpected)
}
