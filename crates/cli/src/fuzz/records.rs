//! `relax-spec fuzz --record` and `--merge`, and the same for the Python package: campaigns of several processes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::iter;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use clap::Parser as _;

use super::{Args, programs};
use crate::asking::{STARTUP, launch, supervised};
use crate::{Cli, CommandResult, Exit, Failure, RelaxSpecCommand, spawn};
use ask::adapters::Adapter;
use ask::conformance;
use ask::implementation::Launch;
use ask::process::Interrupt;
use campaign::programs::{ProgramSource, tape_of_bytes};
use campaign::trials::record;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// Prints what the programs of a range show.
pub(super) fn run(args: &Args, adapter: &Adapter, interrupt: &Interrupt) -> CommandResult {
    let range = args.record.clone().unwrap_or_default();
    recorded(args, adapter, interrupt, range, |line| {
        let mut out = io::stdout().lock();
        out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush())
    })?;
    Ok(Exit::AsExpected)
}

fn recorded(
    args: &Args,
    adapter: &Adapter,
    interrupt: &Interrupt,
    numbers: impl IntoIterator<Item = u64>,
    tell: impl FnMut(String) -> io::Result<()>,
) -> Result<(), Failure> {
    let (restriction, settings) = programs::plan(args, adapter)?;
    let launch = Launch { spare: true, ..launch(adapter, args.limits(), interrupt)? };
    let suite = conformance::suite()?;
    Ok(record((&suite, &restriction, &settings), &|| launch.start(), interrupt, numbers, tell)?)
}

/// The lines of files, one file after another. A line without an end was being written when its process was killed.
pub(super) fn lines(files: &[PathBuf]) -> Result<impl Iterator<Item = io::Result<String>>, Failure> {
    let open = |path: &PathBuf| -> Result<Box<dyn io::BufRead>, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Box::new(BufReader::new(io::stdin())));
        }
        let file = File::open(path).map_err(|error| Failure::unreadable(format!("{}: {error}", path.display())))?;
        Ok(Box::new(BufReader::new(file)))
    };
    let opened = files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let whole = |mut file: Box<dyn io::BufRead>| {
        iter::from_fn(move || {
            let mut line = String::new();
            match file.read_line(&mut line) {
                Ok(_) => line.strip_suffix('\n').map(|line| Ok(line.to_string())),
                Err(error) => Some(Err(error)),
            }
        })
    };
    Ok(opened.into_iter().flat_map(whole))
}

/// Asks an implementation, in a process of its own, about programs of a campaign, for a caller in this process.
pub struct ProgramRecorder {
    numbers: Sender<Range<u64>>,
    lines: Receiver<Result<String, String>>,
}

impl ProgramRecorder {
    /// The arguments are those of `relax-spec fuzz`.
    ///
    /// # Errors
    ///
    /// They are no such arguments, or name no single implementation.
    pub fn start(arguments: impl IntoIterator<Item = OsString>) -> Result<ProgramRecorder, String> {
        let args = args_of(arguments)?;
        supervised().map_err(|failure| failure.message)?;
        let adapters = Adapter::named(args.adapter.as_deref(), STARTUP).map_err(|error| error.to_string())?;
        let [adapter] = <[Adapter; 1]>::try_from(adapters)
            .map_err(|_| "records are of one implementation: name one release, as in `tvm@0.27`".to_string())?;
        let ((numbers, ranges), (tell, lines)) = (channel::<Range<u64>>(), channel());
        let work = move || {
            let told = tell.clone();
            let to_caller = |line| told.send(Ok(line)).map_err(|_| io::ErrorKind::BrokenPipe.into());
            let ended = recorded(&args, &adapter, &Interrupt::default(), ranges.into_iter().flatten(), to_caller);
            if let Err(failure) = ended {
                // Nobody may be there any more.
                let _ = tell.send(Err(failure.message));
            }
        };
        spawn(work).map_err(|failure| failure.message)?;
        Ok(ProgramRecorder { numbers, lines })
    }

    /// A line for each program of the range.
    ///
    /// # Errors
    ///
    /// The implementation cannot be started.
    pub fn record(&self, range: Range<u64>) -> Result<Vec<String>, String> {
        let ended = "the implementation could not be asked before";
        let count = range.clone();
        self.numbers.send(range).map_err(|_| ended.to_string())?;
        count.map(|_| self.lines.recv().unwrap_or_else(|_| Err(ended.to_string()))).collect()
    }
}

/// Draws programs from choices, for a caller in this process.
pub struct ProgramTapes {
    tapes: Sender<Vec<u8>>,
    programs: Receiver<String>,
}

impl ProgramTapes {
    /// The arguments are those of `relax-spec fuzz` that decide what is drawn.
    ///
    /// # Errors
    ///
    /// They are no such arguments.
    pub fn start(arguments: impl IntoIterator<Item = OsString>) -> Result<ProgramTapes, String> {
        let args = args_of(arguments)?;
        let restriction = programs::restriction(&args, &[]).map_err(|failure| failure.message)?;
        let suite = conformance::suite().map_err(|error| error.to_string())?;
        let ((tapes, given), (tell, programs)) = (channel::<Vec<u8>>(), channel());
        // The calls of a source hold values, which cannot leave their thread.
        let work = move || {
            let source = ProgramSource::of(&suite, restriction);
            let drawn =
                |bytes: Vec<u8>| print_module(&source.of_tape(tape_of_bytes(&bytes)).module, Dialect::default());
            let _ = given.into_iter().try_for_each(|bytes| tell.send(drawn(bytes)));
        };
        spawn(work).map_err(|failure| failure.message)?;
        Ok(ProgramTapes { tapes, programs })
    }

    /// The text of the program of a tape, each of whose choices is two bytes. Fewer choices give a smaller program, and
    /// zeros a simpler one.
    ///
    /// # Errors
    ///
    /// There is no program: a defect of the generator.
    pub fn program(&self, tape: Vec<u8>) -> Result<String, String> {
        let drawn = self.tapes.send(tape).ok().and_then(|()| self.programs.recv().ok());
        drawn.ok_or_else(|| "no program was drawn".to_string())
    }
}

fn args_of(arguments: impl IntoIterator<Item = OsString>) -> Result<Args, String> {
    let line = ["relax-spec", "fuzz"].into_iter().map(OsString::from).chain(arguments);
    match Cli::try_parse_from(line).map_err(|error| error.to_string())?.command {
        RelaxSpecCommand::Fuzz(args) => Ok(args),
        _ => Err("the arguments of `fuzz` are expected".to_string()),
    }
}
