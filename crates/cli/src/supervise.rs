//! `relax-spec supervise`, which is started only by `relax-spec` itself.

use std::io;

use super::{CommandResult, Exit};
use ask::supervisor::supervise;

/// End the processes that are listed on standard input when that input ends
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> CommandResult {
    supervise(io::stdin().lock());
    Ok(Exit::AsExpected)
}
