//! The limits of a command: time and memory. A command that exceeds them ends without an answer, with exit status 5.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::given::EntryArguments;
use super::{Exit, input, note, options};
use relax_spec::judge::{Cx, Fuel};
use relax_spec::refine::Settings;

/// The options of a command that reads programs.
#[derive(Clone, Debug, clap::Args)]
pub struct CommandBudget {
    /// Time limit of the command in seconds; beyond it the result is undecided, with exit status 5
    #[arg(long, value_name = "S", default_value = "600", value_parser = options::seconds)]
    timeout: Duration,
    /// Memory limit of the command in bytes, with K, M or G for powers of 1024; beyond it the result is undecided, with
    /// exit status 5. Enforced on Linux, by sampling many times a second [default: 1G, and for each byte of the given
    /// files 64 bytes, or 8 if it is one of arrays]
    #[arg(long, value_name = "BYTES", value_parser = options::bytes)]
    memory: Option<u64>,
}

/// The options of a command that judges.
#[derive(Clone, Debug, clap::Args)]
pub struct StepBudget {
    #[command(flatten)]
    budget: CommandBudget,
    /// Limit of the steps of the command: applied rules, tested premises, judgements; beyond it the result is
    /// undecided, with exit status 5 [default: limited only by the time]. Where it is larger than their own limit, runs
    /// of programs may take as many too
    #[arg(long, value_name = "STEPS", value_parser = fuel)]
    fuel: Option<Fuel>,
}

/// The option of a command that runs programs; the run has other limits of its own.
#[derive(Clone, Debug, clap::Args)]
pub struct TimeBudget {
    /// Time limit of the command in seconds; beyond it the result is undecided, with exit status 5
    #[arg(long, value_name = "S", default_value = "3600", value_parser = options::seconds)]
    timeout: Duration,
}

/// The limits of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandLimits {
    timeout: Duration,
    memory: Option<u64>,
}

/// The limit that was exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BudgetOverrun {
    /// The time limit.
    Time(Duration),
    /// The memory limit.
    Memory(u64),
}

/// The interval between checks.
const TICK: Duration = Duration::from_millis(10);

/// The sizes in bytes of the files that a command reads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct InputSizes {
    programs: u64,
    arrays: u64,
}

impl InputSizes {
    /// Of programs at these paths.
    pub fn of(programs: impl IntoIterator<Item = impl AsRef<Path>>) -> InputSizes {
        let sizes = programs.into_iter().map(|path| input::size(path.as_ref()));
        InputSizes { programs: sizes.fold(0, u64::saturating_add), arrays: 0 }
    }

    /// With the arrays among arguments.
    pub fn with(self, given: &EntryArguments) -> InputSizes {
        InputSizes { arrays: given.size(), ..self }
    }

    /// The memory that judging the programs takes beside what every command may take. A short binding of TVMScript has
    /// 40 bytes and takes 1,500 while it is checked, and 3,500 while it is written as JSON.
    fn memory(self) -> u64 {
        USUAL_MEMORY.saturating_add(self.programs.saturating_mul(64)).saturating_add(self.arrays.saturating_mul(8))
    }
}

impl CommandBudget {
    /// The options as limits.
    pub fn limits(&self, sizes: InputSizes) -> CommandLimits {
        CommandLimits { timeout: self.timeout, memory: Some(self.memory.unwrap_or_else(|| sizes.memory())) }
    }
}

impl StepBudget {
    /// The options as limits.
    pub fn limits(&self, sizes: InputSizes) -> CommandLimits {
        self.budget.limits(sizes)
    }

    /// Raises the limits of the steps of each run, and of all runs together, and of the memory of each run, to those of
    /// the options if they are larger; the given arguments have room in any case.
    pub fn allow(&self, settings: &mut Settings, given: &EntryArguments) {
        if let Some(fuel) = &self.fuel {
            settings.fuel = settings.fuel.max(fuel.left());
            settings.steps = settings.steps.max(fuel.left());
        }
        settings.memory = given.memory().max(self.budget.memory.unwrap_or_default());
    }

    /// A context that counts its steps, together with those of all contexts made from it.
    pub fn cx(&self) -> Cx {
        match &self.fuel {
            Some(fuel) => Cx::new().with_fuel(fuel.clone()),
            None => Cx::new(),
        }
    }
}

/// The number of steps. When they are used up, the command ends at once, so the result does not depend on a clock.
fn fuel(text: &str) -> Result<Fuel, String> {
    let steps = text.parse().map_err(|_| format!("`{text}` is no number of steps"))?;
    Ok(Fuel::new(steps, move || {
        note(&format!("error: undecided, budget: it takes more than {steps} steps (--fuel)\n"));
        std::process::exit(Exit::StoppedEarly as i32);
    }))
}

impl TimeBudget {
    /// The options as limits. `memory` is the limit for the tensors and tuples of a run, of which there may be copies.
    pub fn limits(&self, memory: u64, sizes: InputSizes) -> CommandLimits {
        let run = memory.saturating_mul(2);
        CommandLimits { timeout: self.timeout, memory: Some(run.saturating_add(sizes.memory())) }
    }
}

/// The default memory limit of a command.
const USUAL_MEMORY: u64 = 1 << 30;

impl CommandLimits {
    /// The limits of a command that answers questions for as long as there are any.
    pub fn without_end() -> CommandLimits {
        CommandLimits { timeout: Duration::MAX, memory: Some(4 * USUAL_MEMORY) }
    }

    /// The limits of a command without options for them.
    pub fn usual() -> CommandLimits {
        CommandLimits { timeout: Duration::from_secs(600), memory: Some(USUAL_MEMORY) }
    }

    /// Waits for the result of another thread within the limits. `None` if that thread ended without a result.
    pub fn wait<T>(self, from: &Receiver<T>) -> Result<Option<T>, BudgetOverrun> {
        let start = Instant::now();
        loop {
            match from.recv_timeout(TICK) {
                Ok(given) => return Ok(Some(given)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if start.elapsed() >= self.timeout {
                return Err(BudgetOverrun::Time(self.timeout));
            }
            if let Some(most) = self.memory.filter(|most| taken().is_some_and(|taken| taken > *most)) {
                return Err(BudgetOverrun::Memory(most));
            }
        }
    }
}

/// The memory of this process, if the system reports it.
fn taken() -> Option<u64> {
    // The lines of this file have the form `VmRSS: 1234 kB`. The anonymous memory is the part that we have allocated.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

impl std::fmt::Display for BudgetOverrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BudgetOverrun::Time(most) => {
                write!(f, "undecided, budget: it takes more than {} s (--timeout)", most.as_secs_f64())
            }
            BudgetOverrun::Memory(most) => {
                write!(f, "undecided, budget: it takes up more than {most} bytes (--memory)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn what_takes_too_long_is_not_waited_for() {
        let limits = CommandLimits { timeout: Duration::from_millis(50), memory: None };
        let (give, given) = channel::<()>();
        assert_eq!(limits.wait(&given), Err(BudgetOverrun::Time(limits.timeout)));
        let (sooner, soon) = channel();
        thread::spawn(move || sooner.send(7));
        assert_eq!(limits.wait(&soon), Ok(Some(7)));
        drop(give);
        assert_eq!(limits.wait(&given), Ok(None));
    }

    #[test]
    fn what_is_given_has_room() {
        let dir = tempfile::TempDir::new().unwrap();
        let (program, array) = (dir.path().join("program.py"), dir.path().join("x.npy"));
        std::fs::write(&program, [b' '; 100]).unwrap();
        std::fs::write(&array, [0; 10]).unwrap();
        let budget = |memory| CommandBudget { timeout: Duration::from_secs(1), memory };
        let given = EntryArguments::of_files([array]);
        for paths in [[program.as_path()], [dir.path()]] {
            let sizes = InputSizes::of(paths);
            assert_eq!(budget(None).limits(sizes).memory, Some((1 << 30) + 6400));
            assert_eq!(budget(None).limits(sizes.with(&given)).memory, Some((1 << 30) + 6480));
            assert_eq!(budget(Some(7)).limits(sizes).memory, Some(7));
        }
        for (memory, held) in [(None, (1 << 30) + 10), (Some(1 << 33), 1 << 33)] {
            let mut settings = Settings::runs(1);
            StepBudget { budget: budget(memory), fuel: None }.allow(&mut settings, &given);
            assert_eq!(settings.memory, held);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_measured() {
        let limits = CommandLimits { timeout: Duration::from_secs(60), memory: Some(1) };
        let (_give, given) = channel::<()>();
        assert_eq!(limits.wait(&given), Err(BudgetOverrun::Memory(1)));
    }
}
