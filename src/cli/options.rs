//! Options that several commands share.

use crate::book::{Edition, Erratum, Reading};
use crate::check::UnknownOps;
use crate::eval::SignatureOrder;
use crate::judge::{GlbPurity, Prover};
use crate::oracle;

/// `--format` of a report.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    #[default]
    Human,
    /// One JSON object; `relax-spec export --schemas DIR` writes the schema of each command
    Json,
}

/// `--engine`: who runs programs.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Engine {
    /// Walks the tree of the program
    #[default]
    Evaluator,
    /// Compiles the program and runs it on the virtual machine
    Vm,
}

impl From<Engine> for oracle::Engine {
    fn from(engine: Engine) -> oracle::Engine {
        match engine {
            Engine::Evaluator => oracle::Engine::Evaluator,
            Engine::Vm => oracle::Engine::Machine,
        }
    }
}

/// `--edition`.
pub fn edition(text: &str) -> Result<Edition, String> {
    let names: Vec<&str> = Edition::ALL.iter().map(|edition| edition.name()).collect();
    Edition::ALL
        .into_iter()
        .find(|edition| edition.name() == text)
        .ok_or_else(|| format!("there is no edition `{text}` (there are {})", names.join(", ")))
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
