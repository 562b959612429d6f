//! Cases that the documentation of operators leaves open. Each of these errata defines such a case. If a run of a
//! program meets one, the target may also follow the letter of the text (`OPT.LEFT-OPEN`).

use super::calls::Plan;
use super::compare::{Judged, RefinementComparison};
use super::{Observed, RefineError, RefinementVerdict};
use crate::book::{Erratum, Reading};
use crate::judge::Ending;
use crate::value::ValueSpec;

/// The errata on the meaning of negative indices and bounds, and on the position of NaN in an order.
pub const LEFT_OPEN: [Erratum; 6] =
    [Erratum::A60, Erratum::A61, Erratum::A62, Erratum::A63, Erratum::A64, Erratum::A77];

/// The behaviour of the source by the letter of the text, if a run meets a case that it leaves open.
#[derive(Debug)]
pub(super) enum ByLetter {
    /// Unspecified; the text says what is left open.
    Open(String),
    /// Different from the behaviour with the corrections.
    Other(Box<Observed>),
}

impl RefinementComparison<'_> {
    /// OPT.LEFT-OPEN: a difference from the corrections is allowed if it follows the letter. If the letter leaves the
    /// case open, the verdict is undecided.
    pub(super) fn unless_left_open(
        &mut self,
        args: &[ValueSpec],
        before: &Observed,
        judged: Judged,
    ) -> Result<Judged, RefineError> {
        if !matches!(judged.verdict, RefinementVerdict::NotAllowed { .. }) {
            return Ok(judged);
        }
        match self.by_letter(args, before)? {
            Some(ByLetter::Open(reason)) if self.cx.fire(rule!("OPT.LEFT-OPEN")) => {
                Ok(Judged { verdict: RefinementVerdict::Undecided(reason), left_open: true, ..judged })
            }
            Some(ByLetter::Other(before)) => match self.judge(args, &before)? {
                other if other.verdict == RefinementVerdict::Allowed && self.cx.fire(rule!("OPT.LEFT-OPEN")) => {
                    Ok(other)
                }
                _ => Ok(judged),
            },
            Some(ByLetter::Open(_)) | None => Ok(judged),
        }
    }

    /// The behaviour of the source by the letter of these errata, if it differs from the corrected one.
    pub(super) fn by_letter(
        &mut self,
        args: &[ValueSpec],
        corrected: &Observed,
    ) -> Result<Option<ByLetter>, RefineError> {
        let reading = self.cx.reading.with_literal(&LEFT_OPEN);
        let observed = self.source_under(reading, args, corrected)?;
        Ok(match &observed.outcome {
            Ending::Unspecified(reason) if !matches!(corrected.outcome, Ending::Unspecified(_)) => {
                Some(ByLetter::Open(format!("the documentation of an operator leaves open what it gives: {reason}")))
            }
            _ if observed == *corrected => None,
            Ending::Value(_) | Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_) => {
                Some(ByLetter::Other(Box::new(observed)))
            }
        })
    }

    fn source_under(
        &mut self,
        reading: Reading,
        args: &[ValueSpec],
        corrected: &Observed,
    ) -> Result<Observed, RefineError> {
        let mut cx = self.cx.clone().with_reading(reading);
        let (observed, steps) = self.source.observe(&mut cx, args, Plan::Repeat(&corrected.closures), None, None)?;
        self.steps += steps;
        Ok(observed)
    }
}
