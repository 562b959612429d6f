//! RON, the notation of suite files. The reader keeps positions and accepts any allowed nesting depth.
//!
//! `Some` and the inner parentheses of a newtype are optional, as with the extensions `implicit_some` and
//! `unwrap_variant_newtypes`: `Tensor(ndim: 2)` stands for `Tensor((ndim: Some(2)))`. Keys of maps are texts.

use super::DataError;
use super::node::{BorrowedText, Document, Node, NodeData};
use super::scan::{Scanned, Scanner};
use crate::judge::with_stack;

/// Reads a text whose brackets nest at most `limit` deep.
///
/// # Errors
///
/// The text is not RON, a key occurs twice, or the nesting is too deep.
pub fn read(text: &str, limit: usize) -> Result<Document<'_>, DataError> {
    let mut scanner = Scanner::new(text, limit);
    spaces(&mut scanner)?;
    extensions(&mut scanner)?;
    let root = value(&mut scanner).map(Document::new)?;
    spaces(&mut scanner)?;
    if scanner.rest().is_empty() { Ok(root) } else { Err(scanner.expected("the end")) }
}

/// Skips `#![enable(..)]`: these extensions are always on.
fn extensions(s: &mut Scanner<'_>) -> Scanned<()> {
    while s.eat("#![enable(") {
        s.take_while(|c| is_word(c) || matches!(c, ',' | ' '));
        s.expect(")]")?;
        spaces(s)?;
    }
    Ok(())
}

/// Skips white space and comments.
fn spaces(s: &mut Scanner<'_>) -> Scanned<()> {
    loop {
        s.take_while(char::is_whitespace);
        if s.eat("//") {
            s.take_while(|c| c != '\n');
        } else if s.eat("/*") {
            block_comment(s)?;
        } else {
            return Ok(());
        }
    }
}

/// Skips the rest of a comment. Comments nest.
fn block_comment(s: &mut Scanner<'_>) -> Scanned<()> {
    let mut open = 1;
    while open > 0 {
        s.take_while(|c| c != '*' && c != '/');
        if s.eat("/*") {
            open += 1;
        } else if s.eat("*/") {
            open -= 1;
        } else if !(s.eat("*") || s.eat("/")) {
            return Err(s.expected("the end of a comment"));
        }
    }
    Ok(())
}

/// Reads a value and the space before it.
fn value<'t>(s: &mut Scanner<'t>) -> Scanned<Node<'t>> {
    spaces(s)?;
    let start = s.at;
    let data = match s.char() {
        Some('{') => NodeData::Map(s.nested(map)?),
        Some('[') => NodeData::List(s.nested(|s| items(s, "[", "]", value))?),
        Some('(') => s.nested(|s| parenthesized(s, None))?,
        Some('"') => NodeData::Text(text(s)?),
        Some('r') if raw_text_ahead(s) => NodeData::Text(raw_text(s)?),
        Some('\'') => NodeData::Text(character(s)?),
        Some(c) if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') => NodeData::Number(number(s)?),
        Some(c) if is_word(c) => named(s)?,
        Some(_) | None => return Err(s.expected("a value")),
    };
    Ok(s.node(start, data))
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Reads a word and the parentheses after it.
fn named<'t>(s: &mut Scanner<'t>) -> Scanned<NodeData<'t>> {
    let is_raw = s.rest().starts_with("r#");
    let name = word(s);
    match name {
        // After `r#` the word is an ordinary name.
        _ if is_raw => {}
        "true" => return Ok(NodeData::Bool(true)),
        "false" => return Ok(NodeData::Bool(false)),
        "None" => return Ok(NodeData::Null),
        "inf" | "NaN" => return Ok(NodeData::Number(name.into())),
        _ => {}
    }
    let end = s.at;
    spaces(s)?;
    if s.peek() == Some(b'(') {
        return s.nested(|s| parenthesized(s, Some(name)));
    }
    s.at = end;
    Ok(NodeData::Variant(name.into(), None))
}

/// Whether a word has a meaning of its own in the notation.
fn is_reserved(word: &str) -> bool {
    matches!(word, "true" | "false" | "None" | "inf" | "NaN")
}

/// Reads a word. A preceding `r#` makes any word an ordinary name.
fn word<'t>(s: &mut Scanner<'t>) -> &'t str {
    s.eat("r#");
    s.take_while(is_word)
}

/// Reads `(a: 1, b: 2)`, `(1, 2)` or `(1)`. After the name of an alternative, a single item is its content.
fn parenthesized<'t>(s: &mut Scanner<'t>, name: Option<&'t str>) -> Scanned<NodeData<'t>> {
    let start = s.at;
    let content = if field_ahead(s)? {
        let entries = items(s, "(", ")", field)?;
        s.distinct(&entries)?;
        NodeData::Struct(entries)
    } else {
        let mut found = items(s, "(", ")", value)?;
        match (name, found.pop()) {
            (_, None) => NodeData::Struct(Vec::new()),
            (Some(name), Some(only)) if found.is_empty() => {
                return Ok(NodeData::Variant(name.into(), Some(Box::new(only))));
            }
            (_, Some(last)) => {
                found.push(last);
                NodeData::Tuple(found)
            }
        }
    };
    match name {
        Some(name) => Ok(NodeData::Variant(name.into(), Some(Box::new(s.node(start, content))))),
        None => Ok(content),
    }
}

/// Whether the next parenthesis is followed by a named field.
fn field_ahead(s: &mut Scanner<'_>) -> Scanned<bool> {
    let start = s.at;
    s.expect("(")?;
    spaces(s)?;
    let named = !word(s).is_empty() && {
        spaces(s)?;
        s.peek() == Some(b':')
    };
    s.at = start;
    Ok(named)
}

fn field<'t>(s: &mut Scanner<'t>) -> Scanned<(BorrowedText<'t>, Node<'t>)> {
    spaces(s)?;
    let name = word(s);
    if name.is_empty() {
        return Err(s.expected("the name of a field"));
    }
    spaces(s)?;
    s.expect(":")?;
    Ok((name.into(), value(s)?))
}

fn map<'t>(s: &mut Scanner<'t>) -> Scanned<Vec<(BorrowedText<'t>, Node<'t>)>> {
    let entries = items(s, "{", "}", |s| {
        let key = value(s)?;
        spaces(s)?;
        s.expect(":")?;
        if let NodeData::Text(text) | NodeData::Variant(text, None) = key.data {
            Ok((text, value(s)?))
        } else {
            Err(DataError::at(key.span, "a key is a text"))
        }
    })?;
    s.distinct(&entries)?;
    Ok(entries)
}

/// Reads items between brackets, separated by commas. A comma after the last item is optional.
fn items<'t, T>(
    s: &mut Scanner<'t>,
    open: &str,
    close: &str,
    item: impl Fn(&mut Scanner<'t>) -> Scanned<T>,
) -> Scanned<Vec<T>> {
    s.expect(open)?;
    let mut found = Vec::new();
    loop {
        spaces(s)?;
        if s.eat(close) {
            return Ok(found);
        }
        found.push(item(s)?);
        spaces(s)?;
        if !s.eat(",") && s.peek().map(char::from) != close.chars().next() {
            return Err(s.expected(&format!("`,` or `{close}`")));
        }
    }
}

fn text<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    s.expect("\"")?;
    s.quoted(|_| true, escape)
}

fn escape(s: &mut Scanner<'_>) -> Scanned<char> {
    let Some(c) = s.char() else { return Err(s.expected("an escape")) };
    s.at += c.len_utf8();
    match c {
        '"' | '\\' | '\'' => Ok(c),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        't' => Ok('\t'),
        '0' => Ok('\0'),
        'x' => {
            let code = s.hex(2)?;
            s.character(code)
        }
        'u' => {
            s.expect("{")?;
            let digits = s.take_while(|c| c.is_ascii_hexdigit()).len();
            s.at -= digits;
            let code = s.hex(digits)?;
            s.expect("}")?;
            s.character(code)
        }
        _ => Err(s.error(format!("`\\{c}` means nothing"))),
    }
}

/// Whether `r"` or `r#..#"` comes next.
fn raw_text_ahead(s: &Scanner<'_>) -> bool {
    s.rest().strip_prefix('r').is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
}

fn raw_text<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    s.expect("r")?;
    let marks = s.take_while(|c| c == '#');
    s.expect("\"")?;
    let closing = format!("\"{marks}");
    let rest = s.rest();
    match rest.find(&closing) {
        Some(length) => {
            s.at += length + closing.len();
            Ok(BorrowedText::Borrowed(&rest[..length]))
        }
        None => Err(s.error(format!("a text is not closed by `{closing}`"))),
    }
}

fn character<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    s.expect("'")?;
    let c = if s.eat("\\") {
        escape(s)?
    } else {
        let Some(c) = s.char() else { return Err(s.expected("a character")) };
        s.at += c.len_utf8();
        c
    };
    s.expect("'")?;
    Ok(BorrowedText::Owned(c.to_string()))
}

/// Reads a number in Rust's syntax and returns it in decimal, without `+` and `_`.
fn number<'t>(s: &mut Scanner<'t>) -> Scanned<BorrowedText<'t>> {
    let negative = s.eat("-");
    let start = s.at;
    if !negative {
        s.eat("+");
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if s.eat(prefix) {
            let digits = s.take_while(|c| c.is_digit(radix) || c == '_').replace('_', "");
            let Ok(value) = i128::from_str_radix(&digits, radix) else { return Err(s.expected("a number")) };
            return Ok(BorrowedText::Owned(if negative { -value } else { value }.to_string()));
        }
    }
    if s.eat("inf") || s.eat("NaN") {
        return Ok(BorrowedText::Owned(format!("{}{}", if negative { "-" } else { "" }, &s.text[s.at - 3..s.at])));
    }
    let digits = |s: &mut Scanner<'t>| s.take_while(|c| c.is_ascii_digit() || c == '_').len();
    let mut count = digits(s);
    if s.eat(".") {
        count += digits(s);
    }
    if s.eat("e") || s.eat("E") {
        let _ = s.eat("+") || s.eat("-");
        count = count.min(digits(s));
    }
    if count == 0 {
        return Err(s.expected("a number"));
    }
    let written = &s.text[if negative { start - 1 } else { start }..s.at];
    if written.starts_with('+') || written.contains('_') {
        return Ok(BorrowedText::Owned(written.trim_start_matches('+').replace('_', "")));
    }
    Ok(BorrowedText::Borrowed(written))
}

/// Writes one item or entry per line; tuples stay in one line.
pub fn write_pretty(node: &Node<'_>) -> String {
    let mut out = String::new();
    write_node(node, 0, &mut out);
    out
}

fn write_node(node: &Node<'_>, depth: usize, out: &mut String) {
    with_stack(|| match &node.data {
        NodeData::Null => out.push_str("None"),
        NodeData::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        NodeData::Number(number) => out.push_str(number),
        NodeData::Text(text) => quote(text, out),
        NodeData::List(items) => lines("[", "]", items, depth, out, |item, out| write_node(item, depth + 1, out)),
        NodeData::Tuple(items) => {
            out.push('(');
            write_items(items, depth, out);
            out.push(')');
        }
        NodeData::Map(entries) => lines("{", "}", entries, depth, out, |(key, value), out| {
            quote(key, out);
            out.push_str(": ");
            write_node(value, depth + 1, out);
        }),
        NodeData::Struct(fields) => lines("(", ")", fields, depth, out, |(name, value), out| {
            out.push_str(name);
            out.push_str(": ");
            write_node(value, depth + 1, out);
        }),
        NodeData::Variant(name, None) => {
            out.push_str(if is_reserved(name) { "r#" } else { "" });
            out.push_str(name);
        }
        NodeData::Variant(name, Some(content)) => {
            out.push_str(name);
            if matches!(&content.data, NodeData::Tuple(_) | NodeData::Struct(_)) {
                write_node(content, depth, out)
            } else {
                out.push('(');
                write_node(content, depth, out);
                out.push(')');
            }
        }
    });
}

fn write_items(items: &[Node<'_>], depth: usize, out: &mut String) {
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_node(item, depth, out);
    }
}

fn lines<T>(open: &str, close: &str, items: &[T], depth: usize, out: &mut String, write: impl Fn(&T, &mut String)) {
    out.push_str(open);
    for item in items {
        out.push('\n');
        indent(depth + 1, out);
        write(item, out);
        out.push(',');
    }
    if !items.is_empty() {
        out.push('\n');
        indent(depth, out);
    }
    out.push_str(close);
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    out.extend(text.chars().flat_map(char::escape_debug));
    out.push('"');
}
