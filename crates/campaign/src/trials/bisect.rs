//! Crashes that do not occur when their program is asked alone: an earlier program in the same process has left damage
//! behind. This module searches the earlier programs for it, and the finding is then about that program.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::compare::module_of;
use super::judge::judge;
use super::path::Path;
use super::verdict::{ProgramQuestion, TrialVerdict};
use super::witness::Witness;
use crate::questions;
use crate::shrink::{Pass, Shows, halves, shrink};
use ask::implementation::Implementation;
use ask::protocol::Identity;
use ask::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::question::{Ask, Outcome, ProgramInput};
use relax_spec::syntax::tvmscript::Dialect;

/// How many earlier questions are searched for the cause of a crash.
const REMEMBERED: usize = 64;

/// An implementation, the time spent waiting for it, and the questions that its process was asked so far.
pub(super) struct Remembering {
    inner: Box<dyn Implementation + Send>,
    pub(super) waited: Duration,
    since: VecDeque<Ask>,
    /// The questions that the last lost process had been asked, and the question at which it was lost.
    lost: Option<(Vec<Ask>, Ask)>,
}

impl Remembering {
    pub(super) fn new(inner: Box<dyn Implementation + Send>) -> Remembering {
        Remembering { inner, waited: Duration::ZERO, since: VecDeque::new(), lost: None }
    }

    /// The questions that the last lost process had been asked; each loss is returned only once.
    pub(super) fn take_lost(&mut self) -> Option<(Vec<Ask>, Ask)> {
        self.lost.take()
    }
}

impl Implementation for Remembering {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn edition(&self) -> Edition {
        self.inner.edition()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let begun = Instant::now();
        let outcome = self.inner.ask(edition, ask);
        self.waited += begun.elapsed();
        if outcome.as_ref().is_ok_and(is_lost) {
            self.lost = Some((self.since.drain(..).collect(), ask.clone()));
        } else {
            if self.since.len() == REMEMBERED {
                self.since.pop_front();
            }
            self.since.push_back(ask.clone());
        }
        outcome
    }

    fn renew(&mut self) {
        self.since.clear();
        self.inner.renew();
    }
}

/// Whether the process is gone.
fn is_lost(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Crash { .. } | Outcome::Timeout { .. })
}

fn is_crash(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Crash { .. })
}

/// The earlier question that causes the loss of the process, at once or by the crash that follows in a new process.
/// None if no single question can be identified, or an answer does not come: waiting for each would take too long.
pub(super) fn culprit(
    implementation: &mut dyn Implementation,
    before: Vec<Ask>,
    then: &Ask,
) -> Result<Option<Ask>, StartError> {
    let mut crash = CrashAfter { implementation, then, is_silent: false };
    let Some(mut before) = crash.shows(&Vec::new(), before)? else { return Ok(None) };
    let parts = Pass::new("questions", |before: &Vec<Ask>, from| {
        let kept = move |range: Range<usize>| before.iter().enumerate().filter(move |(at, _)| !range.contains(at));
        Box::new(halves(before.len(), from).map(move |range| Some(kept(range).map(|(_, ask)| ask.clone()).collect())))
    });
    shrink(&mut before, &[parts], &mut crash)?;
    Ok(before.pop().filter(|_| before.is_empty() && !crash.is_silent))
}

/// Shows the crash if a new process crashes on one of the questions, or on the question after them.
struct CrashAfter<'a> {
    implementation: &'a mut dyn Implementation,
    then: &'a Ask,
    /// Whether an answer did not come.
    is_silent: bool,
}

impl Shows<Vec<Ask>> for CrashAfter<'_> {
    type Error = StartError;
    type Size = usize;

    fn size(&self, of: &Vec<Ask>) -> usize {
        of.len()
    }

    fn left(&self) -> usize {
        usize::from(!self.is_silent)
    }

    fn shows(&mut self, _: &Vec<Ask>, before: Vec<Ask>) -> Result<Option<Vec<Ask>>, StartError> {
        self.implementation.renew();
        let edition = self.implementation.edition();
        let mut is_crash_shown = false;
        for ask in before.iter().chain([self.then]) {
            let outcome = self.implementation.ask(edition, ask)?;
            if is_lost(&outcome) {
                is_crash_shown = is_crash(&outcome);
                self.is_silent = !is_crash_shown;
                break;
            }
        }
        Ok(is_crash_shown.then_some(before))
    }
}

/// An implementation that is asked another question in the same process after each question, and answers with its
/// crash.
pub(super) struct Followed<'a> {
    pub(super) inner: &'a mut dyn Implementation,
    pub(super) then: &'a Ask,
}

impl Implementation for Followed<'_> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn edition(&self) -> Edition {
        self.inner.edition()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        self.inner.renew();
        let own = self.inner.ask(edition, ask)?;
        if is_lost(&own) {
            return Ok(without_number(own));
        }
        let then = self.inner.ask(edition, self.then)?;
        Ok(if is_crash(&then) { without_number(then) } else { own })
    }
}

/// The run number of another question says nothing about this one.
fn without_number(outcome: Outcome) -> Outcome {
    let Outcome::Crash { cause, stage, stderr } = outcome else { return outcome };
    let stage = stage.map(|stage| stage.split(' ').next().unwrap_or_default().to_string());
    Outcome::Crash { cause, stage, stderr }
}

/// The program of a question as a witness of the next question's crash; none if the question does not run a program.
pub(super) fn witness_of(followed: &mut Followed<'_>, culprit: &Ask) -> Result<Option<Witness>, StartError> {
    let Ask::Trial(program, way, entry, inputs) = culprit else { return Ok(None) };
    let edition = followed.edition();
    let (path, module) = match program {
        ProgramInput::Module(module) => (Path::named(way), Some(module.clone())),
        ProgramInput::Script(text) => (Some(Path::Text), module_of(edition, text)),
    };
    let (Some(path), Some(module)) = (path, module) else { return Ok(None) };
    let outcome = followed.ask(edition, culprit)?;
    Ok(match judge(ProgramQuestion::of(followed, &module, entry, inputs), &path, &outcome) {
        TrialVerdict::Differs(difference) => Some(Witness::new(edition, module, entry.clone(), path, *difference)),
        TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => None,
    })
}

/// The question as a text, for people.
pub(super) fn text_of(ask: &Ask, dialect: Dialect) -> String {
    let programs: Vec<String> =
        ask.programs().into_iter().map(|program| questions::text_of(program, dialect)).collect();
    if programs.is_empty() { ask.to_string() } else { programs.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ask::implementation::InProcess;
    use relax_spec::book::Reading;

    /// An implementation that does not answer.
    struct Silent(InProcess, usize);

    impl Implementation for Silent {
        fn identity(&self) -> &Identity {
            self.0.identity()
        }

        fn ask(&mut self, _: Edition, _: &Ask) -> Result<Outcome, StartError> {
            self.1 += 1;
            Ok(Outcome::Timeout { stage: None })
        }
    }

    #[test]
    fn who_does_not_answer_is_waited_for_once() {
        let ask = Ask::Parse(String::new());
        let mut silent = Silent(InProcess::new(Reading::corrected()), 0);
        assert_eq!(culprit(&mut silent, vec![ask.clone(); 8], &ask).unwrap(), None);
        assert_eq!(silent.1, 1);
    }
}
