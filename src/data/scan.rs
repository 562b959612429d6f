//! The scanner that the readers of both notations share. It reads data character by character.

use std::collections::HashSet;

use super::DataError;
use super::node::{BorrowedText, Node, NodeData};
use crate::grammar::Span;
use crate::judge::with_stack;

/// A reader of a text. Brackets nest at most `limit` deep.
pub(super) struct Scanner<'t> {
    pub text: &'t str,
    pub at: usize,
    depth: usize,
    limit: usize,
}

pub(super) type Scanned<T> = Result<T, DataError>;

/// With this many keys or more, a set finds repeated keys.
const FEW_KEYS: usize = 16;

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str, limit: usize) -> Scanner<'t> {
        Scanner { text, at: 0, depth: 0, limit }
    }

    pub fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    /// The longest prefix whose characters all satisfy `is`.
    pub fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub fn span_from(&self, start: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(offset(start), offset(self.at))
    }

    pub fn node(&self, start: usize, data: NodeData<'t>) -> Node<'t> {
        Node { span: self.span_from(start), data }
    }

    pub fn error(&self, message: impl Into<String>) -> DataError {
        let end = self.at + self.char().map_or(0, char::len_utf8);
        let span = Span { end: u32::try_from(end).unwrap_or(u32::MAX), ..self.span_from(self.at) };
        DataError::at(span, message)
    }

    /// An error: `what` is expected, but something else comes next.
    pub fn expected(&self, what: &str) -> DataError {
        let found = self.char().map_or_else(|| "the end".to_string(), |c| format!("`{c}`"));
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn expect(&mut self, symbol: &str) -> Scanned<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Reads the inside of a bracket that is already open.
    pub fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Scanned<T>) -> Scanned<T> {
        if self.depth >= self.limit {
            return Err(DataError::too_deep(self.span_from(self.at), self.limit));
        }
        self.depth += 1;
        let result = with_stack(|| body(self));
        self.depth -= 1;
        result
    }

    /// Checks that no key occurs twice.
    pub fn distinct(&self, entries: &[(BorrowedText<'t>, Node<'t>)]) -> Scanned<()> {
        let twice = if entries.len() <= FEW_KEYS {
            entries.iter().enumerate().find(|(i, (key, _))| entries[..*i].iter().any(|(other, _)| other == key))
        } else {
            let mut seen = HashSet::new();
            entries.iter().enumerate().find(|(_, (key, _))| !seen.insert(key))
        };
        match twice {
            None => Ok(()),
            Some((_, (key, value))) => Err(DataError::at(value.span, format!("`{key}` is given twice"))),
        }
    }

    /// Reads a text after its opening quote. `escape` reads the characters after a backslash.
    pub fn quoted(
        &mut self,
        allowed: impl Fn(char) -> bool,
        mut escape: impl FnMut(&mut Self) -> Scanned<char>,
    ) -> Scanned<BorrowedText<'t>> {
        let plain = |c: char| c != '"' && c != '\\' && allowed(c);
        let first = self.take_while(plain);
        if self.eat("\"") {
            return Ok(BorrowedText::Borrowed(first));
        }
        let mut text = first.to_string();
        loop {
            if self.eat("\"") {
                return Ok(BorrowedText::Owned(text));
            }
            if !self.eat("\\") {
                return Err(self.expected("the end of a text"));
            }
            text.push(escape(self)?);
            text.push_str(self.take_while(plain));
        }
    }

    /// Reads `count` hexadecimal digits as a number.
    pub fn hex(&mut self, count: usize) -> Scanned<u32> {
        let digits = self.rest().get(..count).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let digits = digits.ok_or_else(|| self.expected(&format!("{count} hexadecimal digits")))?;
        self.at += count;
        Ok(digits)
    }

    pub fn character(&self, code: u32) -> Scanned<char> {
        char::from_u32(code).ok_or_else(|| self.error(format!("there is no character {code:#x}")))
    }
}
