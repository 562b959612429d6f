//! Texts of the golden suite, as they are and with a few tokens changed: the spellings and corners that no generator of programs
//! thinks of, and their neighbourhood.

use std::collections::BTreeSet;

use super::tape_of;
use crate::generate::Tape;
use crate::question::{Ask, Program};
use crate::suite::Case;
use crate::syntax::tvmscript::{Dialect, print_module};

/// A text longer than that tells little of what a change of one token does.
const LONGEST: usize = 8_000;
/// One in so many texts stays as it is.
const WHOLE: usize = 3;
/// The most changes of a text.
const CHANGES: usize = 2;
/// How many choices a text takes.
const CHOICES: usize = 24;
/// Tells the tape of texts from that of programs.
const OF_SEEDS: u64 = 0x7365_6564;

/// Texts of programs.
#[derive(Clone, Debug)]
pub struct Seeds {
    texts: Vec<String>,
}

impl Seeds {
    /// The texts in the questions of a suite, and its trees as text, each once.
    pub fn of(suite: &[Case]) -> Seeds {
        let of_program = |program: &Program| match program {
            Program::Script(text) => text.clone(),
            Program::Module(module) => print_module(module, Dialect::default()),
        };
        let texts = suite.iter().flat_map(|case| match &case.ask {
            Ask::Parse(text) => vec![text.clone()],
            ask => ask.programs().into_iter().map(of_program).collect(),
        });
        let texts: BTreeSet<String> = texts.filter(|text| text.len() <= LONGEST).collect();
        Seeds { texts: texts.into_iter().collect() }
    }

    /// The text with a number.
    pub fn text(&self, seed: u64, number: u64) -> Option<String> {
        let mut tape = tape_of(seed ^ OF_SEEDS, number, CHOICES);
        let mut text = tape.pick(&self.texts)?.clone();
        if tape.choose(WHOLE) != 0 {
            for _ in 0..=tape.choose(CHANGES) {
                text = self.changed(&text, &mut tape);
            }
        }
        Some(text)
    }

    /// One token or line is left out, doubled, exchanged with the next or for another one.
    fn changed(&self, text: &str, tape: &mut Tape) -> String {
        let mut parts = if tape.one_in(4) { lines(text) } else { tokens(text) };
        let told: Vec<usize> = (0..parts.len()).filter(|at| !parts[*at].trim().is_empty()).collect();
        let Some((at, part)) = tape.pick(&told).and_then(|at| Some((*at, *parts.get(*at)?))) else {
            return text.to_string();
        };
        let number =
            part.parse::<i64>().ok().map(|number| number.wrapping_add([1, -1, -number][tape.choose(3)]).to_string());
        let donor = tape.pick(&self.texts).cloned().unwrap_or_default();
        match (tape.choose(6), &number) {
            (0 | 1, Some(number)) => parts[at] = number,
            (0, None) => {
                parts.remove(at);
            }
            (1, None) => parts.insert(at, part),
            (2, _) if at + 1 < parts.len() => parts.swap(at, at + 1),
            (3, _) => parts[at] = tape.pick(&tokens(text)).copied().unwrap_or(part),
            (_, _) => parts[at] = tape.pick(&tokens(&donor)).copied().unwrap_or(part),
        }
        parts.concat()
    }
}

/// Words, and what stands between them character by character.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, behind) = rest.split_at(end);
        found.push(token);
        rest = behind;
    }
    found
}

/// Lines, each with its end.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
