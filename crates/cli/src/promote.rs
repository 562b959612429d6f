//! `relax-spec promote`.

use std::path::{Path, PathBuf};

use super::asking::{STARTUP, prepare};
use super::folder::FindingFolder;
use super::{CommandResult, Exit, Failure};
use ask::adapters::Adapter;
use ask::checkout::write_new;
use campaign::trials::{Finding, promoted, read_findings};

/// Write a golden case for a finding of a campaign
///
/// The case asks the question of the finding, and allows the oracle's answer, with the clauses that decide. It is up to
/// you to derive the answer from the text and to explain it.
#[derive(clap::Args)]
#[command(after_help = "Example:
  relax-spec promote found/value-0123456789abcdef.json --id findings/sum-of-nothing --output case.ron
  relax-spec promote found/value-0123456789abcdef.json --id findings/sum-of-nothing --folder sum-of-nothing --adapter tvm@0.27

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
    /// Write a folder like those of conformance/findings instead: a README, the case, and a script for the wheel alone,
    /// which is run first; nothing is written where it does not show the finding
    #[arg(long, value_name = "DIR", requires = "adapter", conflicts_with = "output")]
    folder: Option<PathBuf>,
    /// The release with whose Python the script is run: `tvm@0.27`, or `tvm@/path/to/python`
    #[arg(long, value_name = "NAME", requires = "folder")]
    adapter: Option<String>,
}

/// Whether this has the form of a case id: a chapter and a name, in words of letters, digits, `-`, `_` and `.`.
fn is_id(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c))
    };
    id.contains('/') && id.split('/').all(|word| is_word(word) && word.chars().any(|c| c != '.'))
}

/// Writes the folder, with the Python of the adapter.
fn folder(args: &Args, dir: &Path, finding: &Finding, case: &str) -> CommandResult {
    let adapters = Adapter::named(args.adapter.as_deref(), STARTUP)?;
    let [adapter] = adapters.as_slice() else {
        return Err(Failure::unreadable("a folder is made with one release: name it, as in `tvm@0.27`"));
    };
    let version = match adapter {
        Adapter::Tvm(version) => Some(*version),
        Adapter::TvmOf { version, .. } => *version,
        Adapter::Oracle(_) | Adapter::Command(_) | Adapter::TvmExecutables(_) => None,
    };
    let Some(version) = version else {
        return Err(Failure::unreadable("a folder is made with a release of TVM, as in `tvm@0.27`"));
    };
    let release = version.name();
    let python = prepare(adapter, STARTUP)?;
    FindingFolder { finding, case, python: &python, release }.write(dir)
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
    if let Some(dir) = &args.folder {
        return folder(args, dir, finding, &text);
    }
    let io = |error| Failure::unreadable(format!("{}: {error}", args.output.display()));
    write_new(&args.output, text.as_bytes()).map_err(io)?;
    Ok(Exit::AsExpected)
}
