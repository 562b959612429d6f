//! The text of an open file, with positions as editors count them: lines from 0, columns in units of UTF-16.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use relax_spec::grammar::Span;

/// The text of an open file.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub text: String,
    pub version: i32,
    /// The offset of the first byte of each line.
    starts: Vec<usize>,
}

impl Document {
    pub fn new(text: String, version: i32) -> Document {
        let starts = line_starts(&text);
        Document { text, version, starts }
    }

    /// Applies a change: of a range, or of the whole text.
    pub fn apply(&mut self, change: TextDocumentContentChangeEvent) {
        match change.range {
            None => self.text = change.text,
            Some(range) => {
                let (start, end) = (self.offset(range.start), self.offset(range.end));
                self.text.replace_range(start..end.max(start), &change.text);
            }
        }
        self.starts = line_starts(&self.text);
    }

    /// The offset of a position. One behind the end of its line is that end; one inside of a character, its start.
    pub fn offset(&self, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(&start) = self.starts.get(line) else { return self.text.len() };
        let end = self.starts.get(line.saturating_add(1)).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let (mut units, mut at) = (0, start);
        for c in text.chars() {
            units += c.len_utf16();
            if units > position.character as usize {
                break;
            }
            at += c.len_utf8();
        }
        at
    }

    /// The position of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let units: usize = self.text.get(start..offset).unwrap_or_default().chars().map(char::len_utf16).sum();
        Position { line: small(line), character: small(units) }
    }

    pub fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start as usize), end: self.position(span.end.max(span.start) as usize) }
    }

    /// The end of the line of an offset, without its line end.
    pub fn line_end(&self, offset: usize) -> usize {
        let rest = self.text.get(offset..).unwrap_or_default();
        offset + rest.find(['\n', '\r']).unwrap_or(rest.len())
    }
}

/// The first bytes of the lines. A line ends with a line feed, a carriage return, or both.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(i, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(i + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect()
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    /// A clef takes 4 bytes and 2 units, an é 2 bytes and 1 unit.
    #[test]
    fn positions_are_in_units_of_utf16() {
        let document = Document::new("a\u{1d11e}é = 1\r\nb\rc".to_string(), 0);
        for (offset, position) in
            [(0, at(0, 0)), (1, at(0, 1)), (5, at(0, 3)), (7, at(0, 4)), (13, at(1, 0)), (15, at(2, 0)), (16, at(2, 1))]
        {
            assert_eq!(document.position(offset), position, "{offset}");
            assert_eq!(document.offset(position), offset, "{position:?}");
        }
        // Inside of the clef; behind the end of a line; behind the text.
        assert_eq!(document.offset(at(0, 2)), 1);
        assert_eq!(document.offset(at(0, 99)), 11);
        assert_eq!(document.offset(at(9, 9)), 16);
        assert_eq!(document.position(3), at(0, 1));
    }

    /// Whatever ranges a client sends, the text is what it replaces, and no range panics.
    #[test]
    fn changes_are_applied_in_turn() {
        let mut document = Document::new("one\ntwo\n".to_string(), 0);
        let change = |start, end, text: &str| TextDocumentContentChangeEvent {
            range: Some(Range { start, end }),
            range_length: None,
            text: text.to_string(),
        };
        document.apply(change(at(1, 0), at(1, 3), "drei"));
        assert_eq!(document.text, "one\ndrei\n");
        document.apply(change(at(0, 3), at(1, 0), ""));
        assert_eq!(document.text, "onedrei\n");
        document.apply(change(at(7, 7), at(0, 0), "\u{1d11e}"));
        assert_eq!(document.text, "onedrei\n\u{1d11e}");
        document.apply(change(at(1, 1), at(1, 2), "x"));
        assert_eq!(document.text, "onedrei\nx");
        document.apply(TextDocumentContentChangeEvent { range: None, range_length: None, text: String::new() });
        assert_eq!((document.text.as_str(), document.position(5)), ("", at(0, 0)));
    }
}
