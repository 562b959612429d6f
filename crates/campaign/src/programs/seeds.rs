//! Texts of the golden suite, unchanged and with a few tokens changed: spellings and corner cases that a generator does
//! not produce, and texts near them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::generate::Tape;
use crate::questions::text_of;
use relax_spec::grammar::{StructInfo, Type};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::suite::Case;
use relax_spec::syntax::tvmscript::Dialect;

/// In a longer text, a change of one token has little effect.
const LONGEST: usize = 8_000;
/// One of this many texts is unchanged.
const WHOLE: usize = 2;
/// The maximum number of changes of a text.
const CHANGES: usize = 2;
/// The number of choices for a text.
const CHOICES: usize = 24;
/// Distinguishes the tape of texts from that of programs.
const OF_SEEDS: u64 = 0x7365_6564;

/// Texts of programs.
#[derive(Clone, Debug)]
pub struct Seeds {
    texts: Vec<String>,
    types: Vec<Type>,
    infos: Vec<StructInfo>,
}

impl Seeds {
    /// The texts in the questions of a suite, and its trees as text, each once.
    pub fn of(suite: &[Case]) -> Seeds {
        let of_program = |program: &ProgramInput| text_of(program, Dialect::default());
        let texts = suite.iter().flat_map(|case| match &case.ask {
            Ask::Parse(text) => vec![text.clone()],
            ask => ask.programs().into_iter().map(of_program).collect(),
        });
        let texts: BTreeSet<String> = texts.filter(|text| text.len() <= LONGEST).collect();
        let mut seeds = Seeds { texts: by_news(texts.into_iter().collect()), types: Vec::new(), infos: Vec::new() };
        suite.iter().for_each(|case| seeds.terms_of(&case.ask));
        seeds
    }

    fn terms_of(&mut self, ask: &Ask) {
        if let Ask::Subtype(t1, t2) | Ask::Glb(t1, t2) | Ask::Lub(t1, t2) = ask {
            self.types.extend([t1.clone(), t2.clone()]);
        }
        if let Ask::Compatibility(s1, s2)
        | Ask::Unify(s1, s2)
        | Ask::MoreSpecific(s1, s2)
        | Ask::PossiblyMoreSpecific(s1, s2)
        | Ask::ShapeVarMapping(s1, s2) = ask
        {
            self.infos.extend([s1.clone(), s2.clone()]);
        }
    }

    /// A question about two types or pieces of structural information from the suite, near each other or far apart.
    pub fn terms(&self, seed: u64, number: u64) -> Option<Ask> {
        let mut tape = Tape::numbered(seed ^ OF_SEEDS ^ 1, number, CHOICES);
        let kind = tape.choose(7);
        let (t, s) = (two(&self.types, &mut tape), two(&self.infos, &mut tape));
        Some(match kind {
            0 => t.map(|(a, b)| Ask::Subtype(a, b))?,
            1 => t.map(|(a, b)| Ask::Glb(a, b))?,
            2 => t.map(|(a, b)| Ask::Lub(a, b))?,
            3 => s.map(|(a, b)| Ask::Compatibility(a, b))?,
            4 => s.map(|(a, b)| Ask::Unify(a, b))?,
            5 => s.map(|(a, b)| Ask::MoreSpecific(a, b))?,
            _ => s.map(|(a, b)| Ask::PossiblyMoreSpecific(a, b))?,
        })
    }

    /// The text with a number.
    pub fn text(&self, seed: u64, number: u64) -> Option<String> {
        let mut tape = Tape::numbered(seed ^ OF_SEEDS, number, CHOICES);
        // In order, first the texts with the most that no other text has.
        let at = usize::try_from(number % u64::try_from(self.texts.len().max(1)).ok()?).ok()?;
        let mut text = self.texts.get(at)?.clone();
        if tape.choose(WHOLE) != 0 {
            for _ in 0..=tape.choose(CHANGES) {
                text = self.changed(&text, &mut tape);
            }
        }
        Some(text)
    }

    /// One token or line is removed, doubled, exchanged with the next one or replaced; or an expression is replaced by
    /// another one; or a keyword before a value is removed; or the functions are moved out of their class.
    fn changed(&self, text: &str, tape: &mut Tape) -> String {
        match tape.choose(12) {
            8 => with_keyword_left_out(text, tape),
            9 => without_class(text),
            10 | 11 => with_other_expression(text, tape),
            _ => self.with_other_token(text, tape),
        }
        .unwrap_or_else(|| text.to_string())
    }

    fn with_other_token(&self, text: &str, tape: &mut Tape) -> Option<String> {
        let mut parts = if tape.one_in(4) { lines(text) } else { tokens(text) };
        let is_number = |part: &str| part.parse::<i64>().is_ok();
        // Numbers are rare, and each may change.
        let numbers = tape.one_in(3) && parts.iter().any(|part| is_number(part));
        let is_wanted = |part: &str| if numbers { is_number(part) } else { !part.trim().is_empty() };
        let told: Vec<usize> = (0..parts.len()).filter(|at| is_wanted(parts[*at])).collect();
        let at = *tape.pick(&told)?;
        let part = *parts.get(at)?;
        let number = part.parse::<i64>().ok().map(|number| match tape.choose(4) {
            0 => number.wrapping_add(1).to_string(),
            1 => number.wrapping_sub(1).to_string(),
            2 => "0".to_string(),
            _ => format!("{number}.5"),
        });
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
        Some(parts.concat())
    }
}

/// Replaces an expression between brackets or commas by another one of the same line.
fn with_other_expression(text: &str, tape: &mut Tape) -> Option<String> {
    let expressions = expressions(text);
    let (start, end) = *tape.pick(&expressions)?;
    let line = |at: usize| text.get(..at).map(|before| before.matches('\n').count());
    let near: Vec<&(usize, usize)> =
        expressions.iter().filter(|other| other.0 != start && line(other.0) == line(start)).collect();
    let (from, to) = **tape.pick(&near)?;
    Some(format!("{}{}{}", text.get(..start)?, text.get(from..to)?, text.get(end..)?))
}

/// The places of operands: within brackets, between commas, and next to operators.
fn expressions(text: &str) -> Vec<(usize, usize)> {
    let (mut open, mut found) = (vec![0], Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => open.push(at + 1),
            ')' | ']' => found.extend(open.pop().map(|start| (start, at))),
            ',' | '=' | '+' | '*' | '<' | '\n' => {
                found.extend(open.last().map(|start| (*start, at)));
                if c == '\n' {
                    open.clear();
                }
                open.pop();
                open.push(at + 1);
            }
            _ => {}
        }
    }
    found.retain(|(start, end)| text.get(*start..*end).is_some_and(|part| !part.trim().is_empty()));
    found
}

/// `f(x, name=value)` as `f(x, value)`.
fn with_keyword_left_out(text: &str, tape: &mut Tape) -> Option<String> {
    let mut parts = tokens(text);
    let is_keyword = |window: &[&str]| match window {
        [before, name, "=", value] => {
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            is_name && matches!(*before, " " | "(" | ",") && !matches!(*value, " " | "=")
        }
        _ => false,
    };
    let found: Vec<usize> = parts.windows(4).enumerate().filter(|(_, w)| is_keyword(w)).map(|(at, _)| at).collect();
    let at = *tape.pick(&found)?;
    parts.drain(at + 1..at + 3);
    Some(parts.concat())
}

/// The functions of a class, without the class.
fn without_class(text: &str) -> Option<String> {
    let class = lines(text).iter().position(|line| line.starts_with("class "))?;
    let inside = lines(text).split_off(class + 1);
    let dedented: Option<Vec<&str>> = inside
        .iter()
        .map(|line| line.strip_prefix("    ").or(Some(*line).filter(|line| line.trim().is_empty())))
        .collect();
    dedented.map(|lines| lines.concat())
}

/// The texts in an order in which each adds as many new pairs of adjacent words as possible.
fn by_news(texts: Vec<String>) -> Vec<String> {
    let pairs_of = |text: &String| -> FxHashSet<u64> {
        let words: Vec<&str> = tokens(text).into_iter().filter(|word| !word.trim().is_empty()).collect();
        words.windows(2).map(hash_of).collect()
    };
    let mut queue: BinaryHeap<(usize, Reverse<usize>)> = BinaryHeap::new();
    let pairs: Vec<FxHashSet<u64>> = texts.iter().map(pairs_of).collect();
    queue.extend(pairs.iter().enumerate().map(|(at, pairs)| (pairs.len(), Reverse(at))));
    let (mut seen, mut order) = (FxHashSet::default(), Vec::new());
    while let Some((count, Reverse(at))) = queue.pop() {
        let Some(own) = pairs.get(at) else { continue };
        let news = own.iter().filter(|pair| !seen.contains(*pair)).count();
        // The count may be too large after other texts were added.
        if news < count {
            queue.push((news, Reverse(at)));
            continue;
        }
        seen.extend(own.iter().copied());
        order.push(at);
    }
    order.into_iter().filter_map(|at| texts.get(at).cloned()).collect()
}

fn hash_of(pair: &[&str]) -> u64 {
    let mut hasher = FxHasher::default();
    pair.hash(&mut hasher);
    hasher.finish()
}

/// A term, and one near it or any other.
fn two<T: Clone>(terms: &[T], tape: &mut Tape) -> Option<(T, T)> {
    let at = tape.choose(terms.len());
    let near = [at ^ 1, at, at.saturating_sub(2), at + 2, tape.choose(terms.len()), tape.choose(terms.len())];
    let other = near.get(tape.choose(near.len())).copied()?;
    let first = terms.get(at)?.clone();
    Some((first.clone(), terms.get(other).cloned().unwrap_or(first)))
}

/// Words, and the characters between them one by one.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // A number with a point is one token.
        let goes_on = |c: char| is_word(c) || c == '.' && first.is_ascii_digit();
        let end = if is_word(first) { rest.find(|c| !goes_on(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_comes_first() {
        let texts = ["a b c d", "a b c d e", "x y", "a b"].map(str::to_string).to_vec();
        let order: Vec<String> = by_news(texts);
        assert_eq!(order, ["a b c d e", "x y", "a b c d", "a b"]);
    }

    #[test]
    fn an_expression_stands_for_another_one() {
        let text = "a\nB[v] = A[v, f(2.5)]\n";
        let found: Vec<&str> = expressions(text).into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["a", "v", "B[v] ", "v", "2.5", " f(2.5)", " A[v, f(2.5)]"]);
        let mut tape = Tape::from_choices(vec![1, 3]);
        assert_eq!(with_other_expression(text, &mut tape).unwrap(), "a\nB[ f(2.5)] = A[v, f(2.5)]\n");
    }

    #[test]
    fn a_text_is_spelt_otherwise() {
        let text = "@I.ir_module\nclass Module:\n    @R.function\n    def f(x):\n        return R.sum(x, axis=1)\n";
        assert_eq!(without_class(text).unwrap(), "@R.function\ndef f(x):\n    return R.sum(x, axis=1)\n");
        let mut tape = Tape::from_choices(Vec::new());
        assert!(with_keyword_left_out(text, &mut tape).unwrap().contains("R.sum(x, 1)"));
        assert_eq!(with_keyword_left_out("x = 1", &mut tape), None);
    }
}
