//! `relax-spec reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use super::asking::{AnswerLimits, STARTUP, interrupt, start};
use super::{CommandResult, Exit, Failure, options, print};
use ask::adapters::Adapter;
use campaign::trials::{StoredFinding, read_findings, still_shows};
use relax_spec::book::Edition;

/// Check whether findings that a campaign saved still show
///
/// Each finding is asked again along the paths that showed it, with its own input and with others. It still shows if an
/// answer differs in the same way: in kind, stage and message of the implementation.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec reproduce found/value-0123456789abcdef.json --adapter tvm@0.27
  relax-spec reproduce found --adapter tvm

Exit status: 0 every finding still shows; 1 some do not; 2 a file is not a finding; 3 the adapter could not start; 4 there are no findings.")]
pub struct Args {
    /// A file that `fuzz --out` wrote, or a directory of them
    #[arg(value_name = "FILE|DIR")]
    finding: PathBuf,
    /// `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// Time limit of an answer in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = options::seconds)]
    timeout: Duration,
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
}

pub fn run(args: &Args) -> CommandResult {
    let findings = read_findings(&args.finding).map_err(Failure::unreadable)?;
    if findings.is_empty() {
        return Err(Failure::new(Exit::NothingRan, format!("{}: no findings", args.finding.display())));
    }
    let interrupt = interrupt()?;
    let mut worst = Exit::AsExpected;
    for adapter in Adapter::named(args.adapter.as_deref(), STARTUP)? {
        let mut implementation =
            start(&adapter, AnswerLimits { timeout: args.timeout, edition: args.edition }, &interrupt)?;
        for (path, finding) in &findings {
            let name = path.display();
            let kept = StoredFinding::of(finding).map_err(|error| Failure::unreadable(format!("{name}: {error}")))?;
            match still_shows(&mut implementation, finding, &kept)? {
                Some((way, difference)) => {
                    print(&format!("{adapter}: {name} shows by {way}: {}\n", difference.signature))?;
                }
                None => {
                    worst = Exit::Findings;
                    print(&format!("{adapter}: {name} does not show\n"))?;
                }
            }
        }
    }
    Ok(worst)
}
