//! A judgement on types, structural information or dimensions.

use pyo3::prelude::*;

use relax_spec::Edition;
use relax_spec::grammar::in_words;
use relax_spec::judge::{Cx, with_stack};
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, Outcome};
use relax_spec_cli::{Operand, question};

/// The answer to a question. How it was derived is found out when somebody asks for it.
#[pyclass(frozen, module = "relax_spec")]
pub(crate) struct Judgement {
    ask: Ask,
    edition: Edition,
    outcome: Outcome,
}

impl Judgement {
    pub(crate) fn of(name: &str, operands: &[Operand<'_>], edition: Edition) -> Result<Judgement, String> {
        let ask = question(name, operands)?;
        let outcome = with_stack(|| oracle::outcome(&mut Cx::new().with_edition(edition), &ask));
        Ok(Judgement { ask, edition, outcome })
    }

    fn answered(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answer { answer, .. } => Some(answer),
            Outcome::Rejected { .. }
            | Outcome::Trapped { .. }
            | Outcome::Unsupported { .. }
            | Outcome::InternalError { .. }
            | Outcome::Crash { .. }
            | Outcome::Timeout { .. }
            | Outcome::ProtocolError { .. }
            | Outcome::Flaky { .. } => None,
        }
    }

    /// Variable numbers are shown only if the question uses them.
    fn words(&self, text: String) -> String {
        if self.ask.to_string().contains('#') { text } else { in_words(text) }
    }
}

#[pymethods]
impl Judgement {
    /// Whether there is an answer, and the program or the operands are not rejected.
    #[getter]
    fn holds(&self) -> Option<bool> {
        match self.answered()? {
            Answer::Bool(holds) => Some(*holds),
            answer => match answer.to_string().as_str() {
                "Equal" => Some(true),
                "Different" => Some(false),
                _ => None,
            },
        }
    }

    /// Whether the question has an answer.
    #[getter]
    fn is_answered(&self) -> bool {
        self.answered().is_some()
    }

    /// The question, in the notation of the text.
    #[getter]
    fn question(&self) -> String {
        self.words(self.ask.to_string())
    }

    /// The answer, in the notation of the text.
    #[getter]
    fn text(&self) -> String {
        self.words(self.outcome.to_string())
    }

    fn __repr__(&self) -> String {
        self.text()
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = format!("{}\n\n{}", self.text(), self.derivation(py));
        py.import("relax_spec._results")?.getattr("Derivation")?.call1((text,))?.call_method0("_repr_html_")
    }

    /// How the answer was derived: rules, premises and judgements asked on the way.
    #[getter]
    fn derivation(&self, py: Python<'_>) -> String {
        py.allow_threads(|| {
            let mut cx = Cx::new().with_edition(self.edition).with_trace();
            let _ = with_stack(|| oracle::outcome(&mut cx, &self.ask));
            self.words(cx.take_derivations().iter().map(ToString::to_string).collect())
        })
    }
}
