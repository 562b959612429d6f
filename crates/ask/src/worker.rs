//! One adapter process. It is started, exchanges greetings, and answers one question at a time; its loss does no harm.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::process::{CommandLine, Interrupt, LineProcess, Received, deadline_in};
use crate::protocol::{AdapterGreeting, AdapterLine, AdapterReply, AdapterRequest, WireQuestion};
use relax_spec::book::{Basis, Edition};
use relax_spec::grammar::one_line;
use relax_spec::question::{Ask, Outcome};

/// The reason why there is no process to ask.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system cannot start the command.
    #[error("cannot start `{command}`: {error}")]
    Spawn {
        /// The command as given.
        command: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// It started, but did not send a greeting in time.
    #[error("`{command}` did not answer `hello` within {seconds} s{stderr}")]
    Timeout {
        /// The command as given.
        command: String,
        /// The limit.
        seconds: u64,
        /// The last lines on standard error; empty if there were none.
        stderr: String,
    },
    /// It ended without a greeting.
    #[error("`{command}` ended before it answered `hello` ({cause}){stderr}")]
    Ended {
        /// The command as given.
        command: String,
        /// The signal or the exit status, in words.
        cause: String,
        /// The last lines on standard error; empty if there were none.
        stderr: String,
    },
    /// Its greeting is invalid.
    #[error("`{command}` broke the protocol on `hello`: {message}")]
    Protocol {
        /// The command as given.
        command: String,
        /// The error in the greeting.
        message: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The command and the limits of an adapter.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The command.
    pub command: CommandLine,
    /// The time limit for the greeting.
    pub startup: Duration,
    /// The time limit for an answer.
    pub timeout: Duration,
    /// The maximum number of bytes of a line.
    pub max_reply: u64,
    /// The edition by which the implementation is judged. By default, the edition that it claims.
    pub edition: Option<Edition>,
    /// Whether to keep a spare process ready, so that nobody waits for a new one after a loss.
    pub spare: bool,
    /// Asks a waiting runner to stop.
    pub interrupt: Interrupt,
}

/// A running adapter.
#[derive(Debug)]
pub struct AdapterProcess {
    process: LineProcess,
    /// Its greeting.
    pub greeting: AdapterGreeting,
    next_id: u64,
    /// Lines about questions that were answered before, each with the number of the question.
    pub(super) late: Vec<(u64, String)>,
    /// Answers to questions that were not asked yet.
    early: BTreeMap<u64, String>,
    /// The questions that ended without an answer. Their answers may still come, and until then the process is busy
    /// with them.
    owed: BTreeSet<u64>,
    /// Output before the first question.
    stray: Option<String>,
}

/// Whether the process can be asked again.
pub enum After {
    /// It waits for the next question.
    Usable,
    /// The process has ended, or can no longer be trusted.
    Lost,
    /// The same, while it still owed the answer to an earlier question.
    LostBefore,
}

/// The meaning of a line while a question is open.
enum AdapterMessage {
    Stage(String),
    Reply(Box<AdapterReply>),
    /// The answer to an earlier question. The time for it does not count for this one.
    Owed,
    /// A line about another question, which was recorded.
    Nothing,
    /// An invalid answer.
    NoAnswer(String),
    /// An error, after which the answer may still come.
    Wrong(String),
}

/// The length of the part of a wrong line to show.
const SHOWN: usize = 200;

/// The number of lines that may come with an answer. If there are more, the runner stops waiting.
const WITH_AN_ANSWER: usize = 1_000;

/// The time that a process may take to end after the last question.
const FAREWELL: Duration = Duration::from_secs(1);

/// The time to wait for more output after unexpected output.
const PATIENCE: Duration = Duration::from_millis(50);

/// Starts a process and sends `hello`. Returns the process and its first line.
pub fn start_and_greet(
    command: &CommandLine,
    startup: Duration,
    interrupt: &Interrupt,
    max_reply: u64,
) -> Result<(LineProcess, String), StartError> {
    let name = command.to_string();
    let mut process = LineProcess::start(command, interrupt, max_reply)
        .map_err(|error| StartError::Spawn { command: name.clone(), error })?;
    process.send(AdapterRequest::hello_line());
    match process.receive(deadline_in(startup)) {
        Received::Line(line) => Ok((process, line)),
        Received::Malformed(message) => Err(StartError::Protocol { command: name, message }),
        Received::Ended => {
            let cause = process.ending();
            Err(StartError::Ended { command: name, cause, stderr: process.indented_stderr() })
        }
        Received::TimedOut => {
            let stderr = process.indented_stderr();
            Err(StartError::Timeout { command: name, seconds: startup.as_secs(), stderr })
        }
        Received::Interrupted => Err(StartError::Interrupted),
    }
}

impl AdapterProcess {
    /// Starts the process and exchanges greetings.
    pub fn start(launch: &Launch) -> Result<AdapterProcess, StartError> {
        let (process, line) = start_and_greet(&launch.command, launch.startup, &launch.interrupt, launch.max_reply)?;
        let greeting = AdapterGreeting::parse(&line).map_err(|error| StartError::Protocol {
            command: launch.command.to_string(),
            message: format!("{error}: `{}`", one_line(line.trim_end(), SHOWN)),
        })?;
        Ok(AdapterProcess {
            process,
            greeting,
            next_id: 1,
            late: Vec::new(),
            early: BTreeMap::new(),
            owed: BTreeSet::new(),
            stray: None,
        })
    }

    /// Asks a question and waits for the reply until the time is up, whatever else comes.
    pub fn ask(&mut self, basis: Basis, ask: &Ask, timeout: Duration) -> Result<(Outcome, After), StartError> {
        self.take_what_came(Duration::ZERO);
        let id = self.next_id;
        self.next_id += 1;
        if let Some(line) = self.early.remove(&id) {
            let message = format!("question {id} was answered before it was asked: `{line}`");
            return Ok((Outcome::ProtocolError { message }, After::Usable));
        }
        if let Some(message) = self.stray.take() {
            return Ok((Outcome::ProtocolError { message }, After::Usable));
        }
        self.process.send(WireQuestion { id, basis, ask: ask.clone() }.to_line());
        let (outcome, after) = self.wait(id, ask, timeout)?;
        let patience = if self.owed.contains(&id) { PATIENCE } else { Duration::ZERO };
        match after {
            // A process that keeps writing is not asked again.
            After::Usable if !self.take_what_came(patience) => Ok((outcome, After::Lost)),
            After::Usable | After::Lost | After::LostBefore => Ok((outcome, after)),
        }
    }

    fn wait(&mut self, id: u64, ask: &Ask, timeout: Duration) -> Result<(Outcome, After), StartError> {
        let mut deadline = deadline_in(timeout);
        let (mut stage, late) = (None, self.late.len());
        loop {
            let said = match self.process.receive(deadline) {
                Received::Line(line) => self.about(&line, id),
                Received::Malformed(message) => AdapterMessage::Wrong(message),
                Received::Ended => {
                    let cause = self.process.ending();
                    let stderr = self.process.last_stderr();
                    return Ok((Outcome::Crash { cause, stage, stderr }, self.lost()));
                }
                // It has answered another question instead.
                Received::TimedOut if self.late.len() > late => {
                    let message = self.late.last().map(|(_, message)| message.clone()).unwrap_or_default();
                    let message = format!("{message}, and no answer to question {id}");
                    return Ok((Outcome::ProtocolError { message }, self.lost()));
                }
                Received::TimedOut => return Ok((Outcome::Timeout { stage }, self.lost())),
                Received::Interrupted => return Err(StartError::Interrupted),
            };
            match said {
                AdapterMessage::Stage(now) => stage = Some(now),
                AdapterMessage::Nothing => {}
                // Happens at most once for each question that ended without an answer, because it is then removed.
                AdapterMessage::Owed => deadline = deadline_in(timeout),
                AdapterMessage::Reply(reply) => return Ok((reply.into_outcome(ask), After::Usable)),
                AdapterMessage::NoAnswer(message) => return Ok((Outcome::ProtocolError { message }, After::Usable)),
                AdapterMessage::Wrong(message) => {
                    self.owed.insert(id);
                    return Ok((Outcome::ProtocolError { message }, After::Usable));
                }
            }
        }
    }

    /// The process can no longer be used.
    fn lost(&self) -> After {
        if self.owed.is_empty() { After::Lost } else { After::LostBefore }
    }

    /// The meaning of a line while a question is open. A line about another question is charged to that question.
    fn about(&mut self, line: &str, open: u64) -> AdapterMessage {
        let shown = one_line(line.trim_end(), SHOWN);
        let parsed = AdapterLine::parse(line);
        let (id, is_reply) = match &parsed {
            Ok(AdapterLine::Reply { id, .. }) => (Some(*id), true),
            Ok(AdapterLine::Heartbeat { id, .. }) => (Some(*id), false),
            Err((id, _)) => (*id, true),
        };
        match (id, parsed) {
            (Some(id), Ok(AdapterLine::Reply { reply, .. })) if id == open => AdapterMessage::Reply(Box::new(reply)),
            (Some(id), Ok(AdapterLine::Heartbeat { stage, .. })) if id == open => AdapterMessage::Stage(stage),
            (Some(id), Err((_, error))) if id == open => AdapterMessage::NoAnswer(format!("{error}: `{shown}`")),
            (Some(id), _) if is_reply && self.owed.remove(&id) => AdapterMessage::Owed,
            (Some(id), _) if self.owed.contains(&id) => AdapterMessage::Nothing,
            (Some(id @ 1..), _) if id < open => {
                self.late.push((id, format!("a line about question {id} after its answer: `{shown}`")));
                AdapterMessage::Nothing
            }
            (Some(id), _) => {
                if is_reply && id == open + 1 {
                    self.early.insert(id, shown.clone());
                }
                AdapterMessage::Wrong(format!("a line about question {id} while question {open} is open: `{shown}`"))
            }
            (None, Ok(_)) => AdapterMessage::Nothing,
            (None, Err((_, error))) => AdapterMessage::Wrong(format!("{error}: `{shown}`")),
        }
    }

    /// Records output that came while no question was open. Returns false if it does not end.
    fn take_what_came(&mut self, mut patience: Duration) -> bool {
        for _ in 0..WITH_AN_ANSWER {
            let received = self.process.waiting(patience);
            patience = PATIENCE;
            match received {
                Some(Received::Line(line)) => self.out_of_turn(&line),
                Some(Received::Malformed(message)) => self.charge_last(message),
                // The next question will see it too.
                Some(Received::Ended | Received::TimedOut | Received::Interrupted) | None => return true,
            }
        }
        false
    }

    fn out_of_turn(&mut self, line: &str) {
        let next = self.next_id;
        let is_answer = matches!(AdapterLine::parse(line), Ok(AdapterLine::Reply { id, .. }) if id == next);
        if is_answer {
            self.early.insert(next, one_line(line.trim_end(), SHOWN));
            return;
        }
        match self.about(line, next) {
            AdapterMessage::Stage(_) | AdapterMessage::Reply(_) | AdapterMessage::NoAnswer(_) => {
                self.charge_last(format!(
                    "a line about question {next} before it is asked: `{}`",
                    one_line(line, SHOWN)
                ));
            }
            AdapterMessage::Owed | AdapterMessage::Nothing => {}
            AdapterMessage::Wrong(message) => self.charge_last(message),
        }
    }

    /// Charges a line that belongs to no question to the last question, or records it as output before the first.
    fn charge_last(&mut self, message: String) {
        match self.next_id - 1 {
            0 => {
                self.stray.get_or_insert(message);
            }
            last => self.late.push((last, message)),
        }
    }

    /// Ends the conversation, and records the remaining output.
    pub fn finish(&mut self) {
        self.process.send(AdapterRequest::bye_line());
        self.process.close();
        let deadline = deadline_in(FAREWELL);
        for _ in 0..WITH_AN_ANSWER {
            match self.process.receive(deadline) {
                Received::Line(line) => self.out_of_turn(&line),
                Received::Malformed(message) => self.charge_last(message),
                Received::Ended | Received::TimedOut | Received::Interrupted => return,
            }
        }
    }
}

impl Drop for AdapterProcess {
    fn drop(&mut self) {
        self.process.send(AdapterRequest::bye_line());
    }
}
