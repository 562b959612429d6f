//! Data: RON and JSON, the notations of programs, cases and messages, each with one reader that keeps positions. Every
//! type has a data form, which is read from and written to the common representation of both notations, [`Node`].
//!
//! A type implements [`FromData`] to be read and [`Write`] to be written. `record!` and `choice!` implement them for
//! types that are written as fields or as a named alternative. Nodes of the grammar are read by its productions. Each
//! production fires its rule, and invalid data is rejected under the rule that it breaks.

mod attrs;
mod data_type;
mod device;
mod dim;
mod expr;
mod instead;
pub mod json;
mod node;
mod program;
mod reader;
mod recognize;
pub mod record;
pub mod ron;
mod scan;
mod simple;
mod struct_info;
mod tir;
mod value;

pub use node::{BorrowedText, Document, Node, NodeData};
pub use reader::{DataReader, DataResult, FromData, NamedVariants, Profile, StructFields, Write};
pub use recognize::{one_function_a_name, recognize};
pub use simple::MapKey;

use std::fmt;

use crate::book::Rule;
use crate::grammar::Span;

/// The largest nesting depth of brackets in a message or a suite file.
pub const MAX_DEPTH: usize = 20_000;

/// The two notations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataNotation {
    /// Rusty Object Notation.
    Ron,
    /// JSON.
    Json,
}

/// The reason why data is rejected, and the position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataError {
    /// The position in the text; [`Span::NONE`] for data that does not come from a text.
    pub span: Span,
    /// The rule of the grammar that is broken, if there is one.
    pub rule: Option<Rule>,
    /// The message for the user.
    pub message: String,
    /// Whether the nesting is too deep to be read.
    pub is_too_deep: bool,
}

impl DataError {
    /// An error that breaks no rule of the grammar.
    pub fn at(span: Span, message: impl Into<String>) -> DataError {
        DataError { span, rule: None, message: message.into(), is_too_deep: false }
    }

    fn too_deep(span: Span, limit: usize) -> DataError {
        DataError { is_too_deep: true, ..DataError::at(span, format!("it nests deeper than {limit} brackets")) }
    }

    /// The error message with line and column in the text.
    pub fn located(&self, text: &str) -> String {
        let (line, column) = line_and_column(text, self.span);
        format!("{line}:{column}: {self}")
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.rule.map_or(Ok(()), |rule| write!(f, " ({rule})"))
    }
}

impl std::error::Error for DataError {}

/// Line and column, counted from 1. Columns count characters.
fn line_and_column(text: &str, span: Span) -> (usize, usize) {
    let before = text.get(..span.start as usize).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Reads a text in one of the notations.
///
/// # Errors
///
/// The text is not in the notation, or nests deeper than `limit`.
pub fn read_text(notation: DataNotation, text: &str, limit: usize) -> Result<Document<'_>, DataError> {
    match notation {
        DataNotation::Ron => ron::read(text, limit),
        DataNotation::Json => json::read(text, limit),
    }
}

/// Reads a value from a RON text. The error message has line and column.
///
/// # Errors
///
/// The text is not RON, or does not describe such a value.
pub fn from_ron<T: FromData>(text: &str) -> Result<T, LocatedError> {
    from_text(DataNotation::Ron, text)
}

/// Reads a value from a JSON text. The error message has line and column.
///
/// # Errors
///
/// The text is not JSON, or does not describe such a value.
pub fn from_json<T: FromData>(text: &str) -> Result<T, LocatedError> {
    from_text(DataNotation::Json, text)
}

fn from_text<T: FromData>(notation: DataNotation, text: &str) -> Result<T, LocatedError> {
    let read = read_text(notation, text, MAX_DEPTH).and_then(|document| from_node(&document));
    read.map_err(|error| LocatedError(error.located(text)))
}

/// Reads a value from data.
///
/// # Errors
///
/// The data does not describe such a value.
pub fn from_node<T: FromData>(node: &Node<'_>) -> DataResult<T> {
    DataReader::new(&mut crate::judge::Cx::new()).read(node)
}

/// The data form of a value.
pub fn to_document<T: Write + ?Sized>(value: &T) -> Document<'_> {
    Document::new(value.write())
}

/// The message of a [`DataError`] with line and column.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct LocatedError(pub String);

#[cfg(test)]
mod tests;
