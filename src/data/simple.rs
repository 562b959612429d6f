//! The data form of what is not of the grammar: truth values, numbers, texts, lists and maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{Data, Node, Text};
use super::reader::{Profile, Read, Reader, Reading, Write};
use super::record::word;
use crate::book::{Edition, Erratum, Proposal, Rule};
use crate::judge::{Compatibility, Proof};

impl Read for bool {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<bool> {
        if let Data::Bool(truth) = &node.data { Ok(*truth) } else { r.unexpected(node, "true or false") }
    }
}

impl Write for bool {
    fn write(&self) -> Node<'_> {
        Data::Bool(*self).into()
    }
}

macro_rules! numbers {
    ($($type:ty, $what:literal;)*) => {
        $(
            impl Read for $type {
                fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<$type> {
                    match node.as_number().map(str::parse) {
                        Some(Ok(number)) => Ok(number),
                        Some(Err(_)) | None => r.unexpected(node, $what),
                    }
                }
            }

            impl Write for $type {
                fn write(&self) -> Node<'_> {
                    Node::number(self)
                }
            }
        )*
    };
}

numbers! {
    i64, "an integer of 64 bits";
    u16, "a number from 0 to 65535";
    u32, "a number from 0 to 4294967295";
    u64, "a number from 0 on";
    usize, "a number from 0 on";
}

impl Read for f64 {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<f64> {
        match node.as_number().map(str::parse) {
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) | None => r.unexpected(node, "a number"),
        }
    }
}

impl Write for f64 {
    fn write(&self) -> Node<'_> {
        // With a point, so that it is read as no integer.
        Data::Number(format!("{self:?}").into()).into()
    }
}

impl Read for String {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<String> {
        node.as_text().map_or_else(|| r.unexpected(node, "a text"), |text| Ok(text.to_string()))
    }
}

impl Write for String {
    fn write(&self) -> Node<'_> {
        Node::text(self.as_str())
    }
}

impl Read for Arc<str> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Arc<str>> {
        node.as_text().map_or_else(|| r.unexpected(node, "a text"), |text| Ok(text.into()))
    }
}

impl Write for Arc<str> {
    fn write(&self) -> Node<'_> {
        Node::text(&**self)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Box<T>> {
        T::read(r, node).map(Box::new)
    }
}

impl<T: Write + ?Sized> Write for Box<T> {
    fn write(&self) -> Node<'_> {
        (**self).write()
    }
}

impl<T: Read> Read for Arc<T> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Arc<T>> {
        T::read(r, node).map(Arc::new)
    }
}

impl<T: Write> Write for Arc<T> {
    fn write(&self) -> Node<'_> {
        (**self).write()
    }
}

/// `Some` may be written where that helps, and must be where what it holds is itself an option.
impl<T: Read> Read for Option<T> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Option<T>> {
        if matches!(&node.data, Data::Null) {
            Ok(None)
        } else if let Data::Variant(name, Some(content)) = &node.data
            && name == "Some"
        {
            r.read(content).map(Some)
        } else {
            r.read(node).map(Some)
        }
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: Write> Write for Option<T> {
    fn write(&self) -> Node<'_> {
        self.as_ref().map_or(Data::Null.into(), T::write)
    }
}

fn read_list<T: Read, C: FromIterator<T>>(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<C> {
    match node.as_items() {
        Some(items) => items.iter().map(|item| r.read(item)).collect(),
        None => r.unexpected(node, "a list"),
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Vec<T>> {
        read_list(r, node)
    }
}

impl<T: Read> Read for Arc<[T]> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Arc<[T]>> {
        read_list(r, node)
    }
}

impl<T: Write> Write for [T] {
    fn write(&self) -> Node<'_> {
        Data::List(self.iter().map(T::write).collect()).into()
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self) -> Node<'_> {
        self.as_slice().write()
    }
}

impl<T: Write> Write for Arc<[T]> {
    fn write(&self) -> Node<'_> {
        (**self).write()
    }
}

impl<A: Read, B: Read> Read for (A, B) {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<(A, B)> {
        let [a, b] = r.tuple(node, "a pair", None)?;
        Ok((r.read(a)?, r.read(b)?))
    }
}

impl<A: Write, B: Write> Write for (A, B) {
    fn write(&self) -> Node<'_> {
        Data::Tuple(vec![self.0.write(), self.1.write()]).into()
    }
}

/// A type whose values are written as a text, and can be keys of a map.
pub trait Key: Sized {
    /// The value that such a text means; `None` if it means none.
    fn from_text(text: &str) -> Option<Self>;
    /// The text that means the value.
    fn to_text(&self) -> Text<'_>;
    /// What such a text is, in a message.
    const NOUN: &'static str;
}

impl Key for String {
    const NOUN: &'static str = "a text";

    fn from_text(text: &str) -> Option<String> {
        Some(text.to_string())
    }

    fn to_text(&self) -> Text<'_> {
        self.as_str().into()
    }
}

impl Key for Arc<str> {
    const NOUN: &'static str = "a text";

    fn from_text(text: &str) -> Option<Arc<str>> {
        Some(text.into())
    }

    fn to_text(&self) -> Text<'_> {
        (&**self).into()
    }
}

impl Key for Edition {
    const NOUN: &'static str = "an edition";

    fn from_text(text: &str) -> Option<Edition> {
        text.parse().ok()
    }

    fn to_text(&self) -> Text<'_> {
        self.name().into()
    }
}

impl Key for Proposal {
    const NOUN: &'static str = "a proposal";

    fn from_text(text: &str) -> Option<Proposal> {
        text.parse().ok()
    }

    fn to_text(&self) -> Text<'_> {
        self.name().into()
    }
}

impl Key for Rule {
    const NOUN: &'static str = "the id of a rule";

    fn from_text(text: &str) -> Option<Rule> {
        text.parse().ok()
    }

    fn to_text(&self) -> Text<'_> {
        self.id().into()
    }
}

impl Key for Erratum {
    const NOUN: &'static str = "the id of an erratum";

    fn from_text(text: &str) -> Option<Erratum> {
        text.parse().ok()
    }

    fn to_text(&self) -> Text<'_> {
        self.id().into()
    }
}

/// Reads what is written as a text.
pub fn read_key<K: Key>(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<K> {
    node.as_text().and_then(K::from_text).map_or_else(|| r.unexpected(node, K::NOUN), Ok)
}

impl Read for Edition {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Edition> {
        read_key(r, node)
    }
}

impl Write for Edition {
    fn write(&self) -> Node<'_> {
        Node::text(self.name())
    }
}

impl Read for Proposal {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Proposal> {
        read_key(r, node)
    }
}

impl Read for Rule {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Rule> {
        read_key(r, node)
    }
}

impl Write for Rule {
    fn write(&self) -> Node<'_> {
        Node::text(self.id())
    }
}

impl Read for Erratum {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<Erratum> {
        read_key(r, node)
    }
}

impl Write for Erratum {
    fn write(&self) -> Node<'_> {
        Node::text(self.id())
    }
}

impl<K: Key + Ord, V: Read> Read for BTreeMap<K, V> {
    fn read(r: &mut Reader<'_>, node: &Node<'_>) -> Reading<BTreeMap<K, V>> {
        let Some(entries) = node.as_entries() else { return r.unexpected(node, "a map") };
        let entry = |(key, value): &(Text<'_>, Node<'_>)| match K::from_text(key) {
            Some(key) => Ok((key, r.read(value)?)),
            None => r.unexpected(&Node { span: value.span, data: Data::Text(key.clone()) }, K::NOUN),
        };
        entries.iter().map(entry).collect()
    }
}

impl<K: Key, V: Write> Write for BTreeMap<K, V> {
    fn write(&self) -> Node<'_> {
        Data::Map(self.iter().map(|(key, value)| (key.to_text(), value.write())).collect()).into()
    }
}

word! { Compatibility, "an answer of check_compatibility" { Compatible, Possibly, Incompatible } }
word! { Proof, "an answer of a proof" { Equal, Different, Unknown } }
word! { Profile, "`Merged` or `Pr14148`" { Merged, Pr14148 } }
