//! Campaigns of several processes, and programs drawn from choices.

use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::unreadable;
use relax_spec_cli::{ProgramRecorder, ProgramTapes};

fn own<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks an implementation about programs of a campaign. The implementation is a process of its own, the oracle is in
/// this one.
#[pyclass(frozen, module = "relax_spec")]
pub(crate) struct Recorder(Mutex<ProgramRecorder>);

#[pymethods]
impl Recorder {
    /// The arguments are those of `relax-spec fuzz`.
    #[new]
    fn new(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Recorder> {
        let started = py.allow_threads(|| ProgramRecorder::start(arguments));
        Ok(Recorder(Mutex::new(started.map_err(unreadable)?)))
    }

    /// A line for each program from `first` up to but without `end`.
    fn record(&self, py: Python<'_>, first: u64, end: u64) -> PyResult<Vec<String>> {
        py.allow_threads(|| own(&self.0).record(first..end)).map_err(unreadable)
    }
}

/// Draws programs from choices. The arguments are those of `relax-spec fuzz` that decide what is drawn.
#[pyclass(frozen, module = "relax_spec")]
pub(crate) struct Tapes(Mutex<ProgramTapes>);

#[pymethods]
impl Tapes {
    #[new]
    fn new(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Tapes> {
        let started = py.allow_threads(|| ProgramTapes::start(arguments));
        Ok(Tapes(Mutex::new(started.map_err(unreadable)?)))
    }

    /// The text of the program of a tape, each of whose choices is two bytes.
    fn program(&self, py: Python<'_>, tape: Vec<u8>) -> PyResult<String> {
        py.allow_threads(|| own(&self.0).program(tape)).map_err(unreadable)
    }
}
