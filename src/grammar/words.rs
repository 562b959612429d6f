//! Names of variables in messages: as in the source, without the internal numbers.

use std::fmt::Write as _;

/// Removes the numbers of variables from a message. The first variable of a name is printed as the name, the next as
/// `n'`, then `n''`.
///
/// ```
/// use relax_spec::grammar::in_words;
///
/// assert_eq!(
///     in_words("`x#3` is Tensor((n), float32), not Tensor((n#1), float32)"),
///     "`x` is Tensor((n), float32), not Tensor((n'), float32)"
/// );
/// assert_eq!(in_words("a # and a b#c"), "a # and a b#c");
/// ```
pub fn in_words(text: impl Into<String>) -> String {
    let text = text.into();
    if !text.contains('#') {
        return text;
    }
    let words: Vec<Word> = words(&text);
    let mut seen: Vec<(&str, Vec<&str>)> = Vec::new();
    let numbered = |name: &str| words.iter().any(|word| word.name == name && !word.number.is_empty());
    // A variable without a number always keeps its name.
    for word in words.iter().filter(|word| word.number.is_empty() && numbered(word.name)) {
        if !seen.iter().any(|(name, _)| *name == word.name) {
            seen.push((word.name, vec![""]));
        }
    }
    let mut out = String::with_capacity(text.len());
    for word in &words {
        out.push_str(word.before);
        out.push_str(word.name);
        if numbered(word.name) {
            let at = place(&mut seen, word);
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", "'".repeat(at));
        }
    }
    out.push_str(words.last().map_or(&*text, |word| word.after));
    out
}

/// A name with an optional number, and the text between it and the previous name.
struct Word<'t> {
    before: &'t str,
    name: &'t str,
    number: &'t str,
    after: &'t str,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find(of_name) {
        let (before, from) = rest.split_at(start);
        let (name, after) = from.split_at(from.find(|c| !of_name(c)).unwrap_or(from.len()));
        let digits = after.strip_prefix('#').map_or("", |after| {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let continues = after.get(end..).is_some_and(|next| next.starts_with(of_name));
            if continues { "" } else { after.get(..end).unwrap_or_default() }
        });
        rest = if digits.is_empty() { after } else { after.get(digits.len() + 1..).unwrap_or_default() };
        found.push(Word { before, name, number: digits, after: rest });
    }
    found
}

/// The index of this word's variable among those with the same name.
fn place<'t>(seen: &mut Vec<(&'t str, Vec<&'t str>)>, word: &Word<'t>) -> usize {
    let at = seen.iter().position(|(name, _)| *name == word.name).unwrap_or_else(|| {
        seen.push((word.name, Vec::new()));
        seen.len() - 1
    });
    let Some((_, numbers)) = seen.get_mut(at) else { return 0 };
    numbers.iter().position(|number| *number == word.number).unwrap_or_else(|| {
        numbers.push(word.number);
        numbers.len() - 1
    })
}
