//! What asking about a program gave, as a line. Several processes, on several machines, ask; one merges their lines. It
//! handles the differences in the order of the programs, and so finds what a campaign in one process finds.

use serde::{Deserialize, Serialize};

use super::path::Path;
use super::settings::CampaignSettings;
use super::signature::FailureSignature;
use super::tally::CampaignTally;
use super::triage::QueuedDifference;
use super::verdict::TrialDifference;
use crate::generate::Tape;
use crate::programs::{Drawn, ProgramSource};
use ask::protocol::{AdapterRequest, WireQuestion, from_data, parse_json, to_line};
use relax_spec::book::Edition;
use relax_spec::data::FromData;
use relax_spec::question::Ask;

/// What asking about one program gave.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialRecord {
    pub(super) number: u64,
    /// Of the options that decide what is asked: records of other options cannot be merged.
    pub(super) options: String,
    pub(super) tally: CampaignTally,
    found: Vec<RecordedDifference>,
}

/// A difference that waits until it is merged.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedDifference {
    program: RecordedProgram,
    entry: String,
    path: String,
    signature: FailureSignature,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    expected: String,
    given: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// For a crash: the questions that the process had been asked, and the question at which it was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<(Vec<String>, String)>,
}

/// How the program is made again.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedProgram {
    /// From its tape.
    Tape(Vec<u32>),
    /// As the program of its number that breaks a rule.
    Violating,
    /// It is this module as JSON, which was not drawn. A text of its own, it may nest as deep as the protocol allows.
    Module(String),
}

/// Names the options that decide what is asked, and the version of the generator.
pub(super) fn options_of(source: &ProgramSource, settings: &CampaignSettings) -> String {
    let CampaignSettings { seed, paths, runs, seeds, .. } = settings;
    let text = format!("{} {:?} {seed} {paths:?} {runs} {seeds}", env!("CARGO_PKG_VERSION"), source.restriction());
    format!("{:016x}", super::signature::fnv(&text))
}

impl TrialRecord {
    pub(super) fn of(
        number: u64,
        options: &str,
        tally: CampaignTally,
        found: Vec<QueuedDifference>,
        source: &ProgramSource,
    ) -> TrialRecord {
        let edition = source.edition();
        let found = found.into_iter().map(|queued| RecordedDifference::of(queued, edition, source)).collect();
        TrialRecord { number, options: options.to_string(), tally, found }
    }

    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// It is no record.
    pub(super) fn parse(line: &str) -> Result<TrialRecord, String> {
        let mut record: TrialRecord = serde_json::from_str(line).map_err(|error| error.to_string())?;
        record.tally.coverage.with_pairs();
        Ok(record)
    }

    /// The differences of the program.
    ///
    /// # Errors
    ///
    /// A part of one cannot be read.
    pub(super) fn differences(&mut self, seed: u64, source: &ProgramSource) -> Result<Vec<QueuedDifference>, String> {
        let number = self.number;
        self.found.drain(..).map(|recorded| recorded.queued(seed, number, source)).collect()
    }
}

impl RecordedDifference {
    fn of(queued: QueuedDifference, edition: Edition, source: &ProgramSource) -> RecordedDifference {
        let QueuedDifference { number: _, drawn, entry, path, difference, text, lost } = queued;
        let TrialDifference { signature, message, input, expected, given } = difference;
        let line = |ask: Ask| WireQuestion { id: 0, basis: edition.into(), ask }.to_line();
        RecordedDifference {
            program: RecordedProgram::of(drawn, source),
            entry: entry.to_string(),
            path: path.to_string(),
            signature,
            message,
            input: input.as_ref().map(to_line),
            expected,
            given,
            text,
            lost: lost.map(|(before, then)| (before.into_iter().map(line).collect(), line(then))),
        }
    }

    fn queued(self, seed: u64, number: u64, source: &ProgramSource) -> Result<QueuedDifference, String> {
        let RecordedDifference { program, entry, path, signature, message, input, expected, given, text, lost } = self;
        let input = input.map(|input| read(&input)).transpose()?;
        let lost = match lost {
            None => None,
            Some((before, then)) => {
                Some((before.iter().map(|line| asked(line)).collect::<Result<_, _>>()?, asked(&then)?))
            }
        };
        Ok(QueuedDifference {
            number,
            drawn: program.drawn(seed, number, source)?,
            entry: entry.as_str().into(),
            path: Path::named(&path).ok_or_else(|| format!("there is no path `{path}`"))?,
            difference: TrialDifference { signature, message, input, expected, given },
            text,
            lost,
        })
    }
}

impl RecordedProgram {
    fn of(drawn: Drawn, source: &ProgramSource) -> RecordedProgram {
        if drawn.choices.is_empty() {
            return RecordedProgram::Module(to_line(&drawn.module));
        }
        // A program that breaks a rule has the tape of the one that does not.
        let again = source.of_tape(Tape::from_choices(drawn.choices.clone()));
        if again.module == drawn.module { RecordedProgram::Tape(drawn.choices) } else { RecordedProgram::Violating }
    }

    fn drawn(self, seed: u64, number: u64, source: &ProgramSource) -> Result<Drawn, String> {
        match self {
            RecordedProgram::Tape(choices) => Ok(source.of_tape(Tape::from_choices(choices))),
            RecordedProgram::Violating => match source.violating(seed, number) {
                Some((drawn, _)) => Ok(drawn),
                None => Err(format!("program {number} breaks no rule")),
            },
            RecordedProgram::Module(module) => Ok(Drawn::given(read(&module)?)),
        }
    }
}

fn read<T: FromData>(text: &str) -> Result<T, String> {
    parse_json(text).and_then(|data| from_data(&data)).map_err(|error| error.to_string())
}

fn asked(line: &str) -> Result<Ask, String> {
    match AdapterRequest::parse(line).and_then(|(_, request)| request) {
        Ok(AdapterRequest::Question(question)) => Ok(question.ask),
        Ok(AdapterRequest::Hello { .. } | AdapterRequest::Bye) => Err("a question is expected".to_string()),
        Err(error) => Err(error.to_string()),
    }
}
