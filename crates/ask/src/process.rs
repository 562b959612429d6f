//! A process that communicates in lines. Starting it, writing and reading never block. It is ended together with every
//! process that it started.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};

use crate::family::{self, Family};
use crate::supervisor;
use relax_spec::grammar::one_line;

/// The command of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    /// A path, or a name to look up in `PATH`.
    pub program: String,
    /// Its arguments, one word each.
    pub args: Vec<String>,
}

impl CommandLine {
    /// Splits a line as a shell does, without running one. `None` if its quotes are unbalanced or it is empty.
    pub fn split(line: &str) -> Option<CommandLine> {
        let mut words = shlex::split(line)?.into_iter();
        let program = words.next()?;
        Some(CommandLine { program, args: words.collect() })
    }

    /// The command of a script beside the adapter of TVM; `None` if the command does not start that adapter.
    pub fn beside(&self, script: &str) -> Option<CommandLine> {
        let [adapter] = self.args.as_slice() else { return None };
        let adapter = Path::new(adapter);
        let args = vec![adapter.with_file_name(script).display().to_string()];
        (adapter.file_name()? == "adapter.py").then(|| CommandLine { program: self.program.clone(), args })
    }
}

/// Whether the user wants to stop. All code that waits for a process checks this.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself, for the signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether the user wants to stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The interval between checks for an interrupt.
const TICK: Duration = Duration::from_millis(100);
/// The default maximum length of a line. A longer one is an error of the process.
pub const MAX_REPLY: u64 = 64 * 1024 * 1024;
/// The number of lines that may wait to be received. When there are more, the process has to wait.
const WAITING: usize = 1;
/// The length of the part of a wrong line to show.
const SHOWN: usize = 200;
/// The time in which output that comes with a line must arrive.
const TOGETHER: Duration = Duration::from_millis(500);
/// The longest possible wait. It can be added to any instant.
const LONGEST_WAIT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
/// The number of lines of standard error to keep for a crash report.
const STDERR_LINES: usize = 20;
/// The time that a process may take to end after it has closed its output.
const GRACE: Duration = Duration::from_secs(5);
/// The time that a process may take to end after its input is closed.
const FAREWELL: Duration = Duration::from_millis(200);

/// An event of the reading thread.
struct Event {
    seen: OutputEvent,
    /// Whether more output was available then.
    more: bool,
}

enum OutputEvent {
    Line(String),
    /// Output that is not a line of text, in words.
    Malformed(String),
    /// The end of the output, possibly after part of a line.
    End(Option<String>),
}

/// The result of waiting for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A whole line, without its end.
    Line(String),
    /// Output that is not a line of text.
    Malformed(String),
    /// The process closed its output.
    Ended,
    /// Nothing came in time.
    TimedOut,
    /// The user asked to stop.
    Interrupted,
}

/// A running process.
#[derive(Debug)]
pub struct LineProcess {
    /// The process, in a group with the processes that it starts.
    child: Box<dyn ChildWrapper>,
    interrupt: Interrupt,
    to_child: Option<Sender<String>>,
    from_child: Receiver<Event>,
    /// Whether more output had come with the last received event.
    more: bool,
    /// When the process itself was first seen to have ended, even if another one holds its output open.
    gone_since: Option<Instant>,
    /// The partial line that it wrote last.
    cut: Option<String>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    family: Family,
    waited: Duration,
}

/// The instant after this time, however long it is.
pub fn deadline_in(timeout: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(timeout.min(LONGEST_WAIT)).unwrap_or(now)
}

impl LineProcess {
    /// Starts the process in a group of its own, so that its children can be stopped with it. Its lines have at most
    /// `max_reply` bytes.
    pub fn start(command: &CommandLine, interrupt: &Interrupt, max_reply: u64) -> std::io::Result<LineProcess> {
        let family = Family::new();
        let mut wrapped = CommandWrap::with_new(&command.program, |builder| {
            builder.args(&command.args).env(family::MARK, family.mark());
            builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        #[cfg(unix)]
        wrapped.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        wrapped.wrap(JobObject);
        let mut child = wrapped.spawn()?;
        supervisor::started(child.id(), family.mark());
        let to_child = child.stdin().take().map(write_in_background);
        let from_child = read_in_background(child.stdout().take(), max_reply);
        let stderr = keep_last_lines(child.stderr().take());
        let interrupt = interrupt.clone();
        let (more, gone_since, cut, waited) = (false, None, None, Duration::ZERO);
        Ok(LineProcess { child, interrupt, to_child, from_child, more, gone_since, cut, stderr, family, waited })
    }

    /// Sends a line. If that fails, the reading side sees the end of the process.
    pub fn send(&self, line: String) {
        if let Some(to_child) = &self.to_child {
            let _ = to_child.send(line);
        }
    }

    /// Waits for the next line until a deadline, whatever other events come.
    pub fn receive(&mut self, deadline: Instant) -> Received {
        let begin = Instant::now();
        let received = self.next_line(deadline);
        self.waited += begin.elapsed();
        received
    }

    /// How long all that was received has been waited for.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    fn next_line(&mut self, deadline: Instant) -> Received {
        loop {
            if self.interrupt.is_raised() {
                return Received::Interrupted;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Received::TimedOut;
            }
            match self.from_child.recv_timeout(left.min(TICK)) {
                Ok(event) => return self.received(event),
                Err(RecvTimeoutError::Disconnected) => return Received::Ended,
                Err(RecvTimeoutError::Timeout) if self.is_gone() => return Received::Ended,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// An event that is already available, or comes in this short time.
    pub fn waiting(&mut self, patience: Duration) -> Option<Received> {
        let patience = if self.more { TOGETHER } else { patience };
        if !patience.is_zero() {
            return Some(self.receive(deadline_in(patience))).filter(|received| *received != Received::TimedOut);
        }
        match self.from_child.try_recv() {
            Ok(event) => Some(self.received(event)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }

    fn received(&mut self, event: Event) -> Received {
        self.more = event.more;
        match event.seen {
            OutputEvent::Line(line) => Received::Line(line),
            OutputEvent::Malformed(message) => Received::Malformed(message),
            OutputEvent::End(cut) => {
                self.cut = cut;
                Received::Ended
            }
        }
    }

    /// Whether the process itself has ended and its output has been read. A process that it started may hold the output
    /// open, so that no end of output comes.
    fn is_gone(&mut self) -> bool {
        match self.gone_since {
            Some(since) => since.elapsed() >= TICK,
            None => {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    self.gone_since = Some(Instant::now());
                }
                false
            }
        }
    }

    /// Closes the input. The process may still write until it ends.
    pub fn close(&mut self) {
        self.to_child = None;
    }

    /// The ending of the process, in words.
    pub fn ending(&mut self) -> String {
        self.to_child = None;
        let ending = match self.wait(GRACE) {
            Some(Ok(status)) => describe(status),
            Some(Err(error)) => error.to_string(),
            None => "closed its output and went on running".to_string(),
        };
        match &self.cut {
            Some(cut) => format!("{ending}, in the middle of a line: `{cut}`"),
            None => ending,
        }
    }

    /// Whether it ended successfully.
    pub fn succeeds(&mut self) -> bool {
        matches!(self.wait(GRACE), Some(Ok(status)) if status.success())
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

    /// The last lines on standard error.
    pub fn last_stderr(&self) -> String {
        // The reading thread may be slightly behind the end of the process.
        thread::sleep(Duration::from_millis(50));
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<String>>().join("\n")
    }

    /// The last lines of standard error, indented for a message.
    pub fn indented_stderr(&self) -> String {
        self.last_stderr().lines().map(|line| format!("\n  | {line}")).collect()
    }
}

impl Drop for LineProcess {
    /// Kills a process that is still running after its input was closed, and all processes that it started. These may
    /// hold its files open, or be in sessions of their own, even if the process itself has ended.
    fn drop(&mut self) {
        let root = i32::try_from(self.child.id()).unwrap_or(0);
        let mut family = self.family.clone();
        family.look(root);
        self.to_child = None;
        let _ = self.wait(FAREWELL);
        family.end(root);
        let _ = self.child.start_kill();
        let _ = self.child.wait();
        supervisor::ended(self.child.id());
    }
}

/// The ending of a process in words.
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

/// Writes in a thread, so that a process that does not read cannot block this one.
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

fn read_in_background(stdout: Option<std::process::ChildStdout>, max_reply: u64) -> Receiver<Event> {
    // The lines that are read but not received are limited, however much the process writes.
    let (sender, events) = sync_channel(WAITING);
    thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        let mut reader = BufReader::new(stdout);
        loop {
            let (seen, rest) = read_line(&mut reader, max_reply);
            let last = matches!(seen, OutputEvent::End(_));
            let more = !last && !reader.buffer().is_empty();
            if sender.send(Event { seen, more }).is_err() || last {
                return;
            }
            if rest == LineRemainder::Unread {
                read_over(&mut reader);
            }
        }
    });
    events
}

/// Whether the rest of a line has been read.
#[derive(PartialEq, Eq)]
enum LineRemainder {
    Read,
    Unread,
}

fn read_line(reader: &mut impl BufRead, max_reply: u64) -> (OutputEvent, LineRemainder) {
    let mut bytes = Vec::new();
    match reader.take(max_reply.saturating_add(1)).read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return (OutputEvent::End(None), LineRemainder::Read),
        Ok(_) => {}
    }
    if bytes.last() == Some(&b'\n') {
        let seen = match String::from_utf8(bytes) {
            Ok(line) => OutputEvent::Line(line),
            Err(error) => OutputEvent::Malformed(format!("a line that is not UTF-8: `{}`", shown(error.as_bytes()))),
        };
        return (seen, LineRemainder::Read);
    }
    if bytes.len() as u64 <= max_reply {
        return (OutputEvent::End(Some(shown(&bytes))), LineRemainder::Read);
    }
    (
        OutputEvent::Malformed(format!("a line of more than {max_reply} bytes: `{}`", shown(&bytes))),
        LineRemainder::Unread,
    )
}

/// Reads the rest of a line and discards it.
fn read_over(reader: &mut impl BufRead) {
    while let Ok(buffer @ [_, ..]) = reader.fill_buf() {
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let read = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(read);
        if end.is_some() {
            return;
        }
    }
}

/// The start of the output of a process.
fn shown(bytes: &[u8]) -> String {
    let some = &bytes[..bytes.len().min(4 * SHOWN)];
    one_line(String::from_utf8_lossy(some).trim_end(), SHOWN)
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
        LineProcess::start(&command, interrupt, MAX_REPLY).unwrap()
    }

    /// Whether a process runs. A zombie does not.
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

    /// The first line of a script: the number of the process that it has started.
    fn grandchild(process: &mut LineProcess) -> String {
        match process.receive(deadline_in(SOON)) {
            Received::Line(line) => line.trim().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_hung_process_started_is_killed_with_it() {
        let mut process = shell("sleep 600 & echo $!; sleep 600", &Interrupt::default());
        let pid = grandchild(&mut process);
        assert!(runs(&pid));
        drop(process);
        assert!(ends_soon(&pid));
    }

    #[test]
    fn what_a_process_left_behind_when_it_ended_is_killed() {
        let mut process = shell("sleep 600 & echo $!", &Interrupt::default());
        let pid = grandchild(&mut process);
        assert_eq!(process.ending(), "exit status: 0");
        assert!(runs(&pid));
        drop(process);
        assert!(ends_soon(&pid));
    }

    #[test]
    fn what_has_a_session_of_its_own_is_killed_too() {
        for script in [
            "setsid sleep 600 & echo $!; sleep 600",
            "setsid sleep 600 & echo $!",
            "setsid sh -c 'setsid sleep 600 & echo $!'",
            "env -i setsid sleep 600 & echo $!; read line",
        ] {
            let mut process = shell(script, &Interrupt::default());
            let pid = grandchild(&mut process);
            assert!(runs(&pid), "{script}");
            drop(process);
            assert!(ends_soon(&pid), "{script}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::default();
        let mut process = shell("sleep 600", &interrupt);
        interrupt.flag().store(true, Ordering::Relaxed);
        assert_eq!(process.receive(deadline_in(Duration::from_secs(600))), Received::Interrupted);
    }

    #[test]
    fn a_process_has_ended_though_another_holds_its_output() {
        let mut process = shell("sleep 600 & echo $!; kill -9 $$", &Interrupt::default());
        let _ = grandchild(&mut process);
        assert_eq!(process.receive(deadline_in(SOON)), Received::Ended);
        assert_eq!(process.ending(), "signal 9 (SIGKILL)");
    }

    #[test]
    fn a_flood_does_not_extend_the_time() {
        let mut process = shell("yes", &Interrupt::default());
        let deadline = deadline_in(Duration::from_millis(200));
        let last = std::iter::repeat_with(|| process.receive(deadline)).find(|r| !matches!(r, Received::Line(_)));
        assert_eq!(last, Some(Received::TimedOut));
        assert!(deadline.elapsed() < SOON);
    }

    #[test]
    fn lines_that_are_too_long_are_read_over() {
        let command =
            CommandLine { program: "sh".into(), args: vec!["-c".into(), "echo 123456789; echo 12; printf 34".into()] };
        let mut process = LineProcess::start(&command, &Interrupt::default(), 5).unwrap();
        let deadline = deadline_in(SOON);
        assert_eq!(process.receive(deadline), Received::Malformed("a line of more than 5 bytes: `123456`".into()));
        assert_eq!(process.receive(deadline), Received::Line("12\n".into()));
        assert_eq!(process.receive(deadline), Received::Ended);
        assert_eq!(process.ending(), "exit status: 0, in the middle of a line: `34`");
    }

    #[test]
    fn any_time_can_be_waited_for() {
        assert!(deadline_in(Duration::MAX) > Instant::now());
    }
}
