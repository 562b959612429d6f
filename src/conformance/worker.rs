//! One adapter process: started, greeted, asked one question at a time, and lost without harm.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::case::Ask;
use super::outcome::Outcome;
use super::protocol::{Greeting, Line, Question, Request};
use crate::cx::Edition;

/// How to start an adapter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterCommand {
    pub program: String,
    pub args: Vec<String>,
}

/// Why there is no adapter to ask.
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

/// The longest line that is read; a longer one breaks the protocol.
const MAX_LINE: u64 = 256 * 1024 * 1024;
/// How many lines of standard error are kept for the report of a crash.
const STDERR_LINES: usize = 20;
/// How long a process that closed its output may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// What the reading thread saw.
enum Event {
    Line(String),
    /// The output ended, or something that is not text came.
    End(Option<String>),
}

/// A running adapter.
pub struct Worker {
    child: Child,
    to_child: Option<Sender<String>>,
    from_child: Receiver<Event>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    pub greeting: Greeting,
    next_id: u64,
}

/// Whether the worker can be asked again.
pub enum After {
    Usable,
    Lost,
}

impl Worker {
    /// Starts the process and exchanges greetings.
    pub fn start(command: &AdapterCommand, startup: Duration) -> Result<Worker, StartError> {
        let name = command.to_string();
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| StartError::Spawn { command: name.clone(), error })?;
        let to_child = child.stdin.take().map(write_in_background);
        let from_child = read_in_background(child.stdout.take());
        let stderr = keep_last_lines(child.stderr.take());
        let greeting = Greeting {
            id: 0,
            protocol: super::protocol::VERSION,
            implementation: super::protocol::Implementation { name: String::new(), version: String::new() },
            capabilities: Vec::new(),
        };
        let mut worker = Worker { child, to_child, from_child, stderr, greeting, next_id: 1 };
        worker.greet(name, startup)?;
        Ok(worker)
    }

    fn greet(&mut self, command: String, startup: Duration) -> Result<(), StartError> {
        self.send(Request::hello_line());
        match self.from_child.recv_timeout(startup) {
            Ok(Event::Line(line)) => {
                self.greeting = Greeting::parse(&line)
                    .map_err(|error| StartError::Protocol { command, message: error.to_string() })?;
                Ok(())
            }
            Ok(Event::End(_)) | Err(RecvTimeoutError::Disconnected) => {
                let cause = self.ending();
                Err(StartError::Ended { command, cause, stderr: self.indented_stderr() })
            }
            Err(RecvTimeoutError::Timeout) => {
                let stderr = self.indented_stderr();
                Err(StartError::Timeout { command, seconds: startup.as_secs(), stderr })
            }
        }
    }

    /// Asks a question and waits for the reply until the time is up.
    pub fn ask(&mut self, edition: Edition, ask: &Ask, timeout: Duration) -> (Outcome, After) {
        let question = Question { id: self.next_id, edition, ask: ask.clone() };
        self.next_id += 1;
        match question.to_line() {
            Ok(line) => self.send(line),
            Err(error) => return (Outcome::InternalError { message: error.to_string() }, After::Usable),
        }
        let deadline = Instant::now() + timeout;
        let mut stage = None;
        loop {
            match self.from_child.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Line(line)) => match Line::parse(&line) {
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
                Ok(Event::End(Some(message))) => return (Outcome::ProtocolError { message }, After::Lost),
                Ok(Event::End(None)) | Err(RecvTimeoutError::Disconnected) => {
                    let cause = self.ending();
                    return (Outcome::Crash { cause, stage, stderr: self.last_stderr() }, After::Lost);
                }
                Err(RecvTimeoutError::Timeout) => return (Outcome::Timeout { stage }, After::Lost),
            }
        }
    }

    /// A line that cannot be sent shows as the end of the process on the reading side.
    fn send(&self, line: String) {
        if let Some(to_child) = &self.to_child {
            let _ = to_child.send(line);
        }
    }

    /// How the process ended; one that lingers is killed.
    fn ending(&mut self) -> String {
        self.to_child = None;
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(status)) => return describe(status),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return error.to_string(),
            }
        }
        "closed its output and went on running".to_string()
    }

    fn last_stderr(&self) -> String {
        // The reading thread may lag behind the end of the process by a moment.
        thread::sleep(Duration::from_millis(50));
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<String>>().join("\n")
    }

    fn indented_stderr(&self) -> String {
        self.last_stderr().lines().map(|line| format!("\n  | {line}")).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.send(Request::bye_line());
        self.to_child = None;
        let deadline = Instant::now() + Duration::from_millis(200);
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a process in words.
fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal} ({})", signal_name(signal));
    }
    status.to_string()
}

#[cfg(unix)]
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => "see signal(7)",
    }
}

/// Writing happens in a thread, so that an adapter that does not read cannot block the runner.
fn write_in_background(mut stdin: std::process::ChildStdin) -> Sender<String> {
    let (sender, lines) = channel::<String>();
    thread::spawn(move || {
        for line in lines {
            let written =
                stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush());
            if written.is_err() {
                return;
            }
        }
    });
    sender
}

fn read_in_background(stdout: Option<std::process::ChildStdout>) -> Receiver<Event> {
    let (sender, events) = channel();
    thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        let mut reader = BufReader::new(stdout);
        loop {
            let event = read_line(&mut reader);
            let last = matches!(event, Event::End(_));
            if sender.send(event).is_err() || last {
                return;
            }
        }
    });
    events
}

fn read_line(reader: &mut impl BufRead) -> Event {
    let mut bytes = Vec::new();
    match reader.take(MAX_LINE).read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return Event::End(None),
        Ok(_) => {}
    }
    if bytes.last() != Some(&b'\n') {
        // Cut off by the end of the process, or longer than what is read.
        return if bytes.len() as u64 == MAX_LINE {
            Event::End(Some("a line without end".into()))
        } else {
            Event::End(None)
        };
    }
    match String::from_utf8(bytes) {
        Ok(line) => Event::Line(line),
        Err(_) => Event::End(Some("a line that is not UTF-8".into())),
    }
}

fn keep_last_lines(stderr: Option<std::process::ChildStderr>) -> Arc<Mutex<VecDeque<String>>> {
    let kept = Arc::new(Mutex::new(VecDeque::new()));
    let shared = Arc::clone(&kept);
    thread::spawn(move || {
        let Some(stderr) = stderr else { return };
        let mut reader = BufReader::new(stderr);
        let mut bytes = Vec::new();
        while matches!(reader.by_ref().take(64 * 1024).read_until(b'\n', &mut bytes), Ok(n) if n > 0) {
            let mut lines = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == STDERR_LINES {
                lines.pop_front();
            }
            lines.push_back(String::from_utf8_lossy(&bytes).trim_end().to_string());
            bytes.clear();
        }
    });
    kept
}

impl std::fmt::Display for AdapterCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}
