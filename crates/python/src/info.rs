//! Structural information of other libraries, read once.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::GILOnceCell;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};

use crate::unreadable;
use relax_spec::data::{Node, NodeData, Write, from_node, json};
use relax_spec::grammar::{StructInfo, in_words};
use relax_spec::judge::with_stack;
use relax_spec_cli::Operand;

/// Structural information. Judgements take it as they take text.
#[pyclass(frozen, module = "relax_spec")]
pub(crate) struct Info(StructInfo);

#[pymethods]
impl Info {
    /// Reads the JSON form, as Python has it: dicts, lists, text, numbers and truths.
    #[new]
    fn new(form: &Bound<'_, PyAny>) -> PyResult<Info> {
        from_node(&node_of(form)?).map(Info).map_err(|error| unreadable(error.to_string()))
    }

    /// The JSON form as text.
    #[getter]
    fn json(&self) -> String {
        json::write(&self.0.write())
    }

    fn __repr__(&self) -> String {
        in_words(self.0.to_string())
    }
}

/// The data of a Python object of the kinds that JSON has.
fn node_of<'py>(form: &Bound<'py, PyAny>) -> PyResult<Node<'static>> {
    with_stack(|| {
        if let Ok(text) = form.downcast::<PyString>() {
            return Ok(Node::text(text.to_cow()?.into_owned()));
        }
        // A truth is a number, too.
        if let Ok(truth) = form.downcast::<PyBool>() {
            return Ok(NodeData::Bool(truth.is_true()).into());
        }
        if form.is_instance_of::<PyInt>() {
            return match form.extract::<i64>() {
                Ok(number) => Ok(Node::number(number)),
                Err(_) => Ok(Node::number(form.str()?)),
            };
        }
        if let Ok(list) = form.downcast::<PyList>() {
            let items = list.iter().map(|item| node_of(&item)).collect::<PyResult<_>>()?;
            return Ok(NodeData::List(items).into());
        }
        if let Ok(dict) = form.downcast::<PyDict>() {
            let entry = |(key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
                Ok((key.downcast::<PyString>()?.to_cow()?.into_owned().into(), node_of(&value)?))
            };
            return Ok(NodeData::Map(dict.iter().map(entry).collect::<PyResult<_>>()?).into());
        }
        let kind = form.get_type().name()?;
        if form.is_none() {
            Ok(NodeData::Null.into())
        } else {
            Err(PyTypeError::new_err(format!("JSON has no {kind}")))
        }
    })
}

/// An operand as Python gives it: text, structural information that has been read, or that of TVM.
pub(crate) enum Given<'py> {
    Text(PyBackedStr),
    Info(PyRef<'py, Info>),
}

impl<'py> FromPyObject<'py> for Given<'py> {
    fn extract_bound(given: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
        // A type that is looked up raises nothing: an exception costs more than a small judgement.
        if let Ok(info) = given.downcast::<Info>() {
            return Ok(Given::Info(info.borrow()));
        }
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Given::Text);
        }
        static INFO_OF: GILOnceCell<Py<PyAny>> = GILOnceCell::new();
        let asked = INFO_OF.import(given.py(), "relax_spec.tvm", "info_of").and_then(|reader| reader.call1((given,)));
        match asked {
            Ok(known) => Ok(Given::Info(known.downcast::<Info>()?.borrow())),
            Err(cause) => {
                let error = unreadable(format!("`{given}` is neither text nor structural information"));
                error.set_cause(given.py(), Some(cause));
                Err(error)
            }
        }
    }
}

impl Given<'_> {
    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Given::Text(text) => Operand::Text(text),
            Given::Info(info) => Operand::Info(&info.0),
        }
    }
}
