//! Reads Relay: from tokens to a tree, by the productions of the chapter. After a fault, reading continues after the
//! current binding or definition, so that one run reports several faults.

mod expr;
mod metadata;
mod program;
mod types;
mod values;

pub(crate) use expr::Reference;
pub(super) use metadata::CONSTANT;

use super::fault::RelayFault;
use super::token::{Lexeme, Token, lex};
use super::tree::{Program, RelayNotation};
use crate::grammar::source::MAX_NESTING;
use crate::grammar::{Name, Span, TensorData};
use crate::judge::{Cx, with_stack};

/// A marker that a fault was found and has been reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ReportedFault;

type RelayResult<T> = Result<T, ReportedFault>;

/// Reads a program in either notation, which its tokens determine. Returns the tree, as far as there is one, and all
/// faults and warnings in the order of the text.
pub fn read(cx: &mut Cx, text: &str) -> (Program, Vec<RelayFault>) {
    let (text, section) = metadata::split(text);
    let words = lex(text);
    let notation = notation(text, &words);
    let (mut constants, mut faults) = (Vec::new(), Vec::new());
    match section.map(metadata::constants) {
        Some(Ok(found)) => constants = found,
        Some(Err(error)) => {
            let message = format!("the section of constants cannot be read: {error}");
            faults.push(RelayFault::syntax(metadata::place(text), message));
        }
        None => {}
    }
    let mut reader = RelayReader { cx, text, words, at: 0, notation, depth: 0, constants, faults };
    let program = reader.program();
    reader.faults.sort_by_key(|fault| fault.span.start);
    (program, reader.faults)
}

/// The later notation has a first line with the version, and brackets around its tensor types and type parameters.
fn notation(text: &str, words: &[Lexeme]) -> RelayNotation {
    let is = |word: &Lexeme, what: &str| slice(text, word.span) == what;
    let printed = words.windows(2).any(|pair| match pair {
        [a, b] => a.token == Token::Hash || (b.token == Token::OpenBracket && is(a, "Tensor")),
        _ => false,
    });
    let bracketed = words.windows(3).any(|three| match three {
        [def, name, bracket] => is(def, "def") && name.token == Token::Global && bracket.token == Token::OpenBracket,
        _ => false,
    });
    if printed || bracketed { RelayNotation::Printed } else { RelayNotation::Introduced }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

struct RelayReader<'t, 'c> {
    cx: &'c mut Cx,
    text: &'t str,
    words: Vec<Lexeme>,
    at: usize,
    notation: RelayNotation,
    depth: usize,
    /// The constants of the section after the program.
    constants: Vec<Result<TensorData, String>>,
    faults: Vec<RelayFault>,
}

impl<'t> RelayReader<'t, '_> {
    fn nth(&self, n: usize) -> Lexeme {
        let end = Lexeme { token: Token::End, span: Span::NONE };
        self.words.get(self.at + n).or(self.words.last()).copied().unwrap_or(end)
    }

    fn token(&self) -> Token {
        self.nth(0).token
    }

    fn here(&self) -> Span {
        self.nth(0).span
    }

    fn word(&self) -> &'t str {
        slice(self.text, self.here())
    }

    fn next(&mut self) -> Lexeme {
        let lexeme = self.nth(0);
        if lexeme.token != Token::End {
            self.at += 1;
        }
        lexeme
    }

    /// From the start of a span to the end of the last token that was read.
    fn since(&self, start: Span) -> Span {
        let end = self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(start.end, |last| last.span.end);
        Span::new(start.start, end.max(start.end))
    }

    /// Skips a token if it is the expected one.
    fn pass(&mut self, found: bool) -> bool {
        if found {
            self.next();
        }
        found
    }

    fn eat(&mut self, token: Token) -> bool {
        self.pass(self.token() == token)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token() == Token::Word && self.word() == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.pass(self.is_word(word))
    }

    fn is_infix(&self, symbol: &str) -> bool {
        self.token() == Token::Infix && self.word() == symbol
    }

    fn eat_infix(&mut self, symbol: &str) -> bool {
        self.pass(self.is_infix(symbol))
    }

    fn expect(&mut self, token: Token, what: &str) -> RelayResult<Lexeme> {
        if self.token() == token { Ok(self.next()) } else { self.expected(what) }
    }

    fn expected<T>(&mut self, what: &str) -> RelayResult<T> {
        let found =
            if self.token() == Token::End { "the text ends".into() } else { format!("there is `{}`", self.word()) };
        self.fault(RelayFault::syntax(self.here(), format!("{what} is expected, {found}")))
    }

    fn fault<T>(&mut self, fault: RelayFault) -> RelayResult<T> {
        self.faults.push(fault);
        Err(ReportedFault)
    }

    /// Reports a violated condition, and continues to read.
    fn demand(&mut self, demanded: Result<(), RelayFault>) {
        self.faults.extend(demanded.err());
    }

    /// Reads one level deeper.
    fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> RelayResult<T>) -> RelayResult<T> {
        if self.depth >= MAX_NESTING {
            return self.fault(RelayFault::syntax(self.here(), format!("it nests deeper than {MAX_NESTING} levels")));
        }
        self.depth += 1;
        let read = with_stack(|| body(self));
        self.depth -= 1;
        read
    }

    /// Items separated by commas, up to a closing token. A trailing comma is allowed.
    fn list<T>(&mut self, close: Token, what: &str, item: impl Fn(&mut Self) -> RelayResult<T>) -> RelayResult<Vec<T>> {
        let mut items = Vec::new();
        while self.token() != close {
            items.push(item(self)?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(close, what)?;
        Ok(items)
    }

    /// Skips the rest after a fault, up to one of these tokens on this level of braces, or to the end of the level.
    fn skip_to(&mut self, stop: impl Fn(&Self) -> bool) {
        let mut open = 0_usize;
        while self.token() != Token::End {
            let (opens, closes) = (self.token() == Token::OpenBrace, self.token() == Token::CloseBrace);
            if open == 0 && (closes || stop(self)) {
                return;
            }
            open = open + usize::from(opens) - usize::from(closes);
            self.next();
        }
    }

    /// The name after a sigil.
    fn name_of(&self, lexeme: Lexeme) -> Name {
        slice(self.text, lexeme.span).trim_start_matches(['%', '@']).into()
    }
}
