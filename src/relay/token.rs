//! The words of Relay. The lexer is made by `logos`; what is no word is told apart from the words around it, so that
//! reading goes on behind it.

use logos::Logos;

use crate::grammar::Span;

/// A word.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Token {
    #[regex(r"%[A-Za-z0-9_]+")]
    Local,
    #[regex(r"@[A-Za-z_][A-Za-z0-9_]*")]
    Global,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")]
    Word,
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?([fiu](8|16|32|64)?)?")]
    Number,
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    Text,
    #[token("#[")]
    Hash,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("?")]
    Question,
    #[token("=")]
    Assign,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token("+")]
    #[token("-")]
    #[token("*")]
    #[token("/")]
    #[token("<")]
    #[token(">")]
    #[token("<=")]
    #[token(">=")]
    #[token("==")]
    #[token("!=")]
    Infix,
    /// A character that begins no word.
    Unknown,
    /// Behind the last word.
    End,
}

/// A word with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// All words of a text, and an end.
pub(super) fn lex(text: &str) -> Vec<Lexeme> {
    let place = |range: std::ops::Range<usize>| {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(offset(range.start), offset(range.end))
    };
    let mut words: Vec<Lexeme> = Token::lexer(text)
        .spanned()
        .map(|(token, range)| Lexeme { token: token.unwrap_or(Token::Unknown), span: place(range) })
        .collect();
    words.push(Lexeme { token: Token::End, span: place(text.len()..text.len()) });
    words
}
