//! Data: the two notations in which programs, cases and messages are written, RON and JSON, each read once, with positions;
//! and the data form of every type, read from and written to what both notations share ([`Node`]).
//!
//! A type says in [`FromData`] how it is read and in [`Write`] how it is written; `record!` and `choice!` are for those that are
//! written as their fields or as a named alternative. Nodes of the grammar are read by its productions: each fires its
//! rule, and what does not fit is refused under the rule that it breaks.

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

/// How deep brackets may nest in a message or a suite file.
pub const MAX_DEPTH: usize = 20_000;

/// The two notations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataNotation {
    /// Rusty Object Notation.
    Ron,
    /// JSON.
    Json,
}

/// Why data is not what is wanted, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataError {
    /// Where in the text; [`Span::NONE`] for data that comes from no text.
    pub span: Span,
    /// The rule of the grammar that is broken, where one is.
    pub rule: Option<Rule>,
    /// What is wrong, for people.
    pub message: String,
    /// Whether it nests too deep to be read at all.
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

    /// The error in words, with line and column in the text that was read.
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

/// Counting from 1; columns count characters.
fn line_and_column(text: &str, span: Span) -> (usize, usize) {
    let before = text.get(..span.start as usize).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// What a text holds, in one of the notations.
///
/// # Errors
///
/// It is not of the notation, or nests deeper than `limit`.
pub fn read_text(notation: DataNotation, text: &str, limit: usize) -> Result<Document<'_>, DataError> {
    match notation {
        DataNotation::Ron => ron::read(text, limit),
        DataNotation::Json => json::read(text, limit),
    }
}

/// A value of a type, from a text in RON. The error tells line and column.
///
/// # Errors
///
/// It is not RON, or does not describe such a value.
pub fn from_ron<T: FromData>(text: &str) -> Result<T, LocatedError> {
    from_text(DataNotation::Ron, text)
}

/// A value of a type, from a text in JSON. The error tells line and column.
///
/// # Errors
///
/// It is not JSON, or does not describe such a value.
pub fn from_json<T: FromData>(text: &str) -> Result<T, LocatedError> {
    from_text(DataNotation::Json, text)
}

fn from_text<T: FromData>(notation: DataNotation, text: &str) -> Result<T, LocatedError> {
    let read = read_text(notation, text, MAX_DEPTH).and_then(|document| from_node(&document));
    read.map_err(|error| LocatedError(error.located(text)))
}

/// A value of a type, from data.
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

/// A [`DataError`] with its line and column in words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct LocatedError(pub String);

#[cfg(test)]
mod tests;
