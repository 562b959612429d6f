//! Data whose type is not known yet: what a text in RON or JSON says, and where.

use std::borrow::Cow;
use std::ops::Deref;

use crate::grammar::Span;
use crate::judge::with_stack;

/// A text inside data, borrowed where nothing had to be unescaped.
pub type BorrowedText<'t> = Cow<'t, str>;

/// A piece of data, and where it stands in the text that it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct Node<'t> {
    /// Where it stands; [`Span::NONE`] for data that comes from no text.
    pub span: Span,
    /// What it says.
    pub data: NodeData<'t>,
}

/// What data can be. The two notations share it: an object of JSON is a map, and so is a structure of RON but for the way
/// it is written.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeData<'t> {
    /// Nothing: `null`, `None`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written, so that nothing of it is lost before its type is known.
    Number(BorrowedText<'t>),
    /// Characters in quotation marks.
    Text(BorrowedText<'t>),
    /// Values in order, of any number.
    List(Vec<Node<'t>>),
    /// A list of a fixed number of items, which RON writes in parentheses.
    Tuple(Vec<Node<'t>>),
    /// Values by keys that are data themselves.
    Map(Vec<(BorrowedText<'t>, Node<'t>)>),
    /// Values by the names of fields.
    Struct(Vec<(BorrowedText<'t>, Node<'t>)>),
    /// A named alternative, with what it holds. JSON has maps with one key and texts in its place.
    Variant(BorrowedText<'t>, Option<Box<Node<'t>>>),
}

impl<'t> From<NodeData<'t>> for Node<'t> {
    /// Data that does not come from a text.
    fn from(data: NodeData<'t>) -> Node<'t> {
        Node { span: Span::NONE, data }
    }
}

impl<'t> Node<'t> {
    /// A number as it is written.
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

    /// A named alternative that holds something.
    pub fn variant(name: impl Into<BorrowedText<'t>>, content: Node<'t>) -> Node<'t> {
        NodeData::Variant(name.into(), Some(Box::new(content))).into()
    }

    /// The name of an alternative, and what it holds.
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

    /// The number as it is written, if this is one.
    pub fn as_number(&self) -> Option<&str> {
        if let NodeData::Number(number) = &self.data { Some(number) } else { None }
    }

    /// The items of a list or tuple.
    pub fn as_items(&self) -> Option<&[Node<'t>]> {
        if let NodeData::List(items) | NodeData::Tuple(items) = &self.data { Some(items) } else { None }
    }

    /// The values by key of a map or structure.
    pub fn as_entries(&self) -> Option<&[(BorrowedText<'t>, Node<'t>)]> {
        if let NodeData::Map(entries) | NodeData::Struct(entries) = &self.data { Some(entries) } else { None }
    }

    /// The value of a key, if this is a map or structure that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.as_entries()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether this is nothing: `null`, `None`.
    pub fn is_null(&self) -> bool {
        self.data == NodeData::Null
    }

    /// The same, of which nothing is borrowed.
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

    /// What this is, in a message.
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

/// Data as a whole. Its parts are dropped one after the other, so that no depth takes stack.
#[derive(Clone, PartialEq, Debug)]
pub struct Document<'t>(Node<'t>);

impl<'t> Document<'t> {
    /// A whole of which this is the outermost piece.
    pub fn new(root: Node<'t>) -> Document<'t> {
        Document(root)
    }

    /// The data itself, to be changed.
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
