//! One adapter process: started, greeted, asked one question at a time, and lost without harm.

use std::time::{Duration, Instant};

use super::case::Ask;
use super::outcome::Outcome;
use super::process::{CommandLine, LineProcess, Received};
use super::protocol::{Greeting, Line, Question, Request};
use crate::book::Edition;

/// Why there is no process to ask.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot start `{command}`: {error}")]
    Spawn { command: String, error: std::io::Error },
    #[error("`{command}` did not answer `hello` within {seconds} s{stderr}")]
    Timeout { command: String, seconds: u64, stderr: String },
    #[error("`{command}` ended before it answered `hello` ({cause}){stderr}")]
    Ended { command: String, cause: String, stderr: String },
    #[error("`{command}` broke the protocol on `hello`: {message}")]
    Protocol { command: String, message: String },
}

/// A running adapter.
pub struct Worker {
    process: LineProcess,
    pub greeting: Greeting,
    next_id: u64,
}

/// Whether the worker can be asked again.
pub enum After {
    Usable,
    Lost,
}

/// Starts a process and says `hello` to it: the process, and the line that it answers.
pub fn start_and_greet(command: &CommandLine, startup: Duration) -> Result<(LineProcess, String), StartError> {
    let name = command.to_string();
    let mut process =
        LineProcess::start(command).map_err(|error| StartError::Spawn { command: name.clone(), error })?;
    process.send(Request::hello_line());
    match process.receive(startup) {
        Received::Line(line) => Ok((process, line)),
        Received::Malformed(_) | Received::Ended => {
            let cause = process.ending();
            Err(StartError::Ended { command: name, cause, stderr: process.indented_stderr() })
        }
        Received::TimedOut => {
            let stderr = process.indented_stderr();
            Err(StartError::Timeout { command: name, seconds: startup.as_secs(), stderr })
        }
    }
}

impl Worker {
    /// Starts the process and exchanges greetings.
    pub fn start(command: &CommandLine, startup: Duration) -> Result<Worker, StartError> {
        let (process, line) = start_and_greet(command, startup)?;
        let greeting = Greeting::parse(&line)
            .map_err(|error| StartError::Protocol { command: command.to_string(), message: error.to_string() })?;
        Ok(Worker { process, greeting, next_id: 1 })
    }

    /// Asks a question and waits for the reply until the time is up.
    pub fn ask(&mut self, edition: Edition, ask: &Ask, timeout: Duration) -> (Outcome, After) {
        let question = Question { id: self.next_id, edition, ask: ask.clone() };
        self.next_id += 1;
        match question.to_line() {
            Ok(line) => self.process.send(line),
            Err(error) => return (Outcome::InternalError { message: error.to_string() }, After::Usable),
        }
        let deadline = Instant::now() + timeout;
        let mut stage = None;
        loop {
            match self.process.receive(deadline.saturating_duration_since(Instant::now())) {
                Received::Line(line) => match Line::parse(&line) {
                    Ok(Line::Heartbeat { id, stage: now }) if id == question.id => stage = Some(now),
                    Ok(Line::Reply { id, reply }) if id == question.id => {
                        return (Outcome::from_reply(ask, reply), After::Usable);
                    }
                    Ok(Line::Heartbeat { id, .. } | Line::Reply { id, .. }) => {
                        let message = format!("a line about question {id} while question {} is open", question.id);
                        return (Outcome::ProtocolError { message }, After::Lost);
                    }
                    Err(error) => return (Outcome::ProtocolError { message: error.to_string() }, After::Lost),
                },
                Received::Malformed(message) => return (Outcome::ProtocolError { message }, After::Lost),
                Received::Ended => {
                    let cause = self.process.ending();
                    return (Outcome::Crash { cause, stage, stderr: self.process.last_stderr() }, After::Lost);
                }
                Received::TimedOut => return (Outcome::Timeout { stage }, After::Lost),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.process.send(Request::bye_line());
    }
}
