//! The verdict on a pass, and its line.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::ROUNDING;
use super::contracts::BrokenContract;
use crate::value::{self, Brief};
use relax_spec::grammar::{IrModule, Name};
use relax_spec::refine::{RealVerdict, RefineError, Refinement, RefinementVerdict, Settings, missing};
use relax_spec::value::ValueSpec;

/// The maximum length of a message.
const LONGEST: usize = 400;

/// How a pass changed the meaning.
#[derive(Clone, Debug)]
pub(super) enum PassVerdict {
    Unchanged,
    Allowed {
        /// On how many inputs the programs were compared.
        inputs: usize,
    },
    NotAllowed {
        rule: String,
        message: String,
        /// The smallest arguments found that show the difference.
        input: Vec<ValueSpec>,
    },
    /// Undecided, with the reason: no run reached its end, or the oracle does not know.
    Open(String),
}

/// The full judgement on a pass.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) verdict: PassVerdict,
    pub(super) broken: Vec<BrokenContract>,
    /// The passes over `PrimFunc`s inside of it, which are not judged.
    pub(super) of_prim_funcs: Vec<String>,
    /// Whether a difference was found only on arguments that are not ordinary: tensors without elements, numbers that
    /// are not finite, zeros among integers.
    pub(super) slight: bool,
    /// Whether it is a judgement with stand-ins for the `PrimFunc`s that the pass leaves as they are.
    pub(super) apart: bool,
    /// The text of the module behind a pass that is not allowed.
    pub(super) made: Option<String>,
    /// How long the judgement took.
    pub(super) took: Duration,
}

impl From<PassVerdict> for Judged {
    fn from(verdict: PassVerdict) -> Judged {
        let none = Duration::ZERO;
        let (broken, of_prim_funcs) = (Vec::new(), Vec::new());
        Judged { verdict, broken, of_prim_funcs, slight: false, apart: false, made: None, took: none }
    }
}

impl Judged {
    /// The first reason why the pass is wrong, with the arguments on which it shows.
    pub(super) fn wrong(&self) -> Option<(String, Vec<ValueSpec>)> {
        match (&self.verdict, self.broken.first()) {
            (PassVerdict::NotAllowed { rule, input, .. }, _) => Some((rule.clone(), input.clone())),
            (_, Some(broken)) => Some((broken.rule.to_string(), broken.input.clone())),
            (_, None) => None,
        }
    }

    pub(super) fn is_wrong(&self) -> bool {
        matches!(self.verdict, PassVerdict::NotAllowed { .. })
    }

    fn word(&self) -> &'static str {
        match self.verdict {
            PassVerdict::Unchanged => "unchanged",
            PassVerdict::Allowed { .. } => "allowed",
            PassVerdict::NotAllowed { .. } => "not allowed",
            PassVerdict::Open(_) => "undecided",
        }
    }

    /// The text for people. `runs` is the number of inputs that were asked for.
    pub(super) fn told(&self, pass: &str, runs: usize) -> String {
        let mut line = format!("  {pass:<28} {}", self.word());
        let _ = match &self.verdict {
            PassVerdict::Allowed { inputs } if *inputs < runs => write!(line, ", on {inputs} inputs"),
            PassVerdict::Unchanged | PassVerdict::Allowed { .. } => Ok(()),
            PassVerdict::NotAllowed { rule, message, input } => {
                write!(line, " [{rule}]: {}{}", value::cut(message, LONGEST), inputs(input, "   ").trim_end())
            }
            PassVerdict::Open(reason) => write!(line, ": {}", value::cut(reason, LONGEST)),
        };
        if self.apart {
            line += ", with stand-ins for the PrimFuncs that it leaves as they are";
        }
        if self.slight {
            line += "\n    only on tensors without elements, infinite numbers or zeros";
        }
        for broken in &self.broken {
            let input = inputs(&broken.input, "     ");
            let _ = write!(line, "\n    {}{}", value::cut(&broken.told(), LONGEST), input.trim_end());
        }
        if !self.of_prim_funcs.is_empty() {
            let _ = write!(line, "\n    not judged: {}", self.of_prim_funcs.join(", "));
        }
        line + "\n"
    }

    pub(super) fn json(&self, pass: &str) -> Value {
        let (rule, message, input) = match &self.verdict {
            PassVerdict::Unchanged | PassVerdict::Allowed { .. } => (None, None, None),
            PassVerdict::NotAllowed { rule, message, input } => (Some(rule), Some(message), Some(input)),
            PassVerdict::Open(reason) => (None, Some(reason), None),
        };
        let contracts: Vec<Value> = self.broken.iter().map(BrokenContract::json).collect();
        let input = input.map(|input| input.iter().map(value::argument).collect::<Vec<String>>());
        json!({
            "pass": pass,
            "verdict": self.word(),
            "rule": rule,
            "message": message,
            "inputs": if let PassVerdict::Allowed { inputs } = self.verdict { Some(inputs) } else { None },
            "counterexample": input,
            "contracts": contracts,
            "not_judged": self.of_prim_funcs,
            "slight": self.slight,
            "stand_ins": self.apart,
            "module": self.made,
            "seconds": self.took.as_secs_f64(),
        })
    }
}

/// A line for each argument.
pub(super) fn inputs(input: &[ValueSpec], before: &str) -> String {
    let lines: String = input.iter().map(|value| format!("{before} with {}\n", brief(value))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn brief(value: &ValueSpec) -> String {
    match value::brief(value) {
        Brief::Whole(argument) => format!("--arg '{argument}'"),
        Brief::Summary(summary) => summary,
    }
}

/// The verdict on the result of a pass that is asked to round more, if its numbers are not allowed: whether it computes
/// the same real numbers.
pub(super) fn exact_verdict(refinement: &Refinement) -> Option<PassVerdict> {
    let is_of_numbers =
        matches!(refinement.verdict, RefinementVerdict::NotAllowed { .. }) && refinement.deviation.is_some();
    match &refinement.real {
        RealVerdict::Equal { .. } | RealVerdict::RoundedConstants { .. } if is_of_numbers => {
            Some(PassVerdict::Allowed { inputs: refinement.compared })
        }
        RealVerdict::Undecided(reason) if is_of_numbers => {
            Some(PassVerdict::Open(format!("{ROUNDING} rounds more, as it is asked to: {reason}")))
        }
        RealVerdict::Equal { .. }
        | RealVerdict::RoundedConstants { .. }
        | RealVerdict::Different { .. }
        | RealVerdict::Undecided(_) => None,
    }
}

/// The verdict on the result of a pass.
pub(super) fn verdict_on(before: &IrModule, found: Result<Refinement, RefineError>) -> PassVerdict {
    let refinement = match found {
        Err(error) => return PassVerdict::Open(error.to_string()),
        Ok(refinement) => refinement,
    };
    match (newly_unknown(before, &refinement), refinement.verdict) {
        (Some(name), RefinementVerdict::NotAllowed { .. }) => {
            PassVerdict::Open(format!("nothing is known of `{name}`, which the pass makes the program call"))
        }
        (_, RefinementVerdict::Allowed) => PassVerdict::Allowed { inputs: refinement.compared },
        (None, RefinementVerdict::NotAllowed { rule, message }) => {
            PassVerdict::NotAllowed { rule: rule.to_string(), message, input: refinement.input.unwrap_or_default() }
        }
        (
            _,
            RefinementVerdict::Vacuous(reason)
            | RefinementVerdict::Undecided(reason)
            | RefinementVerdict::OutOfBudget(reason),
        ) => PassVerdict::Open(reason),
    }
}

/// A packed function without known properties, which the program did not mention before.
pub(super) fn newly_unknown(before: &IrModule, refinement: &Refinement) -> Option<Name> {
    let known = missing(&Settings::runs(0).registry, &[before]);
    refinement.unknown.iter().find(|name| !known.contains(*name)).cloned()
}
