//! Data before its type is known: the content of a RON or JSON text, with positions.

use std::borrow::Cow;
use std::ops::Deref;

use crate::grammar::Span;
use crate::judge::with_stack;

/// A text inside data. It is borrowed if it has no escapes.
pub type BorrowedText<'t> = Cow<'t, str>;

/// A piece of data and its position in the text.
#[derive(Clone, PartialEq, Debug)]
pub struct Node<'t> {
    /// The position; [`Span::NONE`] for data that does not come from a text.
    pub span: Span,
    /// The content.
    pub data: NodeData<'t>,
}

/// The kinds of data in both notations. An object of JSON is a map. A structure of RON is equivalent to one, but is
/// written differently.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeData<'t> {
    /// Null: `null` or `None`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written, so that it loses no precision before its type is known.
    Number(BorrowedText<'t>),
    /// Characters in quotation marks.
    Text(BorrowedText<'t>),
    /// An ordered list of any length.
    List(Vec<Node<'t>>),
    /// A list of fixed length, which RON writes in parentheses.
    Tuple(Vec<Node<'t>>),
    /// Values by keys.
    Map(Vec<(BorrowedText<'t>, Node<'t>)>),
    /// Values by field names.
    Struct(Vec<(BorrowedText<'t>, Node<'t>)>),
    /// A named alternative with its content. JSON represents it as a map with one key, or as a text.
    Variant(BorrowedText<'t>, Option<Box<Node<'t>>>),
}

impl<'t> From<NodeData<'t>> for Node<'t> {
    /// Data that does not come from a text.
    fn from(data: NodeData<'t>) -> Node<'t> {
        Node { span: Span::NONE, data }
    }
}

impl<'t> Node<'t> {
    /// A number as written.
    pub fn number(number: impl ToString) -> Node<'static> {
        NodeData::Number(number.to_string().into()).into()
    }

    /// Characters in quotation marks.
    pub fn text(text: impl Into<BorrowedText<'t>>) -> Node<'t> {
        NodeData::Text(text.into()).into()
    }

    /// A map with one key.
    pub fn entry(key: impl Into<BorrowedText<'t>>, value: Node<'t>) -> Node<'t> {
        NodeData::Map(vec![(key.into(), value)]).into()
    }

    /// A named alternative with content.
    pub fn variant(name: impl Into<BorrowedText<'t>>, content: Node<'t>) -> Node<'t> {
        NodeData::Variant(name.into(), Some(Box::new(content))).into()
    }

    /// The name of an alternative and its content.
    pub fn as_variant(&self) -> Option<(&str, Option<&Node<'t>>)> {
        match &self.data {
            NodeData::Text(name) => Some((name, None)),
            NodeData::Variant(name, content) => Some((name, content.as_deref())),
            NodeData::Map(entries) => match entries.as_slice() {
                [(name, content)] => Some((name, Some(content))),
                [] | [_, _, ..] => None,
            },
            NodeData::Null
            | NodeData::Bool(_)
            | NodeData::Number(_)
            | NodeData::List(_)
            | NodeData::Tuple(_)
            | NodeData::Struct(_) => None,
        }
    }

    /// The characters, if this is a text.
    pub fn as_text(&self) -> Option<&str> {
        if let NodeData::Text(text) = &self.data { Some(text) } else { None }
    }

    /// The number as written, if this is one.
    pub fn as_number(&self) -> Option<&str> {
        if let NodeData::Number(number) = &self.data { Some(number) } else { None }
    }

    /// The items of a list or tuple.
    pub fn as_items(&self) -> Option<&[Node<'t>]> {
        if let NodeData::List(items) | NodeData::Tuple(items) = &self.data { Some(items) } else { None }
    }

    /// The entries of a map or structure.
    pub fn as_entries(&self) -> Option<&[(BorrowedText<'t>, Node<'t>)]> {
        if let NodeData::Map(entries) | NodeData::Struct(entries) = &self.data { Some(entries) } else { None }
    }

    /// The value of a key, if this is a map or structure that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.as_entries()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether this is null: `null` or `None`.
    pub fn is_null(&self) -> bool {
        self.data == NodeData::Null
    }

    /// A copy of the data that borrows nothing.
    pub fn into_owned(self) -> Node<'static> {
        let text = |text: BorrowedText<'t>| BorrowedText::Owned(text.into_owned());
        let entries = |entries: Vec<(BorrowedText<'t>, Node<'t>)>| {
            entries.into_iter().map(|(key, value)| (text(key), value.into_owned())).collect()
        };
        let data = with_stack(|| match self.data {
            NodeData::Null => NodeData::Null,
            NodeData::Bool(truth) => NodeData::Bool(truth),
            NodeData::Number(number) => NodeData::Number(text(number)),
            NodeData::Text(content) => NodeData::Text(text(content)),
            NodeData::List(items) => NodeData::List(items.into_iter().map(Node::into_owned).collect()),
            NodeData::Tuple(items) => NodeData::Tuple(items.into_iter().map(Node::into_owned).collect()),
            NodeData::Map(found) => NodeData::Map(entries(found)),
            NodeData::Struct(found) => NodeData::Struct(entries(found)),
            NodeData::Variant(name, content) => {
                NodeData::Variant(text(name), content.map(|content| Box::new(content.into_owned())))
            }
        });
        Node { span: self.span, data }
    }

    /// A description for messages.
    pub fn describe(&self) -> String {
        match &self.data {
            NodeData::Null => "nothing".to_string(),
            NodeData::Bool(truth) => format!("`{truth}`"),
            NodeData::Number(number) => format!("`{number}`"),
            NodeData::Text(text) => format!("the text `{}`", shortened(text)),
            NodeData::List(_) => "a list".to_string(),
            NodeData::Tuple(_) => "a tuple".to_string(),
            NodeData::Map(entries) => match entries.as_slice() {
                [(name, _)] => format!("`{}`", shortened(name)),
                [] | [_, _, ..] => "a map".to_string(),
            },
            NodeData::Struct(_) => "a structure".to_string(),
            NodeData::Variant(name, _) => format!("`{}`", shortened(name)),
        }
    }
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        None => text.to_string(),
        Some((end, _)) => format!("{}..", &text[..end]),
    }
}

/// A whole document. Its parts are dropped one after the other, so that deep nesting does not use stack.
#[derive(Clone, PartialEq, Debug)]
pub struct Document<'t>(Node<'t>);

impl<'t> Document<'t> {
    /// Makes a document from its outermost piece.
    pub fn new(root: Node<'t>) -> Document<'t> {
        Document(root)
    }

    /// The data itself, for modification.
    pub fn into_root(mut self) -> Node<'t> {
        std::mem::replace(&mut self.0, NodeData::Null.into())
    }
}

impl<'t> Deref for Document<'t> {
    type Target = Node<'t>;

    fn deref(&self) -> &Node<'t> {
        &self.0
    }
}

impl Drop for Document<'_> {
    fn drop(&mut self) {
        let mut left = vec![std::mem::replace(&mut self.0.data, NodeData::Null)];
        while let Some(data) = left.pop() {
            match data {
                NodeData::Null
                | NodeData::Bool(_)
                | NodeData::Number(_)
                | NodeData::Text(_)
                | NodeData::Variant(_, None) => {}
                NodeData::List(items) | NodeData::Tuple(items) => left.extend(items.into_iter().map(|item| item.data)),
                NodeData::Map(entries) | NodeData::Struct(entries) => {
                    left.extend(entries.into_iter().map(|(_, value)| value.data));
                }
                NodeData::Variant(_, Some(content)) => left.push(content.data),
            }
        }
    }
}
