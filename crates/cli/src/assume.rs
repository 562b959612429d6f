//! `--assume`: what a user knows of packed functions and of arguments.

use std::collections::BTreeMap;

use super::Failure;
use relax_spec::arguments::{KnownArgument, KnownArguments, KnownRange};
use relax_spec::grammar::{Function, Name};
use relax_spec::refine::{Assumption, RefineError, Settings};

/// The assumptions of a command.
#[derive(clap::Args)]
pub struct Assuming {
    /// What is known. Of the parameter NAME: `NAME:finite`, `NAME:distinct` (no two elements are equal), `NAME:sorted`
    /// (each line along the last axis ascends), `NAME:range=0..10` or `NAME:range=0..=10`, several with commas. Of all
    /// integers: `indices in range`, which are neither negative nor as large as every size. Of a packed function that
    /// is not available: `NAME=pure`, `NAME=mutates:0`, `NAME=returns:1`, several with commas; by default its calls are
    /// effects, and its result is a function of its arguments
    #[arg(long = "assume", value_name = "WHAT", value_parser = assumed)]
    assumed: Vec<Assumed>,
}

/// An assumption.
#[derive(Clone, Debug)]
enum Assumed {
    Function(Name, Assumption),
    Parameter(Name, KnownArgument),
    IndicesInRange,
}

impl Assuming {
    /// The known properties of the arguments of a function. Assumptions about packed functions are rejected, because
    /// the implementation has its own ones.
    pub fn of_arguments(&self, func: Option<&Function>) -> Result<KnownArguments, Failure> {
        let mut settings = Settings::runs(0);
        self.assume(&mut settings)?;
        if settings.unknown.is_some_and(|functions| !functions.is_empty()) {
            return Err(Failure::unreadable(
                "the implementation has its own packed functions; --assume is for parameters",
            ));
        }
        match func.and_then(|func| settings.known.missing(func)) {
            Some(name) => Err(Failure::unreadable(RefineError::Parameter(name.clone()))),
            None => Ok(settings.known),
        }
    }

    /// Adds the assumptions to the settings.
    pub fn assume(&self, settings: &mut Settings) -> Result<(), Failure> {
        let twice =
            || Failure::unreadable("--assume says twice what is assumed of a name; several words go with commas");
        let mut functions = BTreeMap::new();
        let mut known = KnownArguments::default();
        for assumed in self.assumed.iter().cloned() {
            let is_new = match assumed {
                Assumed::Function(name, assumption) => functions.insert(name, assumption).is_none(),
                Assumed::Parameter(name, argument) => known.of.insert(name, argument).is_none(),
                Assumed::IndicesInRange => {
                    known.indices_in_range = true;
                    true
                }
            };
            if !is_new {
                return Err(twice());
            }
        }
        settings.unknown = Some(functions);
        settings.known = known;
        Ok(())
    }
}

const EXPECTED: &str = "expected `indices in range`, NAME:finite, distinct, sorted or range=LOW..HIGH of a parameter, \
                        or NAME=pure, impure, mutates:N or returns:N of a packed function, several with commas";

fn assumed(text: &str) -> Result<Assumed, String> {
    if text == "indices in range" {
        return Ok(Assumed::IndicesInRange);
    }
    match (text.find(':'), text.find('=')) {
        (Some(colon), equals) if equals.is_none_or(|equals| colon < equals) => parameter(text),
        (_, _) => function(text),
    }
}

/// `NAME:finite|distinct|sorted|range=LOW..HIGH`, with commas.
fn parameter(text: &str) -> Result<Assumed, String> {
    let (name, says) = text.split_once(':').filter(|(name, _)| !name.is_empty()).ok_or(EXPECTED)?;
    let mut known = KnownArgument::default();
    for word in says.split(',') {
        match word.split_once('=') {
            None if word == "finite" => known.finite = true,
            None if word == "distinct" => known.distinct = true,
            None if word == "sorted" => known.sorted = true,
            Some(("range", range)) => known.range = Some(numbers(range)?),
            None | Some(_) => return Err(format!("`{word}` is no assumption about a parameter; {EXPECTED}")),
        }
    }
    Ok(Assumed::Parameter(name.into(), known))
}

/// `LOW..HIGH` or `LOW..=HIGH`.
fn numbers(text: &str) -> Result<KnownRange, String> {
    let wrong = || format!("`{text}` is no range of numbers, such as 0..10 or 0..=10");
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let (high, inclusive) = match high.strip_prefix('=') {
        Some(high) => (high, true),
        None => (high, false),
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
    let range = KnownRange { low: number(low)?, high: number(high)?, inclusive };
    let holds_any = range.low < range.high || inclusive && range.low == range.high;
    if holds_any { Ok(range) } else { Err(format!("nothing is in the range `{text}`")) }
}

/// `NAME=pure|impure|mutates:N|returns:N`, with commas.
fn function(text: &str) -> Result<Assumed, String> {
    let (name, says) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(EXPECTED)?;
    let mut assumption = Assumption::default();
    for word in says.split(',') {
        let number = |n: &str| n.parse::<usize>().map_err(|_| format!("`{n}` is no number of an argument; {EXPECTED}"));
        match word.split_once(':') {
            None if word == "pure" => assumption.pure = true,
            None if word == "impure" => assumption.pure = false,
            Some(("mutates", n)) => {
                assumption.mutates.insert(number(n)?);
            }
            Some(("returns", n)) => assumption.returns = Some(number(n)?),
            None | Some(_) => return Err(format!("`{word}` is no assumption about a function; {EXPECTED}")),
        }
    }
    Ok(Assumed::Function(name.into(), assumption))
}
