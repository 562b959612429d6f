//! Separates metadata from its text. Metadata may be nearly the whole file, and Python's parser would copy it to remove
//! the backslashes.

/// The beginning that TVM writes.
const BEGIN: &str = "metadata = tvm.ir.load_json(\"\"\"";
const END: &[u8] = b"\"\"\"";

/// Removes the metadata from a text, and returns the value of its literal. An empty literal with as many lines replaces
/// it, so everything else keeps its line and column.
///
/// Nothing is removed if the literal differs from the form that TVM writes.
pub fn take_metadata(text: &mut String) -> Option<String> {
    let start = begin(text)?;
    let (length, lines) = extent(text.as_bytes().get(start..)?)?;
    let tail = text.split_off(start + length);
    let mut rest = String::with_capacity(start + lines + tail.len());
    rest.push_str(text.get(..start)?);
    rest.extend(std::iter::repeat_n('\n', lines));
    rest.push_str(&tail);
    unescaped(std::mem::replace(text, rest), start)
}

/// The start of the literal's content. It is at the beginning of a line, and no earlier string can contain it.
fn begin(text: &str) -> Option<usize> {
    let at = text.find(BEGIN)?;
    let before = text.get(..at)?;
    let alone = before.is_empty() || before.ends_with('\n');
    (alone && !before.contains(['"', '\'', '\\'])).then_some(at + BEGIN.len())
}

/// The length of the content, and the number of newlines in it.
fn extent(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut lines) = (0, 0);
    loop {
        match bytes.get(at)? {
            b'"' if bytes.get(at..)?.starts_with(END) => return Some((at, lines)),
            b'\\' if matches!(bytes.get(at + 1)?, b'"' | b'\\') => at += 1,
            b'\\' | b'\r' | b'\0' => return None,
            b'\n' => lines += 1,
            _ => {}
        }
        at += 1;
    }
}

/// The text from there on, without escaping backslashes. It is not moved in memory.
fn unescaped(text: String, start: usize) -> Option<String> {
    let mut bytes = text.into_bytes();
    let (mut to, mut from) = (0, start);
    while let Some(byte) = bytes.get(from) {
        if *byte == b'\\' {
            from += 1;
        }
        let run = bytes.get(from + 1..)?.iter().position(|byte| *byte == b'\\').map_or(bytes.len(), |n| from + 1 + n);
        bytes.copy_within(from..run, to);
        (to, from) = (to + run - from, run);
    }
    bytes.truncate(to);
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tvmscript::{Which, parse_file_with, parse_module};

    fn taken(literal: &str) -> (String, Option<String>) {
        let mut text = format!("# a comment\nmetadata = tvm.ir.load_json(\"\"\"{literal}\"\"\")\nclass M:\n    pass\n");
        let metadata = take_metadata(&mut text);
        (text, metadata)
    }

    #[test]
    fn what_is_taken() {
        let (text, metadata) = taken("{\n  \\\"a\\\": \"b\\\\\\\\n\",\n}");
        assert_eq!(metadata.as_deref(), Some("{\n  \"a\": \"b\\\\n\",\n}"));
        assert_eq!(text, "# a comment\nmetadata = tvm.ir.load_json(\"\"\"\n\n\"\"\")\nclass M:\n    pass\n");
        for literal in ["", "\\\\", "\\\"", "a", "é\\\"é"] {
            let plain = literal.replace("\\\"", "\"").replace("\\\\", "\\");
            assert_eq!(taken(literal).1, Some(plain), "{literal}");
        }
    }

    /// The models imported from ONNX have metadata.
    #[test]
    fn the_same_module_either_way() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/onnx/sample");
        let mut found = 0;
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "py") {
                continue;
            }
            let whole = std::fs::read_to_string(&path).unwrap();
            let mut text = whole.clone();
            let Some(metadata) = take_metadata(&mut text) else { continue };
            found += 1;
            assert!(text.len() + metadata.len() <= whole.len() + whole.matches('\n').count(), "{path:?}");
            let apart = parse_file_with(&text, Some(&metadata), Which::Only).unwrap();
            let module = parse_module(&whole).unwrap();
            assert!(apart.modules[0].1 == module, "{path:?}");
            // Errors after the metadata keep their position.
            let wrong =
                |text: &str| parse_file_with(&(text.to_string() + "    x = R.add(\n"), Some(&metadata), Which::Only);
            assert_eq!(wrong(&text).unwrap_err()[0].to_string(), wrong(&whole).unwrap_err()[0].to_string());
        }
        assert!(found > 3, "{found}");
    }

    #[test]
    fn what_is_left_alone() {
        for literal in ["\\n", "a\\", "\r\n", "\\x41", "\0"] {
            let (text, metadata) = taken(literal);
            assert_eq!(metadata, None, "{literal}");
            assert!(text.contains(literal), "{literal}");
        }
        for text in [
            "x = 'a'\nmetadata = tvm.ir.load_json(\"\"\"{}\"\"\")\n",
            "'''\nmetadata = tvm.ir.load_json(\"\"\"{}\"\"\")\n'''\n",
            " metadata = tvm.ir.load_json(\"\"\"{}\"\"\")\n",
            "metadata = tvm.ir.load_json(\"\"\"{}\n",
            "metadata = tvm.ir.load_json('{}')\n",
            "",
        ] {
            let mut kept = text.to_string();
            assert_eq!((take_metadata(&mut kept), &*kept), (None, text));
        }
    }
}
