//! `relax-spec adapter`.

use std::io;

use super::options::EngineOption;
use super::{CommandResult, Exit, Failure, options};
use ask::serve::serve;
use relax_spec::book::Reading;

/// Answer questions of the adapter protocol on standard input: the oracle as an implementation
///
/// The protocol is described in conformance/INTERPRETING.md. `relax-spec conform` starts this command as its default
/// implementation.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  echo '{\"id\":1,\"op\":\"wrap\",\"args\":[\"Object\"]}' | relax-spec adapter")]
pub struct Args {
    /// `corrected`, `literal`, or a list of errata to take literally (A01,A17)
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
    /// Who runs programs: the evaluator, or the virtual machine
    #[arg(long, value_enum, default_value_t = EngineOption::Evaluator)]
    engine: EngineOption,
}

pub fn run(args: &Args) -> CommandResult {
    match serve(args.engine.into(), &args.reading, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => Ok(Exit::AsExpected),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Failure::new(Exit::Adapter, error)),
        Err(error) => Err(error.into()),
    }
}
