//! What is printed: for people, or as JSON, a line for each thing.

use serde_json::json;

use super::sequences::told;
use super::times::Times;
use super::verdict::{Judged, PassVerdict, inputs};
use super::{Blamed, Blamer, PassRecord};
use crate::options::ReportFormat;
use crate::terminal::remark;
use crate::{CommandResult, Exit, Failure, print, print_json, value};
use ask::stages::{PassStep, Refusal};

impl Blamer<'_> {
    /// What a pass made of another function that can be started.
    pub(super) fn tell_elsewhere(&self, entry: &str, blamed: &Blamed) -> Result<(), Failure> {
        let Blamed { pass, reason, input, .. } = blamed;
        match self.args.format {
            ReportFormat::Human => {
                let inputs = inputs(input, "   ");
                print(&format!("  where `{entry}` is started: {pass} is not allowed [{reason}]{}\n", inputs.trim_end()))
            }
            ReportFormat::Json => {
                let input: Vec<String> = input.iter().map(value::argument).collect();
                print_json(&json!({ "entry": entry, "pass": pass, "reason": reason, "counterexample": input }))
            }
        }
    }

    /// The passes that the file itself runs, and that nothing was asked of.
    pub(super) fn remark_own(&self, record: &PassRecord) {
        let missed: Vec<&str> =
            self.own.iter().filter(|name| !record.passed.contains(name)).map(String::as_str).collect();
        if !missed.is_empty() {
            let names = missed.join(",");
            remark(&format!(
                "note: the file itself runs passes that are not in this pipeline; `--pass {names}` asks about them\n"
            ));
        }
    }

    /// That the program itself is not well-formed, and why.
    pub(super) fn tell_fault(&self, fault: &str) -> Result<(), Failure> {
        match self.args.format {
            _ if !self.tells => Ok(()),
            ReportFormat::Human => print(&format!("  the program is not well-formed: {fault}\n")),
            ReportFormat::Json => print_json(&json!({ "not_well_formed": fault })),
        }
    }

    pub(super) fn tell_sequence(
        &self,
        steps: &[PassStep],
        blamed: Option<&Blamed>,
        part: Option<&[PassStep]>,
    ) -> Result<(), Failure> {
        let steps = told(steps);
        match (self.args.format, blamed) {
            (ReportFormat::Human, None) => print(&format!("  {steps}: no pass is to blame\n")),
            (ReportFormat::Human, Some(Blamed { pass, reason, .. })) => {
                let part = part.map(told).unwrap_or_default();
                print(&format!("  {steps}: {pass} is to blame [{reason}], by --pass {part}\n"))
            }
            (ReportFormat::Json, _) => print_json(&json!({
                "sequence": steps,
                "blamed": blamed.map(|blamed| &blamed.pass),
                "reason": blamed.map(|blamed| &blamed.reason),
                "shortest": part.map(told),
            })),
        }
    }

    /// The answer.
    pub(super) fn conclude(
        &self,
        blamed: Option<&Blamed>,
        any_open: bool,
        refusal: Option<&Refusal>,
        whole: &PassVerdict,
        times: Times,
    ) -> CommandResult {
        let blamed = blamed.map(|blamed| &blamed.pass);
        let answer = match (blamed, refusal, whole) {
            (Some(pass), _, _) => format!("{pass} is to blame"),
            (None, Some(_), _) => "TVM refuses the program, and no pass is to blame".to_string(),
            (None, None, PassVerdict::NotAllowed { .. }) => {
                "the pipeline is not allowed, though each pass is".to_string()
            }
            (None, None, _) => "no pass is to blame".to_string(),
        };
        match self.args.format {
            ReportFormat::Human => print(&format!("{answer}\n{}\n", times.told()))?,
            ReportFormat::Json => {
                let refused_by = refusal.map(|refusal| &refusal.pass);
                let seconds = times.json();
                print_json(
                    &json!({ "blamed": blamed, "refused_by": refused_by, "answer": answer, "seconds": seconds }),
                )?;
            }
        }
        Ok(match (blamed, refusal, whole) {
            (Some(_), _, _) | (None, Some(_), _) | (None, None, PassVerdict::NotAllowed { .. }) => Exit::Findings,
            (None, None, PassVerdict::Open(_)) => Exit::StoppedEarly,
            (None, None, PassVerdict::Unchanged | PassVerdict::Allowed { .. }) if any_open => Exit::StoppedEarly,
            (None, None, PassVerdict::Unchanged | PassVerdict::Allowed { .. }) => Exit::AsExpected,
        })
    }

    /// A line for a verdict.
    pub(super) fn tell(&self, pass: &str, judged: &Judged) -> Result<(), Failure> {
        match self.args.format {
            _ if !self.tells => Ok(()),
            ReportFormat::Human => print(&judged.told(pass, self.runs)),
            ReportFormat::Json => print_json(&judged.json(pass)),
        }
    }

    pub(super) fn tell_refusal(&self, refusal: &Refusal) -> Result<(), Failure> {
        let Refusal { pass, message, left, without } = refusal;
        match self.args.format {
            ReportFormat::Human => {
                let without = match without.as_slice() {
                    [] => String::new(),
                    names => format!("; it is accepted without any one of {}", names.join(", ")),
                };
                print(&format!("  {} refuses the program: {message}{without}\n", pass.as_deref().unwrap_or("TVM")))
            }
            ReportFormat::Json => {
                print_json(&json!({ "refuses": pass, "message": message, "left": left, "without": without }))
            }
        }
    }
}
