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

/// Where the lines of a text begin, so that many places in it are found quickly.
#[derive(Debug)]
pub struct Lines {
    /// The offset of the first character of each line.
    starts: Vec<usize>,
    /// How many characters stand before each block of bytes.
    characters: Vec<usize>,
}

/// How many bytes a block has. Columns count characters, of which a line may have any number.
const BLOCK: usize = 1_024;

impl Lines {
    /// The lines of a text.
    pub fn of(text: &str) -> Lines {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut characters = Vec::with_capacity(text.len() / BLOCK + 1);
        let mut count = 0;
        for block in text.as_bytes().chunks(BLOCK) {
            characters.push(count);
            count += block.iter().filter(|byte| is_first(**byte)).count();
        }
        Lines { starts, characters }
    }

    /// Line and column of an offset of the same text, as [`locate`] has them, and where the line begins.
    pub fn place(&self, text: &str, offset: usize) -> (usize, usize, usize) {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line, self.before(text, offset) - self.before(text, start) + 1, start)
    }

    /// How many characters stand before an offset.
    fn before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        let rest = text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        // The end of the last block may be the end of the text.
        let whole = || self.characters.last().copied().unwrap_or(0) + in_last_block(text);
        let known = self.characters.get(block).copied().unwrap_or_else(whole);
        known + rest.iter().filter(|byte| is_first(**byte)).count()
    }
}

/// How many characters the last block has, of a text that fills its blocks.
fn in_last_block(text: &str) -> usize {
    let bytes = text.as_bytes();
    bytes.get(bytes.len().saturating_sub(BLOCK)..).unwrap_or_default().iter().filter(|byte| is_first(**byte)).count()
}

/// Whether a byte of UTF-8 begins a character.
fn is_first(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_are_counted() {
        let long = "grün".repeat(700);
        for text in ["", "\n", "a\nb", "ä\n\nöü\r\n🙂x", &format!("{long}\n{long}")] {
            let lines = Lines::of(text);
            for offset in 0..=text.len() + 2 {
                let (line, column, _) = locate(text, offset);
                let place = lines.place(text, offset);
                assert_eq!((place.0, place.1), (line, column), "{offset} of {} bytes", text.len());
            }
        }
    }
}
