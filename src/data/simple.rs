//! The data form of simple types outside the grammar: truth values, numbers, texts, lists and maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{BorrowedText, Node, NodeData};
use super::reader::{DataReader, DataResult, FromData, Profile, Write};
use super::record::word;
use crate::book::{Edition, Erratum, Proposal, Rule};
use crate::judge::{Compatibility, Proof};

impl FromData for bool {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<bool> {
        if let NodeData::Bool(truth) = &node.data { Ok(*truth) } else { r.unexpected(node, "true or false") }
    }
}

impl Write for bool {
    fn write(&self) -> Node<'_> {
        NodeData::Bool(*self).into()
    }
}

macro_rules! numbers {
    ($($type:ty, $what:literal;)*) => {
        $(
            impl FromData for $type {
                fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<$type> {
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

impl FromData for f64 {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<f64> {
        match node.as_number().map(str::parse) {
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) | None => r.unexpected(node, "a number"),
        }
    }
}

impl Write for f64 {
    fn write(&self) -> Node<'_> {
        // The decimal point prevents it from being read as an integer.
        NodeData::Number(format!("{self:?}").into()).into()
    }
}

impl FromData for String {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<String> {
        node.as_text().map_or_else(|| r.unexpected(node, "a text"), |text| Ok(text.to_string()))
    }
}

impl Write for String {
    fn write(&self) -> Node<'_> {
        Node::text(self.as_str())
    }
}

impl FromData for Arc<str> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Arc<str>> {
        node.as_text().map_or_else(|| r.unexpected(node, "a text"), |text| Ok(text.into()))
    }
}

impl Write for Arc<str> {
    fn write(&self) -> Node<'_> {
        Node::text(&**self)
    }
}

impl<T: FromData> FromData for Box<T> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Box<T>> {
        T::read(r, node).map(Box::new)
    }
}

impl<T: Write + ?Sized> Write for Box<T> {
    fn write(&self) -> Node<'_> {
        (**self).write()
    }
}

impl<T: FromData> FromData for Arc<T> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Arc<T>> {
        T::read(r, node).map(Arc::new)
    }
}

impl<T: Write> Write for Arc<T> {
    fn write(&self) -> Node<'_> {
        (**self).write()
    }
}

/// `Some` is optional, except where its content is itself an option.
impl<T: FromData> FromData for Option<T> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Option<T>> {
        if matches!(&node.data, NodeData::Null) {
            Ok(None)
        } else if let NodeData::Variant(name, Some(content)) = &node.data
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
        self.as_ref().map_or(NodeData::Null.into(), T::write)
    }
}

fn read_list<T: FromData, C: FromIterator<T>>(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<C> {
    match node.as_items() {
        Some(items) => items.iter().map(|item| r.read(item)).collect(),
        None => r.unexpected(node, "a list"),
    }
}

impl<T: FromData> FromData for Vec<T> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Vec<T>> {
        read_list(r, node)
    }
}

impl<T: FromData> FromData for Arc<[T]> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Arc<[T]>> {
        read_list(r, node)
    }
}

impl<T: Write> Write for [T] {
    fn write(&self) -> Node<'_> {
        NodeData::List(self.iter().map(T::write).collect()).into()
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

impl<A: FromData, B: FromData> FromData for (A, B) {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<(A, B)> {
        let [a, b] = r.tuple(node, "a pair", None)?;
        Ok((r.read(a)?, r.read(b)?))
    }
}

impl<A: Write, B: Write> Write for (A, B) {
    fn write(&self) -> Node<'_> {
        NodeData::Tuple(vec![self.0.write(), self.1.write()]).into()
    }
}

/// A type whose values are written as texts, so that they can be keys of maps.
pub trait MapKey: Sized {
    /// The value of such a text; `None` if it has none.
    fn from_text(text: &str) -> Option<Self>;
    /// The text of the value.
    fn to_text(&self) -> BorrowedText<'_>;
    /// A noun for such a text, for messages.
    const NOUN: &'static str;
}

impl MapKey for String {
    const NOUN: &'static str = "a text";

    fn from_text(text: &str) -> Option<String> {
        Some(text.to_string())
    }

    fn to_text(&self) -> BorrowedText<'_> {
        self.as_str().into()
    }
}

impl MapKey for Arc<str> {
    const NOUN: &'static str = "a text";

    fn from_text(text: &str) -> Option<Arc<str>> {
        Some(text.into())
    }

    fn to_text(&self) -> BorrowedText<'_> {
        (&**self).into()
    }
}

impl MapKey for Edition {
    const NOUN: &'static str = "an edition";

    fn from_text(text: &str) -> Option<Edition> {
        text.parse().ok()
    }

    fn to_text(&self) -> BorrowedText<'_> {
        self.name().into()
    }
}

impl MapKey for Proposal {
    const NOUN: &'static str = "a proposal";

    fn from_text(text: &str) -> Option<Proposal> {
        text.parse().ok()
    }

    fn to_text(&self) -> BorrowedText<'_> {
        self.name().into()
    }
}

impl MapKey for Rule {
    const NOUN: &'static str = "the id of a rule";

    fn from_text(text: &str) -> Option<Rule> {
        text.parse().ok()
    }

    fn to_text(&self) -> BorrowedText<'_> {
        self.id().into()
    }
}

impl MapKey for Erratum {
    const NOUN: &'static str = "the id of an erratum";

    fn from_text(text: &str) -> Option<Erratum> {
        text.parse().ok()
    }

    fn to_text(&self) -> BorrowedText<'_> {
        self.id().into()
    }
}

/// Reads a value that is written as a text.
pub fn read_key<K: MapKey>(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<K> {
    node.as_text().and_then(K::from_text).map_or_else(|| r.unexpected(node, K::NOUN), Ok)
}

impl FromData for Edition {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Edition> {
        read_key(r, node)
    }
}

impl Write for Edition {
    fn write(&self) -> Node<'_> {
        Node::text(self.name())
    }
}

impl FromData for Proposal {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Proposal> {
        read_key(r, node)
    }
}

impl FromData for Rule {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Rule> {
        read_key(r, node)
    }
}

impl Write for Rule {
    fn write(&self) -> Node<'_> {
        Node::text(self.id())
    }
}

impl FromData for Erratum {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Erratum> {
        read_key(r, node)
    }
}

impl Write for Erratum {
    fn write(&self) -> Node<'_> {
        Node::text(self.id())
    }
}

impl<K: MapKey + Ord, V: FromData> FromData for BTreeMap<K, V> {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<BTreeMap<K, V>> {
        let Some(entries) = node.as_entries() else { return r.unexpected(node, "a map") };
        let entry = |(key, value): &(BorrowedText<'_>, Node<'_>)| match K::from_text(key) {
            Some(key) => Ok((key, r.read(value)?)),
            None => r.unexpected(&Node { span: value.span, data: NodeData::Text(key.clone()) }, K::NOUN),
        };
        entries.iter().map(entry).collect()
    }
}

impl<K: MapKey, V: Write> Write for BTreeMap<K, V> {
    fn write(&self) -> Node<'_> {
        NodeData::Map(self.iter().map(|(key, value)| (key.to_text(), value.write())).collect()).into()
    }
}

word! { Compatibility, "an answer of check_compatibility" { Compatible, Possibly, Incompatible } }
word! { Proof, "an answer of a proof" { Equal, Different, Unknown } }
word! { Profile, "`Merged` or `Pr14148`" { Merged, Pr14148 } }
