//! A process that is spoken to in lines: started, written to and read from without ever blocking on it, and ended
//! together with every process that it started itself.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};

/// How to start a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    /// A path, or a name to look up in `PATH`.
    pub program: String,
    /// Its arguments, one word each.
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

/// Whether the work is to end, as somebody at the keyboard wants it: everything that waits for a process looks here.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself, for whoever catches the signal.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often somebody who waits looks for an interrupt.
const TICK: Duration = Duration::from_millis(100);
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
    /// A whole line, without its end.
    Line(String),
    /// Something that is no line of text.
    Malformed(String),
    /// The process closed its output.
    Ended,
    /// Nothing came in the time that was given.
    TimedOut,
    /// The user asked to stop.
    Interrupted,
}

/// A running process.
#[derive(Debug)]
pub struct LineProcess {
    /// The process and, in a group with it, those that it starts.
    child: Box<dyn ChildWrapper>,
    interrupt: Interrupt,
    to_child: Option<Sender<String>>,
    from_child: Receiver<Event>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

impl LineProcess {
    /// Starts the process in a group of its own, so that its children can be stopped with it.
    pub fn start(command: &CommandLine, interrupt: &Interrupt) -> std::io::Result<LineProcess> {
        let mut wrapped = CommandWrap::with_new(&command.program, |builder| {
            builder.args(&command.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        #[cfg(unix)]
        wrapped.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        wrapped.wrap(JobObject);
        let mut child = wrapped.spawn()?;
        let to_child = child.stdin().take().map(write_in_background);
        let from_child = read_in_background(child.stdout().take());
        let stderr = keep_last_lines(child.stderr().take());
        Ok(LineProcess { child, interrupt: interrupt.clone(), to_child, from_child, stderr })
    }

    /// Sends a line. One that cannot be sent shows as the end of the process on the reading side.
    pub fn send(&self, line: String) {
        if let Some(to_child) = &self.to_child {
            let _ = to_child.send(line);
        }
    }

    /// Waits for the next line.
    pub fn receive(&self, timeout: Duration) -> Received {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.from_child.recv_timeout(left.min(TICK)) {
                Ok(Event::Line(line)) => return Received::Line(line),
                Ok(Event::End(Some(message))) => return Received::Malformed(message),
                Ok(Event::End(None)) | Err(RecvTimeoutError::Disconnected) => return Received::Ended,
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_raised() => return Received::Interrupted,
                Err(RecvTimeoutError::Timeout) if left <= TICK => return Received::TimedOut,
                Err(RecvTimeoutError::Timeout) => {}
            }
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

    /// The last lines that it wrote on standard error.
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
    /// A process that lingers after its input was closed is killed, and whatever it started in any case: a process
    /// that ended may have left others behind, which hold what it was given open.
    fn drop(&mut self) {
        self.to_child = None;
        let _ = self.wait(FAREWELL);
        let _ = self.child.start_kill();
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn shell(script: &str, interrupt: &Interrupt) -> LineProcess {
        let command = CommandLine { program: "sh".into(), args: vec!["-c".into(), script.into()] };
        LineProcess::start(&command, interrupt).unwrap()
    }

    /// Whether a process runs; one that ended and that nobody has waited for yet does not.
    fn runs(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
    }

    fn ends_soon(pid: &str) -> bool {
        let deadline = Instant::now() + SOON;
        while runs(pid) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        !runs(pid)
    }

    /// The line that a script writes first: the number of the process that it has started.
    fn grandchild(process: &LineProcess) -> String {
        match process.receive(SOON) {
            Received::Line(line) => line.trim().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_hung_process_started_is_killed_with_it() {
        let process = shell("sleep 600 & echo $!; sleep 600", &Interrupt::default());
        let pid = grandchild(&process);
        assert!(runs(&pid));
        drop(process);
        assert!(ends_soon(&pid));
    }

    #[test]
    fn what_a_process_left_behind_when_it_ended_is_killed() {
        let mut process = shell("sleep 600 & echo $!", &Interrupt::default());
        let pid = grandchild(&process);
        assert_eq!(process.ending(), "exit status: 0");
        assert!(runs(&pid));
        drop(process);
        assert!(ends_soon(&pid));
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::default();
        let process = shell("sleep 600", &interrupt);
        interrupt.flag().store(true, Ordering::Relaxed);
        assert_eq!(process.receive(Duration::from_secs(600)), Received::Interrupted);
    }
}
