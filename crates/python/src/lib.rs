//! The extension `relax_spec._native`: what the Python package of `python/` asks for. It converts, and judges nothing
//! itself. Everything that may take long releases the interpreter.

mod campaign;
mod info;
mod judgement;
mod module;

use std::ffi::OsString;

use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use campaign::{Recorder, Tapes};
use info::{Given, Info};
use judgement::Judgement;
use module::Module;
use relax_spec::Edition;
use relax_spec::book::Rule;
use relax_spec_cli::{CommandOutput, Operand};

import_exception!(relax_spec._errors, UnreadableError);

/// Everything that the extension exports.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Info, Judgement, Module, Recorder, Tapes, captured, command, judge, rule_page};
}

/// Runs a command line on the streams of this process. Returns its exit status.
#[pyfunction]
fn command(py: Python<'_>, line: Vec<OsString>) -> u8 {
    py.allow_threads(|| relax_spec_cli::command(line) as u8)
}

/// Runs a command line that starts no process. Returns its exit status, its results and everything else.
#[pyfunction]
fn captured(py: Python<'_>, line: Vec<OsString>) -> (u8, String, String) {
    let CommandOutput { exit, out, err } = py.allow_threads(|| relax_spec_cli::command_output(line));
    (exit, out, err)
}

/// One judgement on types, structural information or dimensions; operands are text, or structural information of TVM.
#[pyfunction]
#[pyo3(signature = (judgement, *operands, edition = None))]
fn judge(py: Python<'_>, judgement: &str, operands: &Bound<'_, PyTuple>, edition: Option<&str>) -> PyResult<Judgement> {
    let edition = edition_of(edition)?;
    let operands: Vec<Given<'_>> = operands.iter_borrowed().map(|given| given.extract()).collect::<PyResult<_>>()?;
    let operands: Vec<Operand<'_>> = operands.iter().map(Given::operand).collect();
    py.allow_threads(|| Judgement::of(judgement, &operands, edition)).map_err(unreadable)
}

/// The page of the book that states a rule, with the place in it; none if there is no such rule.
#[pyfunction]
fn rule_page(rule: &str) -> Option<String> {
    let rule: Rule = rule.parse().ok()?;
    let page = rule.info().file;
    Some(format!("{}.html#r-{rule}", page.strip_prefix("spec/src/").unwrap_or(page).trim_end_matches(".md")))
}

/// The edition of a name; the default one if there is none.
fn edition_of(name: Option<&str>) -> PyResult<Edition> {
    let Some(name) = name else { return Ok(Edition::default()) };
    let found = Edition::ALL.into_iter().find(|edition| edition.name() == name);
    found.ok_or_else(|| unreadable(format!("there is no edition `{name}`")))
}

fn unreadable(message: String) -> PyErr {
    UnreadableError::new_err(message)
}
