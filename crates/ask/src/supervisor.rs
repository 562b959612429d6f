//! Ends the processes that this process has started, in case it is killed itself. The supervisor is a separate process.
//! It receives a message for every process group that starts or ends, and ends the remaining groups when its input
//! ends.

use std::io::{self, BufRead, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::family::Family;

/// The input of the supervisor, once there is one.
static SUPERVISOR: OnceLock<Mutex<ChildStdin>> = OnceLock::new();

/// Starts the supervisor with this command. Without it there are no messages, and if this process is killed, its
/// children are left to the system.
///
/// # Errors
///
/// The command does not start.
pub fn start(command: &mut Command) -> io::Result<()> {
    if SUPERVISOR.get().is_some() {
        return Ok(());
    }
    // A terminal interrupts its foreground group. The supervisor must survive that.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(stdin) = child.stdin {
        let _ = SUPERVISOR.set(Mutex::new(stdin));
    }
    Ok(())
}

/// Reports a process group that has started, by its leader, with the mark of all its processes.
pub(super) fn started(group: u32, mark: &str) {
    tell(&format!("+{group} {mark}"));
}

/// Reports a process group that has ended.
pub(super) fn ended(group: u32) {
    tell(&format!("-{group}"));
}

fn tell(what: &str) {
    if let Some(supervisor) = SUPERVISOR.get() {
        let mut supervisor = supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        // A supervisor that has ended cannot receive this.
        let _ = writeln!(supervisor, "{what}").and_then(|()| supervisor.flush());
    }
}

/// The work of the supervisor: reads messages until the input ends, then ends the remaining groups.
pub fn supervise(told: impl BufRead) {
    let mut left: Vec<(i32, Family)> = Vec::new();
    for line in told.lines().map_while(Result::ok) {
        let group = |text: &str| text.parse::<i32>().ok().filter(|group| *group > 1);
        if let Some(started) = line.strip_prefix('+') {
            let (number, mark) = started.split_once(' ').unwrap_or((started, ""));
            left.extend(group(number).map(|group| (group, Family::of(mark))));
        } else if let Some(group) = line.strip_prefix('-').and_then(group) {
            left.retain(|(other, _)| *other != group);
        }
    }
    for (group, family) in left {
        family.end(group);
        kill(group);
    }
}

#[cfg(unix)]
fn kill(group: i32) {
    use nix::sys::signal::{Signal, killpg};
    // A group that has ended meanwhile is not an error.
    let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL);
}

/// On systems with jobs, they end with the process that made them.
#[cfg(not(unix))]
fn kill(_: i32) {}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn what_is_left_is_ended_and_nothing_else() {
        let sleep = || Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let (mut left, mut ended) = (sleep(), sleep());
        supervise(format!("+{}\n+{}\nnonsense\n+0\n-{}\n", left.id(), ended.id(), ended.id()).as_bytes());
        assert!(!left.wait().unwrap().success());
        assert!(ended.try_wait().unwrap().is_none());
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
