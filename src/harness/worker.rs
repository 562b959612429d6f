//! One adapter process: started, greeted, asked one question at a time, and lost without harm.

use std::time::{Duration, Instant};

use super::implementation::Launch;
use super::process::{CommandLine, Interrupt, LineProcess, Received};
use super::protocol::{Greeting, Line, Question, Request};
use crate::book::Edition;
use crate::question::{Ask, Outcome};

/// Why there is no process to ask.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system does not start the command.
    #[error("cannot start `{command}`: {error}")]
    Spawn {
        /// As given.
        command: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// It started, and did not introduce itself.
    #[error("`{command}` did not answer `hello` within {seconds} s{stderr}")]
    Timeout {
        /// As given.
        command: String,
        /// The limit.
        seconds: u64,
        /// Its last lines on standard error; empty if it wrote none.
        stderr: String,
    },
    /// It ended without introducing itself.
    #[error("`{command}` ended before it answered `hello` ({cause}){stderr}")]
    Ended {
        /// As given.
        command: String,
        /// The signal or the exit status, in words.
        cause: String,
        /// Its last lines on standard error; empty if it wrote none.
        stderr: String,
    },
    /// Its greeting is none.
    #[error("`{command}` broke the protocol on `hello`: {message}")]
    Protocol {
        /// As given.
        command: String,
        /// What is wrong with it.
        message: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A running adapter.
#[derive(Debug)]
pub struct Worker {
    process: LineProcess,
    /// How it introduced itself.
    pub greeting: Greeting,
    next_id: u64,
}

/// Whether the worker can be asked again.
pub enum After {
    /// It waits for the next question.
    Usable,
    /// The process is gone, or cannot be trusted any more.
    Lost,
}

/// Starts a process and says `hello` to it: the process, and the line that it answers.
pub fn start_and_greet(
    command: &CommandLine,
    startup: Duration,
    interrupt: &Interrupt,
) -> Result<(LineProcess, String), StartError> {
    let name = command.to_string();
    let mut process =
        LineProcess::start(command, interrupt).map_err(|error| StartError::Spawn { command: name.clone(), error })?;
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
        Received::Interrupted => Err(StartError::Interrupted),
    }
}

impl Worker {
    /// Starts the process and exchanges greetings.
    pub fn start(launch: &Launch) -> Result<Worker, StartError> {
        let (process, line) = start_and_greet(&launch.command, launch.startup, &launch.interrupt)?;
        let greeting = Greeting::parse(&line).map_err(|error| StartError::Protocol {
            command: launch.command.to_string(),
            message: error.to_string(),
        })?;
        Ok(Worker { process, greeting, next_id: 1 })
    }

    /// Asks a question and waits for the reply until the time is up.
    pub fn ask(&mut self, edition: Edition, ask: &Ask, timeout: Duration) -> Result<(Outcome, After), StartError> {
        let question = Question { id: self.next_id, edition, ask: ask.clone() };
        self.next_id += 1;
        self.process.send(question.to_line());
        let deadline = Instant::now() + timeout;
        let mut stage = None;
        loop {
            match self.process.receive(deadline.saturating_duration_since(Instant::now())) {
                Received::Line(line) => match Line::parse(&line) {
                    Ok(Line::Heartbeat { id, stage: now }) if id == question.id => stage = Some(now),
                    Ok(Line::Reply { id, reply }) if id == question.id => {
                        return Ok((reply.into_outcome(ask), After::Usable));
                    }
                    Ok(Line::Heartbeat { id, .. } | Line::Reply { id, .. }) => {
                        let message = format!("a line about question {id} while question {} is open", question.id);
                        return Ok((Outcome::ProtocolError { message }, After::Lost));
                    }
                    Err(error) => return Ok((Outcome::ProtocolError { message: error.to_string() }, After::Lost)),
                },
                Received::Malformed(message) => return Ok((Outcome::ProtocolError { message }, After::Lost)),
                Received::Ended => {
                    let cause = self.process.ending();
                    return Ok((Outcome::Crash { cause, stage, stderr: self.process.last_stderr() }, After::Lost));
                }
                Received::TimedOut => return Ok((Outcome::Timeout { stage }, After::Lost)),
                Received::Interrupted => return Err(StartError::Interrupted),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.process.send(Request::bye_line());
    }
}
