//! The arguments of long runs: numbers in order, and the edition.

use std::ops::Range;

use ask::conformance;
use relax_spec::book::Edition;
use relax_spec::suite::Case;

/// The arguments on the command line.
pub struct RunArguments {
    /// The edition of the generated programs and of their judgement.
    pub edition: Edition,
    /// All other arguments.
    pub numbers: Vec<u64>,
}

impl RunArguments {
    /// Reads the command line: an edition after `--edition`, and numbers.
    pub fn read(args: Vec<String>) -> Result<RunArguments, String> {
        let (mut edition, mut numbers) = (Edition::default(), Vec::new());
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            if arg == "--edition" {
                let name = args.next().ok_or("--edition needs an edition")?;
                edition = name.parse().map_err(|error| format!("{error}"))?;
            } else {
                numbers.push(arg.parse().map_err(|error| format!("`{arg}`: {error}"))?);
            }
        }
        Ok(RunArguments { edition, numbers })
    }
}

/// A range of seeds for a generator that uses the cases of the suite: each seed gives one program, or one call.
pub struct SuiteSample {
    /// The cases.
    pub suite: Vec<Case>,
    /// The seeds.
    pub seeds: Range<u64>,
}

impl SuiteSample {
    /// Reads the command line: the number of seeds (by default 10,000), and the first seed. Prints an error if it is
    /// invalid.
    pub fn read(args: Vec<String>) -> Option<SuiteSample> {
        let read = || {
            let RunArguments { edition: _, numbers } = RunArguments::read(args)?;
            let suite = conformance::suite().map_err(|error| error.to_string())?;
            let (count, first) = (numbers.first().copied().unwrap_or(10_000), numbers.get(1).copied().unwrap_or(0));
            Ok(SuiteSample { suite, seeds: first..first.saturating_add(count) })
        };
        read().map_err(|error: String| eprintln!("{error}")).ok()
    }
}
