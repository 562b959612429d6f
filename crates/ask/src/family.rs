//! The descendants of a process. They are ended with it, even if one has opened a session of its own and left the
//! process group. `/proc` lists all processes with their parents. On systems other than Linux none is found.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A variable in the environment of a started process. Its descendants inherit it, and are recognized by it when their
/// parents have ended.
pub(super) const MARK: &str = "RELAX_SPEC_STARTED";
/// The maximum number of searches for new ones before all are ended.
const ROUNDS: usize = 20;
/// How often an environment that is empty is read again, and the time between.
const GLANCES: usize = 5;
const BETWEEN: Duration = Duration::from_millis(1);

/// A process by its number and start time, because numbers are reused.
type ProcessKey = (i32, u64);

/// The descendants of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Family {
    mark: String,
    known: BTreeSet<ProcessKey>,
}

struct FoundProcess {
    key: ProcessKey,
    parent: i32,
}

impl FoundProcess {
    /// A thread of the kernel, which has no environment. Process 2 starts them.
    fn is_of_kernel(&self) -> bool {
        self.key.0 == 2 || self.parent == 2
    }
}

impl Family {
    /// A family with a new mark.
    pub(super) fn new() -> Family {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Family::of(&format!("{}-{time}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A family with this mark.
    pub(super) fn of(mark: &str) -> Family {
        Family { mark: mark.to_string(), known: BTreeSet::new() }
    }

    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Finds the current members. `root` is the started process, which is not a member.
    pub(super) fn look(&mut self, root: i32) -> Vec<ProcessKey> {
        let (mut all, mut new) = (processes(), Vec::new());
        all.retain(|process| process.key.0 > 1 && process.key.0 != root && !self.known.contains(&process.key));
        loop {
            let is_known = |pid: i32| pid == root || self.known.iter().any(|known| known.0 == pid);
            let (found, rest): (Vec<FoundProcess>, Vec<FoundProcess>) = all
                .into_iter()
                .partition(|process| is_known(process.parent) || new.is_empty() && is_marked(process, &self.mark));
            if found.is_empty() {
                return new;
            }
            self.known.extend(found.iter().map(|process| process.key));
            new.extend(found.into_iter().map(|process| process.key));
            all = rest;
        }
    }

    /// Ends all of them. They are stopped first, so that they start no further ones.
    pub(super) fn end(mut self, root: i32) {
        self.known.iter().for_each(|key| signal(*key, Told::Stop));
        for _ in 0..ROUNDS {
            let new = self.look(root);
            new.iter().for_each(|key| signal(*key, Told::Stop));
            if new.is_empty() {
                break;
            }
        }
        self.known.iter().for_each(|key| signal(*key, Told::End));
    }
}

#[derive(Clone, Copy)]
enum Told {
    Stop,
    End,
}

/// All running processes.
fn processes() -> Vec<FoundProcess> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| found(name.to_str()?.parse().ok()?)).collect()
}

fn found(pid: i32) -> Option<FoundProcess> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of a program is in parentheses, and may itself contain some.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    (!state.starts_with(['Z', 'X'])).then_some(FoundProcess { key: (pid, start), parent })
}

/// Whether the mark is in its environment, as far as that is readable.
fn is_marked(process: &FoundProcess, mark: &str) -> bool {
    let entry = format!("{MARK}={mark}");
    environment(process).split(|byte| *byte == 0).any(|other| other == entry.as_bytes())
}

/// The environment of a process. While it begins another program, it shows none for a moment.
fn environment(process: &FoundProcess) -> Vec<u8> {
    let read = || fs::read(format!("/proc/{}/environ", process.key.0));
    let mut last = read();
    for _ in 0..GLANCES {
        if process.is_of_kernel() || last.as_ref().map_or(true, |shown| !shown.is_empty()) {
            break;
        }
        thread::sleep(BETWEEN);
        last = read();
    }
    last.unwrap_or_default()
}

#[cfg(unix)]
fn signal(key: ProcessKey, told: Told) {
    use nix::sys::signal::{Signal, kill};
    if found(key.0).is_some_and(|process| process.key == key) {
        let signal = match told {
            Told::Stop => Signal::SIGSTOP,
            Told::End => Signal::SIGKILL,
        };
        // A process that has ended meanwhile is not an error.
        let _ = kill(nix::unistd::Pid::from_raw(key.0), signal);
    }
}

#[cfg(not(unix))]
fn signal(_: ProcessKey, _: Told) {}
