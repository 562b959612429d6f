//! The part of an outcome that is kept after its judgement: as much as a report shows, however long it is.

use std::fmt::{self, Write as _};
use std::io;

use relax_spec::data::{Write, to_document};
use relax_spec::question::{Answer, Outcome};
use relax_spec::suite::compare::CaseComparison;
use relax_spec::value::Effect;

/// The number of bytes of a text to keep.
pub const KEPT_TEXT: usize = 2 * 1024;
/// The maximum number of bytes of JSON of an answer that is kept whole. Only the start of a longer one is kept, as
/// text.
pub const KEPT_ANSWER: usize = 8 * 1024;

/// The outcome with each part shortened to the limits, with a note where one is cut.
pub(super) fn outcome(whole: Outcome) -> Outcome {
    match whole {
        Outcome::Answer { answer, warnings } => Outcome::Answer { answer: kept_answer(answer), warnings },
        Outcome::Rejected { stage, class, message } => {
            Outcome::Rejected { stage: text(stage), class: text(class), message: text(message) }
        }
        Outcome::Trapped { class, message, effects } => {
            let (effects, more) = kept_effects(effects);
            let note =
                if more == 0 { String::new() } else { format!(" (and {more} effects more, which are not kept)") };
            Outcome::Trapped { class: text(class), message: text(message) + &note, effects }
        }
        Outcome::Unsupported { what } => Outcome::Unsupported { what: text(what) },
        Outcome::InternalError { message } => Outcome::InternalError { message: text(message) },
        Outcome::Crash { cause, stage, stderr } => {
            Outcome::Crash { cause: text(cause), stage: stage.map(text), stderr: text(stderr) }
        }
        Outcome::Timeout { stage } => Outcome::Timeout { stage: stage.map(text) },
        Outcome::ProtocolError { message } => Outcome::ProtocolError { message: text(message) },
        Outcome::Flaky { first, second } => {
            Outcome::Flaky { first: Box::new(outcome(*first)), second: Box::new(outcome(*second)) }
        }
    }
}

/// The comparison with its reason shortened to the limit.
pub(super) fn comparison(whole: CaseComparison) -> CaseComparison {
    CaseComparison { why: whole.why.map(text), ..whole }
}

fn text(whole: String) -> String {
    if whole.len() <= KEPT_TEXT {
        return whole;
    }
    let start = whole.get(..whole.floor_char_boundary(KEPT_TEXT)).unwrap_or_default();
    format!("{start} .. ({} more bytes)", whole.len() - start.len())
}

fn kept_answer(whole: Answer) -> Answer {
    if bytes(&whole, KEPT_ANSWER).is_some() {
        return whole;
    }
    let mut start = Start(String::new());
    // An error means that the limit was exceeded.
    let rest = if write!(start, "{whole}").is_err() { " .. (the rest is not kept)" } else { " (not kept at length)" };
    Answer::Text(start.0 + rest)
}

/// The first effects, and the number of further ones.
fn kept_effects(mut effects: Vec<Effect>) -> (Vec<Effect>, usize) {
    let mut left = KEPT_ANSWER;
    let fits = |effect: &&Effect| match bytes(*effect, left) {
        Some(used) => {
            left -= used;
            true
        }
        None => false,
    };
    let kept = effects.iter().take_while(fits).count();
    let more = effects.len() - kept;
    effects.truncate(kept);
    effects.shrink_to_fit();
    (effects, more)
}

/// The number of bytes of its JSON, unless there are more than `most`.
fn bytes<T: Write + ?Sized>(value: &T, most: usize) -> Option<usize> {
    let mut count = Count { bytes: 0, most };
    serde_json::to_writer(&mut count, &*to_document(value)).is_ok().then_some(count.bytes)
}

struct Count {
    bytes: usize,
    most: usize,
}

impl io::Write for Count {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(written.len());
        if self.bytes > self.most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(written.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The start of the written text.
struct Start(String);

impl fmt::Write for Start {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        let room = KEPT_TEXT - self.0.len();
        let fits = written.get(..written.floor_char_boundary(room)).unwrap_or_default();
        self.0.push_str(fits);
        if fits.len() == written.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_kept_and_what_is_long_is_cut_with_a_note() {
        let said = |message: String| outcome(Outcome::InternalError { message }).to_string();
        assert_eq!(said("é".into()), "internal error: é");
        let long = said(format!("x{}", "é".repeat(500_000)));
        assert!(long.len() < KEPT_TEXT + 100 && long.ends_with(&format!(" .. ({} more bytes)", 1_000_001 - 2047)));
        let answered = |text: String| outcome(Outcome::Answer { answer: Answer::Text(text), warnings: None });
        assert_eq!(answered("é".into()).to_string(), "é");
        let long = answered("é".repeat(500_000)).to_string();
        assert!(long.len() < KEPT_TEXT + 100 && long.ends_with("é .. (the rest is not kept)"), "{long}");
    }
}
