//! Decoding: from data, RON or JSON, to the abstract syntax, production by production (chapter Grammar).
//!
//! The readers of [`super::load`] are derived from the types and say no more than that something does not fit. Here each
//! production of the grammar is a rule that fires where a node is built by it, and a tree that the grammar does not have
//! is refused under the rule that it breaks. The older spellings of datatypes and calls are converted on the way, and
//! programs of 2022 are imported first.

mod data_type;
mod productions;
mod walk;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::import;
use super::load::{Form, MAX_DATA_NESTING};
use crate::book::{Rule, ron_options};
use crate::grammar::{FORMAT_VERSION, IrModule};
use crate::judge::Cx;
use crate::syntax::depth;

/// Stack for trees whose depth is bounded, where the libraries recurse without asking for more.
const DATA_STACK: usize = 256 * 1024 * 1024;

/// Which of the documents a tree is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Profile {
    /// The documents merged; older spellings are read, and the extension set of dimensions.
    #[default]
    Merged,
    /// The later revision alone, without types, older spellings and the extension set.
    Pr14148,
}

/// Why data is not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// The rule of the grammar that is broken, where one is.
    pub rule: Option<Rule>,
    /// The way from the module to the node, as `funcs[0]/body/blocks[1]`.
    pub path: String,
    /// What is wrong, for people.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        self.rule.map_or(Ok(()), |rule| write!(f, " ({rule})"))
    }
}

impl std::error::Error for DecodeError {}

impl DecodeError {
    fn plain(message: impl fmt::Display) -> DecodeError {
        DecodeError { rule: None, path: String::new(), message: message.to_string() }
    }
}

/// GRAM: the program that data describes. What is marked as of 2022 is imported (chapter The 2022 Abstract Syntax).
///
/// # Errors
///
/// The text is no data, or not by the productions of the grammar.
pub fn decode(cx: &mut Cx, form: Form, text: &str, profile: Profile) -> Result<IrModule, DecodeError> {
    stacker::grow(DATA_STACK, || {
        let mut value = value_of(form, text)?;
        if import::is_marked(&value) {
            value = import::import_value(cx, value, text).map_err(|error| DecodeError {
                rule: error.rule(),
                path: String::new(),
                message: error.to_string(),
            })?;
        }
        let module = typed(walk::program(cx, profile, value)?)?;
        if module.version == FORMAT_VERSION {
            Ok(module)
        } else {
            Err(DecodeError::plain(format!("it is of format version {}, not {FORMAT_VERSION}", module.version)))
        }
    })
}

/// GRAM: the productions by which a program is built, which was read from text.
///
/// # Errors
///
/// A production is not of the grammar.
pub fn recognize(cx: &mut Cx, module: &IrModule) -> Result<(), DecodeError> {
    stacker::grow(DATA_STACK, || {
        let value = serde_json::to_value(module).map_err(DecodeError::plain)?;
        walk::program(cx, Profile::Merged, value).map(|_| ())
    })
}

/// A type, with its datatypes in the present form.
pub(super) fn type_data(cx: &mut Cx, value: Value) -> Result<Value, DecodeError> {
    walk::type_data(cx, value)
}

/// The data in a text: structures as maps, and variants as maps with one key.
pub(super) fn value_of(form: Form, text: &str) -> Result<Value, DecodeError> {
    if depth(text) > MAX_DATA_NESTING {
        return Err(DecodeError::plain(format!("it nests deeper than {MAX_DATA_NESTING} brackets")));
    }
    match form {
        Form::Json => {
            let mut reader = serde_json::Deserializer::from_str(text);
            reader.disable_recursion_limit();
            let value = Value::deserialize(&mut reader).map_err(DecodeError::plain)?;
            reader.end().map_err(DecodeError::plain)?;
            Ok(value)
        }
        Form::Ron => {
            let any: Any = ron_options().without_recursion_limit().from_str(text).map_err(DecodeError::plain)?;
            Ok(match any {
                Any::Value(value) => value,
            })
        }
        Form::TvmScript => Err(DecodeError::plain("TVMScript is text, not data")),
    }
}

/// Data whose type is not known. Of an untagged type RON tells the names of variants, which it drops otherwise.
#[derive(Deserialize)]
#[serde(untagged)]
enum Any {
    Value(Value),
}

fn typed(value: Value) -> Result<IrModule, DecodeError> {
    IrModule::deserialize(value).map_err(DecodeError::plain)
}

#[cfg(test)]
mod tests;
