//! Source text with positions, and the error of every reader.

use std::fmt;

use crate::book::Rule;
use crate::grammar::Span;

/// The largest nesting depth of brackets and blocks in a text. Deeper input is rejected with a position.
pub const MAX_NESTING: usize = 1_000;

/// The largest depth of a tree, including operators: a long sum nests its terms.
pub const MAX_DEPTH: usize = 2_000;

/// The reason why a text cannot be read, and the position. Lines and columns count from 1; columns count characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The problem, and the expected input.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the line, without its line end.
    pub source_line: String,
    /// The rule that is broken, if there is one.
    pub rule: Option<Rule>,
}

impl SyntaxError {
    /// An error at a position in a text.
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

/// The line starts of a text, for fast conversion of many positions.
#[derive(Debug)]
pub struct Lines {
    /// The offset of the first character of each line.
    starts: Vec<usize>,
    /// The number of characters before each block of bytes.
    characters: Vec<usize>,
}

/// The number of bytes in a block. Blocks are needed because columns count characters, and a line may be very long.
const BLOCK: usize = 1_024;

impl Lines {
    /// Finds the lines of a text.
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

    /// Line and column of an offset in the same text, as [`locate`] returns them, and the offset of the line.
    pub fn place(&self, text: &str, offset: usize) -> (usize, usize, usize) {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line, self.before(text, offset) - self.before(text, start) + 1, start)
    }

    /// The number of characters before an offset.
    fn before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        let rest = text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        // The last block may end at the end of the text.
        let whole = || self.characters.last().copied().unwrap_or(0) + in_last_block(text);
        let known = self.characters.get(block).copied().unwrap_or_else(whole);
        known + rest.iter().filter(|byte| is_first(**byte)).count()
    }
}

/// The number of characters in the last block, for a text whose last block is full.
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
