//! Safe display of untrusted text. Names, messages and answers may contain characters that move a cursor, colour a
//! terminal, reverse the writing direction, or are not characters at all.

use std::borrow::Cow;

/// The text with hidden characters written as `\u{..}`. Line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// The same for a JSON text. There such characters occur only inside strings, so JSON escapes can represent them.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let mut units = [0; 2];
            shown.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// At most `most` characters of a text, in one line.
pub fn one_line(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        shown.push_str(" ..");
    }
    visible(&shown).into_owned()
}

/// Whether a character is hidden: controls except tab and line feed, direction marks, zero-width characters, Unicode
/// line separators, tags, and noncharacters.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{ad}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control() || (c as u32) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out() {
        assert_eq!(visible("a\u{1b}[31mb\n\tc"), "a\\u{1b}[31mb\n\tc");
        assert_eq!(visible("\r\0\u{7f}\u{85}\u{202e}\u{feff}"), "\\u{d}\\u{0}\\u{7f}\\u{85}\\u{202e}\\u{feff}");
        assert!(matches!(visible("grün, 漢字, 🙂 \u{301}"), Cow::Borrowed(_)));
        assert_eq!(visible("\u{ffff}\u{1ffff}"), "\\u{ffff}\\u{1ffff}");
    }

    #[test]
    fn json_stays_the_same_data() {
        let text = "{\"a\u{7f}\": \"\u{202e}\u{e0001}\u{10ffff}\"}";
        let shown = visible_json(text);
        assert!(!shown.contains(is_hidden), "{shown}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(text));
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line("a\r\nb\u{7}", 10), "a  b\\u{7}");
        assert_eq!(one_line("abcdef", 3), "abc ..");
    }
}
