//! A module between two passes.

use pyo3::prelude::*;

use crate::{edition_of, unreadable};
use relax_spec_cli::{JudgedModule, MeaningBudget, smaller_program};

/// A module as a pass received or returned it. It keeps what its judgements share.
#[pyclass(frozen, module = "relax_spec")]
pub(crate) struct Module(JudgedModule);

#[pymethods]
impl Module {
    /// Reads TVMScript. `release` is the release of TVM for which programs are written.
    #[new]
    #[pyo3(signature = (text, edition = None, release = "0.27"))]
    fn new(py: Python<'_>, text: &str, edition: Option<&str>, release: &str) -> PyResult<Module> {
        let edition = edition_of(edition)?;
        py.allow_threads(|| JudgedModule::read(text, edition, release)).map(Module).map_err(unreadable)
    }

    /// The global symbols of the functions that can be started from outside.
    #[getter]
    fn exported(&self) -> Vec<String> {
        self.0.exported()
    }

    /// The text, in the dialect of the release.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    /// The contracts that a pass with this result breaks, as JSON.
    fn contracts(&self, py: Python<'_>, name: &str, after: &Module) -> String {
        py.allow_threads(|| self.0.contracts(name, &after.0).to_string())
    }

    /// Whether a function of the result of a pass means what it meant, as JSON.
    #[pyo3(signature = (name, after, entry, runs, seed, steps))]
    #[allow(clippy::too_many_arguments, reason = "Python calls it")]
    fn meaning(
        &self,
        py: Python<'_>,
        name: &str,
        after: &Module,
        entry: &str,
        runs: usize,
        seed: u64,
        steps: u64,
    ) -> String {
        let budget = MeaningBudget { runs, seed, steps };
        py.allow_threads(|| self.0.meaning(name, &after.0, entry, budget).to_string())
    }

    /// The text of the smallest program found of which `shows`, a function of its text, is true. An exception of it
    /// counts as false.
    fn smaller(&self, entry: &str, questions: usize, shows: &Bound<'_, PyAny>) -> String {
        let holds = |text: &str| shows.call1((text,)).and_then(|shown| shown.is_truthy()).unwrap_or(false);
        smaller_program(&self.0, entry, questions, holds)
    }
}
