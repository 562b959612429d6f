//! Source text with positions, and the error of every reader.

use std::fmt;

use crate::book::Rule;
use crate::grammar::Span;

/// How deep brackets and blocks may nest in text; deeper input is refused with a position.
pub const MAX_NESTING: usize = 1_000;

/// How deep a tree may be, operators included: the terms of a long sum lie in each other.
pub const MAX_DEPTH: usize = 2_000;

/// Why a text cannot be read, and where. Lines and columns count from 1; columns count characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// What is wrong, and what was expected.
    pub message: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line in question, without its end.
    pub source_line: String,
    /// The rule that is broken, where one is.
    pub rule: Option<Rule>,
}

impl SyntaxError {
    /// An error at a place of a text.
    pub fn at(text: &str, span: Span, message: impl Into<String>) -> SyntaxError {
        let (line, column, source_line) = locate(text, span.start as usize);
        SyntaxError { message: message.into(), line, column, source_line: source_line.to_string(), rule: None }
    }
}

/// Line, column and text of the line that holds a byte offset.
pub fn locate(text: &str, offset: usize) -> (usize, usize, &str) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
    let line = text[..start].matches('\n').count() + 1;
    let column = text[start..offset].chars().count() + 1;
    (line, column, text[start..end].trim_end_matches('\r'))
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}
