//! The parts of lines.

use std::str::FromStr;

/// The rest of a line.
pub(in crate::vm) struct LineCursor<'t> {
    pub(in crate::vm) rest: &'t str,
}

/// A result, or a message without a position.
pub(in crate::vm) type Parsed<T> = Result<T, String>;

impl<'t> LineCursor<'t> {
    pub(in crate::vm) fn new(line: &'t str) -> LineCursor<'t> {
        LineCursor { rest: line.trim() }
    }

    pub(in crate::vm) fn word(&mut self) -> &'t str {
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    pub(in crate::vm) fn eat(&mut self, symbol: &str) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    pub(in crate::vm) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(format!("expected `{symbol}`, found `{}`", shown(self.rest))) }
    }

    pub(in crate::vm) fn number<N: FromStr>(&mut self) -> Parsed<N> {
        let is_digit = |c: char| c.is_ascii_digit() || c == '-';
        let end = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().map_err(|_| format!("expected a number, found `{}`", shown(self.rest)))?;
        self.rest = rest.trim_start();
        Ok(number)
    }

    /// Only a remark may follow.
    pub(in crate::vm) fn end(&self) -> Parsed<()> {
        if is_remark(self.rest) { Ok(()) } else { Err(format!("`{}` is too much", shown(self.rest))) }
    }
}

/// A line without meaning for the machine.
pub(in crate::vm) fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The start of the text that was found.
pub(in crate::vm) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("..");
    }
    shown
}

const SHOWN: usize = 40;
