//! `relax-spec promote`.

use std::path::PathBuf;

use super::{CommandResult, Exit, Failure};
use ask::checkout::write_new;
use campaign::trials::{promoted, read_findings};

/// Write a golden case for a finding of a campaign
///
/// The case asks the question of the finding, and allows the oracle's answer, with the clauses that decide. It is up to
/// you to derive the answer from the text and to explain it.
#[derive(clap::Args)]
#[command(after_help = "Example:
  relax-spec promote found/value-0123456789abcdef.json --id findings/sum-of-nothing --output case.ron

Nothing is overwritten. Exit status: 0 written; 2 the file is not a finding, the text leaves the answer open, or the output exists.")]
pub struct Args {
    /// A file that `fuzz --out` wrote
    #[arg(value_name = "FILE")]
    finding: PathBuf,
    /// The id of the case, `chapter/name`
    #[arg(long, value_name = "ID")]
    id: String,
    /// Where the case is written
    #[arg(long, value_name = "FILE", default_value = "case.ron")]
    output: PathBuf,
}

/// Whether this has the form of a case id: a chapter and a name, in words of letters, digits, `-`, `_` and `.`.
fn is_id(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c))
    };
    id.contains('/') && id.split('/').all(|word| is_word(word) && word.chars().any(|c| c != '.'))
}

pub fn run(args: &Args) -> CommandResult {
    if !is_id(&args.id) {
        return Err(Failure::unreadable(format!("`{}` is no id of a case, which is `chapter/name`", args.id)));
    }
    let findings = read_findings(&args.finding).map_err(Failure::unreadable)?;
    let [(path, finding)] = findings.as_slice() else {
        return Err(Failure::unreadable(format!("{}: a case is made of one finding", args.finding.display())));
    };
    let text =
        promoted(finding, &args.id).map_err(|error| Failure::unreadable(format!("{}: {error}", path.display())))?;
    let io = |error| Failure::unreadable(format!("{}: {error}", args.output.display()));
    write_new(&args.output, text.as_bytes()).map_err(io)?;
    Ok(Exit::AsExpected)
}
