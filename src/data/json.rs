//! JSON, read with positions and any allowed nesting depth, and written.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::node::{BorrowedText, Document, Node, NodeData};
use super::reader::Write;
use super::scan::{Scanned, Scanner};
use super::{DataError, to_document};
use crate::judge::with_stack;

/// Reads a text whose brackets nest at most `limit` deep.
///
/// # Errors
///
/// The text is not JSON, a key occurs twice, or the nesting is too deep.
pub fn read(text: &str, limit: usize) -> Result<Document<'_>, DataError> {
    let mut scanner = Scanner::new(text, limit);
    let root = value(&mut scanner).map(Document::new)?;
    spaces(&mut scanner);
    if scanner.rest().is_empty() { Ok(root) } else { Err(scanner.expected("the end")) }
}

fn spaces(s: &mut Scanner<'_>) {
    s.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
}

/// Reads a value and the space before it.
fn value<'t>(s: &mut Scanner<'t>) -> Scanned<Node<'t>> {
    spaces(s);
    let start = s.at;
    let data = match s.peek() {
        Some(b'{') => NodeData::Map(s.nested(object)?),
        Some(b'[') => NodeData::List(s.nested(array)?),
        Some(b'"') => NodeData::Text(text(s)?),
        Some(b'-' | b'0'..=b'9') => NodeData::Number(number(s)?),
        Some(b't') if s.eat("true") => NodeData::Bool(true),
        Some(b'f') if s.eat("false") => NodeData::Bool(false),
        Some(b'n') if s.eat("null") => NodeData::Null,
        Some(_) | None => return Err(s.expected("a value")),
    };
    Ok(s.node(start, data))
}

fn object<'t>(s: &mut Scanner<'t>) -> Scanned<Vec<(BorrowedText<'t>, Node<'t>)>> {
    let entries = items(s, "{", "}", |s| {
        spaces(s);
        let key = text(s)?;
        spaces(s);
        s.expect(":")?;
        Ok((key, value(s)?))
    })?;
    s.distinct(&entries)?;
    Ok(entries)
}

fn array<'t>(s: &mut Scanner<'t>) -> Scanned<Vec<Node<'t>>> {
    items(s, "[", "]", value)
}

fn items<'t, T>(
    s: &mut Scanner<'t>,
    open: &str,
    close: &str,
    item: impl Fn(&mut Scanner<'t>) -> Scanned<T>,
) -> Scanned<Vec<T>> {
    s.expect(open)?;
    spaces(s);
    let mut found = Vec::new();
    if s.eat(close) {
        return Ok(found);
    }
    loop {
        found.push(item(s)?);
        spaces(s);
        if s.eat(close) {
            return Ok(found);
        }
        s.expect(",")?;
    }
}

fn text<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    s.expect("\"")?;
    s.quoted(|c| c >= ' ', escape)
}

fn escape(s: &mut Scanner<'_>) -> Scanned<char> {
    let Some(c) = s.char() else { return Err(s.expected("an escape")) };
    s.at += c.len_utf8();
    match c {
        '"' | '\\' | '/' => Ok(c),
        'b' => Ok('\u{8}'),
        'f' => Ok('\u{c}'),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        't' => Ok('\t'),
        'u' => utf16(s),
        _ => Err(s.error(format!("`\\{c}` means nothing"))),
    }
}

/// Reads a code unit of UTF-16, or a pair of them.
fn utf16(s: &mut Scanner<'_>) -> Scanned<char> {
    let first = s.hex(4)?;
    if !(0xD800..0xDC00).contains(&first) {
        return s.character(first);
    }
    s.expect("\\u")?;
    let second = s.hex(4)?;
    match second.checked_sub(0xDC00) {
        Some(low) if low < 0x400 => s.character(0x10000 + ((first - 0xD800) << 10) + low),
        Some(_) | None => Err(s.error("a surrogate without its other half")),
    }
}

fn number<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    let start = s.at;
    s.eat("-");
    let whole = s.take_while(|c| c.is_ascii_digit());
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return Err(s.error("a number begins with a digit, and with 0 only if that is all"));
    }
    if s.eat(".") && s.take_while(|c| c.is_ascii_digit()).is_empty() {
        return Err(s.expected("a digit"));
    }
    if s.eat("e") || s.eat("E") {
        let _ = s.eat("+") || s.eat("-");
        if s.take_while(|c| c.is_ascii_digit()).is_empty() {
            return Err(s.expected("a digit"));
        }
    }
    Ok(BorrowedText::Borrowed(&s.text[start..s.at]))
}

/// Writes everything in one line.
pub fn write(node: &Node<'_>) -> String {
    // Writing to memory cannot fail if all keys are texts.
    serde_json::to_string(node).unwrap_or_default()
}

/// Writes one item or entry per line.
pub fn write_pretty(node: &Node<'_>) -> String {
    serde_json::to_string_pretty(node).unwrap_or_default()
}

/// Converts to `serde_json` values, which sort their keys; for code that builds JSON by hand.
pub fn value_of(node: &Node<'_>) -> Value {
    serde_json::to_value(node).unwrap_or_default()
}

/// Converts a value to `serde_json` values.
pub fn to_value<T: Write + ?Sized>(value: &T) -> Value {
    value_of(&to_document(value))
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        with_stack(|| match &self.data {
            NodeData::Null => s.serialize_unit(),
            NodeData::Bool(truth) => s.serialize_bool(*truth),
            NodeData::Number(number) => serialize_number(number, s),
            NodeData::Text(text) | NodeData::Variant(text, None) => s.serialize_str(text),
            NodeData::List(items) | NodeData::Tuple(items) => s.collect_seq(items),
            NodeData::Map(entries) | NodeData::Struct(entries) => {
                s.collect_map(entries.iter().map(|(key, value)| (key, value)))
            }
            NodeData::Variant(name, Some(content)) => s.collect_map([(name, content)]),
        })
    }
}

/// Writes a number as `serde_json` does. A zero with a sign is a floating-point number, since no integer has a signed
/// zero.
fn serialize_number<S: Serializer>(number: &str, s: S) -> Result<S::Ok, S::Error> {
    let is_negative = number.starts_with('-');
    if let Ok(number) = number.parse()
        && (number != 0 || !is_negative)
    {
        return s.serialize_i64(number);
    }
    if let Ok(number) = number.parse() {
        return s.serialize_u64(number);
    }
    match number.parse() {
        Ok(number) => s.serialize_f64(number),
        Err(_) => s.serialize_str(number),
    }
}
