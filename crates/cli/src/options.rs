//! Options shared by several commands.

use std::time::Duration;

use super::Failure;
use super::terminal::remark;
use relax_spec::book::{Edition, Erratum, Proposal, Reading, Rule, UnknownEdition, UnknownProposal};
use relax_spec::check::UnknownOps;
use relax_spec::eval::SignatureOrder;
use relax_spec::judge::{GlbPurity, Prover};
use relax_spec::oracle;
use relax_spec::value::Kernels;

/// The fuel of a run on request. Its weights may have some hundred megabytes, and each element is read at least once.
/// A program that ends by itself gets more than a run takes within the time limit: a layer has some billion steps.
pub fn fuel(asked: Option<u64>, ends: impl FnOnce() -> bool) -> u64 {
    asked.unwrap_or_else(|| if ends() { 1 << 40 } else { 200_000_000 })
}

/// `--format` of a report.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ReportFormat {
    #[default]
    Human,
    /// One JSON object; `relax-spec export --schemas DIR` writes the schema of each command
    Json,
}

/// `--engine`: who runs programs.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EngineOption {
    /// Walks the tree of the program
    #[default]
    Evaluator,
    /// Compiles the program and runs it on the virtual machine
    Vm,
}

impl From<EngineOption> for oracle::Engine {
    fn from(engine: EngineOption) -> oracle::Engine {
        match engine {
            EngineOption::Evaluator => oracle::Engine::Evaluator,
            EngineOption::Vm => oracle::Engine::Machine,
        }
    }
}

/// `--kernels`: how operators compute.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum KernelsOption {
    /// As the clauses define them, element by element
    Plain,
    /// In loops over slices, for operators that have some
    #[default]
    Fast,
    /// As `fast`, and loops of PrimFuncs as machine code, where it is known how and pays off; only in a build that has
    /// the feature `native`
    Native,
}

impl KernelsOption {
    /// The implementations; an error if this build has them not.
    pub fn kernels(self) -> Result<Kernels, Failure> {
        match self {
            KernelsOption::Plain => Ok(Kernels::Plain),
            KernelsOption::Fast => Ok(Kernels::Fast),
            KernelsOption::Native => native(),
        }
    }
}

#[cfg(feature = "native")]
fn native() -> Result<Kernels, Failure> {
    Ok(Kernels::Native(&native::JIT))
}

#[cfg(not(feature = "native"))]
fn native() -> Result<Kernels, Failure> {
    let how = "`cargo build --release -p relax-spec-cli --features native` makes one that has it";
    Err(Failure::unreadable(format!("this build has no `--kernels native`: {how}")))
}

/// `--edition`.
pub fn edition(text: &str) -> Result<Edition, String> {
    text.parse().map_err(|error: UnknownEdition| error.to_string())
}

/// `--proposal`.
pub fn proposal(text: &str) -> Result<Proposal, String> {
    text.parse().map_err(|error: UnknownProposal| error.to_string())
}

/// Reports that an edition is incomplete, and to what extent.
pub fn tell_of_preparation(edition: Edition) {
    let pending = Rule::ALL.iter().filter(|rule| rule.is_pending_in(edition)).count();
    if pending > 0 {
        let stated = Rule::ALL.iter().filter(|rule| rule.statement(edition).is_some()).count();
        remark(&format!(
            "note: edition {edition} is in preparation: {pending} of its {stated} rules are stated but not yet judged by; \
             `relax-spec rules --pending {edition}` lists them\n"
        ));
    }
}

/// `--reading`: `corrected`, `literal`, or a list of the errata to take literally.
pub fn reading(text: &str) -> Result<Reading, String> {
    match text {
        "corrected" => Ok(Reading::corrected()),
        "literal" => Ok(Reading::literal()),
        list => {
            let errata: Result<Vec<Vec<Erratum>>, _> = list.split(',').map(|id| Erratum::named(id.trim())).collect();
            errata.map(|errata| Reading::literal_only(&errata.concat())).map_err(|error| error.to_string())
        }
    }
}

/// `--allow-unknown-ops`.
pub fn unknown_ops(allowed: bool) -> UnknownOps {
    if allowed { UnknownOps::Objects } else { UnknownOps::Errors }
}

/// `--signature-order`.
pub fn signature_order(text: &str) -> Result<SignatureOrder, String> {
    match text {
        "left-to-right" => Ok(SignatureOrder::LeftToRight),
        "any" => Ok(SignatureOrder::Any),
        other => Err(format!("there is no order `{other}` (there are left-to-right, any)")),
    }
}

/// `--glb-purity`.
pub fn glb_purity(text: &str) -> Result<GlbPurity, String> {
    match text {
        "literal" => Ok(GlbPurity::Literal),
        "min" => Ok(GlbPurity::Min),
        other => Err(format!("there is no such purity `{other}` (there are literal, min)")),
    }
}

/// `--prover`.
pub fn prover(text: &str) -> Result<Prover, String> {
    match text {
        "alpha" => Ok(Prover::Alpha),
        "algebraic" => Ok(Prover::Algebraic),
        "exhaustive" => Ok(Prover::Exhaustive),
        other => Err(format!("there is no prover `{other}` (there are alpha, algebraic, exhaustive)")),
    }
}

/// The maximum number of seconds for an option: a year.
const MOST_SECONDS: f64 = 365.0 * 24.0 * 60.0 * 60.0;

/// A time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MOST_SECONDS);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("`{text}` is no number of seconds between 0 and {MOST_SECONDS}"))
}

/// The maximum number of simultaneous processes.
const MOST_JOBS: usize = 1_024;

/// `--jobs`.
pub fn jobs(text: &str) -> Result<usize, String> {
    let jobs = text.parse::<usize>().ok().filter(|jobs| (1..=MOST_JOBS).contains(jobs));
    jobs.ok_or_else(|| format!("`{text}` is no number of processes between 1 and {MOST_JOBS}"))
}

/// A number of bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        Some(_) | None => (text, 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| format!("`{text}` is no number of bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive_and_no_longer_than_a_year() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("31536000"), Ok(Duration::from_secs(31_536_000)));
        for text in ["0", "-1", "nan", "inf", "1e19", "1e300", "31536001", "1e-300", "", "x", "1s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(bytes("64M"), Ok(64 << 20));
        for text in ["", "M", "-1", "18446744073709551616", "18014398509481984K", "1é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(jobs("0").is_err() && jobs("1025").is_err() && jobs("1e3").is_err());
    }
}
