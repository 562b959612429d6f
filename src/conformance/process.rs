//! A process that is spoken to in lines: started, written to and read from without ever blocking on it, and ended.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How to start a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
}

impl CommandLine {
    /// Splits a line as a shell would, without running one; `None` if its quotes are unbalanced or it is empty.
    pub fn split(line: &str) -> Option<CommandLine> {
        let mut words = shlex::split(line)?.into_iter();
        let program = words.next()?;
        Some(CommandLine { program, args: words.collect() })
    }
}

/// The longest line that is read; a longer one is an error of the process.
const MAX_LINE: u64 = 256 * 1024 * 1024;
/// How many lines of standard error are kept for the report of a crash.
const STDERR_LINES: usize = 20;
/// How long a process that closed its output may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long a process may take to end after its input was closed.
const FAREWELL: Duration = Duration::from_millis(200);

/// What the reading thread saw.
enum Event {
    Line(String),
    /// The output ended, or something that is not text came.
    End(Option<String>),
}

/// What came of waiting for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    Line(String),
    /// Something that is no line of text.
    Malformed(String),
    Ended,
    TimedOut,
}

/// A running process.
#[derive(Debug)]
pub struct LineProcess {
    child: Child,
    to_child: Option<Sender<String>>,
    from_child: Receiver<Event>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

impl LineProcess {
    pub fn start(command: &CommandLine) -> std::io::Result<LineProcess> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let to_child = child.stdin.take().map(write_in_background);
        let from_child = read_in_background(child.stdout.take());
        let stderr = keep_last_lines(child.stderr.take());
        Ok(LineProcess { child, to_child, from_child, stderr })
    }

    /// Sends a line. One that cannot be sent shows as the end of the process on the reading side.
    pub fn send(&self, line: String) {
        if let Some(to_child) = &self.to_child {
            let _ = to_child.send(line);
        }
    }

    /// Waits for the next line.
    pub fn receive(&self, timeout: Duration) -> Received {
        match self.from_child.recv_timeout(timeout) {
            Ok(Event::Line(line)) => Received::Line(line),
            Ok(Event::End(Some(message))) => Received::Malformed(message),
            Ok(Event::End(None)) | Err(RecvTimeoutError::Disconnected) => Received::Ended,
            Err(RecvTimeoutError::Timeout) => Received::TimedOut,
        }
    }

    /// How the process ended, in words.
    pub fn ending(&mut self) -> String {
        self.to_child = None;
        match self.wait(GRACE) {
            Some(Ok(status)) => describe(status),
            Some(Err(error)) => error.to_string(),
            None => "closed its output and went on running".to_string(),
        }
    }

    fn wait(&mut self, at_most: Duration) -> Option<std::io::Result<ExitStatus>> {
        let deadline = Instant::now() + at_most;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(Ok(status)),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    pub fn last_stderr(&self) -> String {
        // The reading thread may lag behind the end of the process by a moment.
        thread::sleep(Duration::from_millis(50));
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<String>>().join("\n")
    }

    /// The last lines of standard error, set off for a message.
    pub fn indented_stderr(&self) -> String {
        self.last_stderr().lines().map(|line| format!("\n  | {line}")).collect()
    }
}

impl Drop for LineProcess {
    /// A process that lingers after its input was closed is killed.
    fn drop(&mut self) {
        self.to_child = None;
        if self.wait(FAREWELL).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
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

/// Writing happens in a thread, so that a process that does not read cannot block this one.
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

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}
