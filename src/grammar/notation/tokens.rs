//! Words and symbols.

use crate::grammar::source::{MAX_NESTING, SyntaxError};
use crate::grammar::{DataType, Ndim, Span};
use crate::judge::with_stack;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token<'t> {
    /// A name with an optional number: `n`, `n#2`, `R.Tensor`.
    Name(&'t str),
    /// The digits of an integer.
    Int(&'t str),
    /// The text between quotation marks.
    Str(&'t str),
    Symbol(&'static str),
    End,
}

/// Longer symbols first, so that `//` is not two symbols.
const SYMBOLS: [&str; 20] =
    ["->", "//", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "%", "(", ")", "[", "]", ",", "=", "_", "/"];

pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token<'t>, Span)>,
    at: usize,
    depth: usize,
}

/// The result of reading: a value or an error.
pub(super) type NotationResult<T> = Result<T, SyntaxError>;

impl<'t> Parser<'t> {
    pub fn new(text: &'t str) -> NotationResult<Parser<'t>> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = &text[at..];
            let (token, len) = match c {
                _ if c.is_whitespace() => {
                    at += c.len_utf8();
                    continue;
                }
                '0'..='9' => {
                    let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    (Token::Int(&rest[..len]), len)
                }
                '"' | '\'' => match rest[1..].find(c) {
                    Some(len) => (Token::Str(&rest[1..1 + len]), len + 2),
                    None => return Err(SyntaxError::at(text, span(at, at + 1), "the string does not end")),
                },
                _ if is_name_start(c) => {
                    let len = name_len(rest);
                    (Token::Name(&rest[..len]), len)
                }
                _ => match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
                    Some(symbol) => (Token::Symbol(symbol), symbol.len()),
                    None => return Err(SyntaxError::at(text, span(at, at + 1), format!("unexpected `{c}`"))),
                },
            };
            tokens.push((token, span(at, at + len)));
            at += len;
        }
        tokens.push((Token::End, span(text.len(), text.len())));
        Ok(Parser { text, tokens, at: 0, depth: 0 })
    }

    pub fn peek(&self) -> &Token<'t> {
        self.peek_after(0)
    }

    pub fn peek_after(&self, ahead: usize) -> &Token<'t> {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |(token, _)| token)
    }

    pub fn next(&mut self) -> Token<'t> {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if *name == word);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn expect(&mut self, symbol: &str) -> NotationResult<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// `word=`.
    pub fn accept_keyword(&mut self, word: &str) -> bool {
        let found =
            matches!(self.peek(), Token::Name(name) if *name == word) && *self.peek_after(1) == Token::Symbol("=");
        if found {
            self.at += 2;
        }
        found
    }

    pub fn finish(mut self) -> NotationResult<()> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.expected("the end")),
        }
    }

    /// The error at the next token.
    pub fn expected(&mut self, what: &str) -> SyntaxError {
        let at = self.tokens.get(self.at).map_or(span(self.text.len(), self.text.len()), |(_, span)| *span);
        let found = match self.peek() {
            Token::End => "the end".to_string(),
            _ => format!("`{}`", &self.text[at.start as usize..at.end as usize]),
        };
        SyntaxError::at(self.text, at, format!("expected {what}, found {found}"))
    }

    /// Runs `body` one level deeper.
    pub fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> NotationResult<T>) -> NotationResult<T> {
        if self.depth >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = with_stack(|| body(self));
        self.depth -= 1;
        result
    }

    pub fn too_deep(&mut self) -> SyntaxError {
        let at = self.tokens.get(self.at).map_or(Span::NONE, |(_, span)| *span);
        SyntaxError::at(self.text, at, format!("the nesting is deeper than {MAX_NESTING}"))
    }

    /// Items separated by commas, up to the closing bracket. A trailing comma is allowed.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> NotationResult<T>,
    ) -> NotationResult<Vec<T>> {
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(item(self)?);
            if !self.accept(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// A data type: `float32`, `"float32"`, `_`.
    pub fn dtype(&mut self) -> NotationResult<DataType> {
        let (text, is_blank) = match self.peek() {
            Token::Name(name) => (name.strip_prefix("T.").unwrap_or(name), false),
            Token::Str(text) => (*text, false),
            Token::Symbol("_") => ("", true),
            _ => return Err(self.expected("a data type")),
        };
        match text.parse() {
            Ok(dtype) if is_blank || !text.is_empty() || matches!(self.peek(), Token::Str(_)) => {
                self.at += 1;
                Ok(dtype)
            }
            Ok(_) | Err(_) => Err(self.expected("a data type")),
        }
    }

    /// A number of dimensions, -1 for unknown.
    pub fn ndim(&mut self) -> NotationResult<Ndim> {
        let is_negative = self.accept("-");
        let Token::Int(digits) = self.peek() else {
            return Err(self.expected("a number of dimensions (-1 for unknown)"));
        };
        let ndim = match (is_negative, digits.parse::<u32>()) {
            (true, Ok(1)) => Ndim::Unknown,
            (false, Ok(n)) => Ndim::Known(n),
            (true, Ok(_)) | (_, Err(_)) => return Err(self.expected("a number of dimensions (-1 for unknown)")),
        };
        self.at += 1;
        Ok(ndim)
    }
}

fn span(start: usize, end: usize) -> Span {
    let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(narrow(start), narrow(end))
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The length of a name, including dots and the number.
fn name_len(text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let len = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let Some(number) = text[len..].strip_prefix('#') else { return len };
    len + 1 + number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len())
}
