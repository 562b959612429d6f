//! The arguments of long runs: numbers in order, and the edition.

use relax_spec::book::Edition;

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
