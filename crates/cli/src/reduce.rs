//! `relax-spec reduce`.

use std::path::PathBuf;
use std::time::Duration;

use super::asking::{AnswerLimits, STARTUP, interrupt, start};
use super::{CommandResult, Exit, Failure, options, print};
use ask::adapters::Adapter;
use campaign::trials::{StoredFinding, read_findings, reduced_further, write_finding};
use relax_spec::book::Edition;

/// Shrink the programs and inputs of findings that a campaign saved
///
/// A campaign asks only a few questions to shrink each finding; this command asks more. A finding that no longer shows
/// is left as it is. `diff --reduce` does the same to a program of your own.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec reduce found/value-0123456789abcdef.json --adapter tvm@0.27
  relax-spec reduce found --adapter tvm@0.27 --budget 1000 --write

Exit status: 0 every finding still shows; 1 some do not; 2 a file is not a finding; 3 the adapter could not start; 4 there are no findings.")]
pub struct Args {
    /// A file that `fuzz --out` wrote, or a directory of them
    #[arg(value_name = "FILE|DIR")]
    finding: PathBuf,
    /// `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// How many questions may be asked about each finding
    #[arg(long, value_name = "N", default_value_t = 400)]
    budget: usize,
    /// Replace the saved findings by the smaller ones
    #[arg(long)]
    write: bool,
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
    let adapters = Adapter::named(args.adapter.as_deref(), STARTUP)?;
    let [adapter] = adapters.as_slice() else {
        return Err(Failure::unreadable("a program is reduced for one release: name it, as in `tvm@0.27`"));
    };
    let mut implementation = start(adapter, AnswerLimits { timeout: args.timeout, edition: args.edition }, &interrupt)?;
    let mut worst = Exit::AsExpected;
    for (path, finding) in &findings {
        let name = path.display();
        let kept = StoredFinding::of(finding).map_err(|error| Failure::unreadable(format!("{name}: {error}")))?;
        match reduced_further(&mut implementation, finding, &kept, args.budget)? {
            Some(smaller) => {
                let (before, after) = (finding.bindings, smaller.bindings);
                print(&format!(
                    "{adapter}: {name} shows, {before} bindings before and {after} now\n{}",
                    smaller.program
                ))?;
                if args.write && after <= before {
                    write_finding(path, &smaller).map_err(Failure::unreadable)?;
                }
            }
            None => {
                worst = Exit::Findings;
                print(&format!("{adapter}: {name} does not show\n"))?;
            }
        }
    }
    Ok(worst)
}
