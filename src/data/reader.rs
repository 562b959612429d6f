//! Conversion of data to values of a type.

use super::DataError;
use super::node::{BorrowedText, Node, NodeData};
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::{Cx, with_stack};

/// A value, or the reason why the data does not describe one.
pub type DataResult<T> = Result<T, DataError>;

/// A type that can be read from data.
pub trait FromData: Sized {
    /// Reads the value that the data describes.
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Self>;

    /// The value of an omitted field of this type; `None` if such a field is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// A type that can be written as data.
pub trait Write {
    /// The data that describes the value.
    fn write(&self) -> Node<'_>;
}

/// A type with several named alternatives.
pub trait NamedVariants {
    /// The names in the order of declaration.
    const NAMES: &'static [&'static str];

    /// The name of this alternative.
    fn name(&self) -> &'static str;
}

/// The documents whose grammar applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// All documents together, including older spellings and the extension set of dimensions.
    #[default]
    Merged,
    /// The later revision alone, without types, older spellings and the extension set.
    Pr14148,
}

/// The state of the reader: the context that records rules, and the documents that apply.
pub struct DataReader<'c> {
    /// The context; it records the productions that are used.
    pub cx: &'c mut Cx,
    /// The documents whose productions apply.
    pub profile: Profile,
}

impl<'c> DataReader<'c> {
    /// A reader for all documents together.
    pub fn new(cx: &'c mut Cx) -> DataReader<'c> {
        DataReader { cx, profile: Profile::Merged }
    }

    /// Reads a value of any nesting depth.
    pub fn read<T: FromData>(&mut self, node: &Node<'_>) -> DataResult<T> {
        with_stack(|| T::read(self, node))
    }

    /// Records that a production builds a node.
    pub fn by(&mut self, rule: Rule) -> DataResult<()> {
        self.cx.conclude(rule, Ok(()))
    }

    /// Checks a premise of a grammar rule. If the rule is off, anything is accepted.
    pub fn premise(
        &mut self,
        at: Span,
        rule: Rule,
        n: usize,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> DataResult<()> {
        if self.cx.premise(rule, n, holds) {
            return Ok(());
        }
        Err(DataError { rule: Some(self.cx.stated_as(rule)), ..DataError::at(at, message()) })
    }

    /// Rejects data. If there is a rule, its first premise is broken.
    pub fn refuse<T>(&mut self, node: &Node<'_>, rule: Option<Rule>, message: String) -> DataResult<T> {
        if let Some(rule) = rule {
            self.premise(node.span, rule, 1, false, || message.clone())?;
        }
        Err(DataError::at(node.span, message))
    }

    /// Rejects data of the wrong kind, without a rule. `what` describes the expected data.
    pub fn unexpected<T>(&self, node: &Node<'_>, what: &str) -> DataResult<T> {
        Err(DataError::at(node.span, format!("expected {what}, found {}", node.describe())))
    }

    /// The fields of a structure. The structure's name may precede them.
    pub fn fields<'n, 't>(
        &mut self,
        node: &'n Node<'t>,
        name: &'static str,
        rule: Option<Rule>,
    ) -> DataResult<StructFields<'n, 't>> {
        let entries: &'n [(BorrowedText<'t>, Node<'t>)] = match &node.data {
            NodeData::Map(entries) | NodeData::Struct(entries) => entries,
            // A node without fields.
            NodeData::Null => &[],
            NodeData::Variant(found, Some(content)) if found == name => return self.fields(content, name, rule),
            NodeData::Variant(found, None) if found == name => &[],
            NodeData::Bool(_)
            | NodeData::Number(_)
            | NodeData::Text(_)
            | NodeData::List(_)
            | NodeData::Tuple(_)
            | NodeData::Variant(..) => {
                return self.refuse(node, rule, format!("the fields of `{name}` are named, found {}", node.describe()));
            }
        };
        Ok(StructFields { node, name, rule, entries })
    }

    /// The items of a list. `rule` is the rule of the node that contains the list.
    pub fn items<'n, 't>(&mut self, node: &'n Node<'t>, name: &str, rule: Option<Rule>) -> DataResult<&'n [Node<'t>]> {
        match node.as_items() {
            Some(items) => Ok(items),
            None => self.refuse(node, rule, format!("`{name}` has a list here, found {}", node.describe())),
        }
    }

    /// The `N` items of an alternative's content.
    pub fn tuple<'n, 't, const N: usize>(
        &mut self,
        node: &'n Node<'t>,
        name: &str,
        rule: Option<Rule>,
    ) -> DataResult<&'n [Node<'t>; N]> {
        match node.as_items().map(TryFrom::try_from) {
            Some(Ok(items)) => Ok(items),
            Some(Err(_)) | None => {
                self.refuse(node, rule, format!("`{name}` has {N} values, found {}", node.describe()))
            }
        }
    }

    /// Checks that an alternative has no content.
    pub fn nothing(
        &mut self,
        node: &Node<'_>,
        content: Option<&Node<'_>>,
        name: &str,
        rule: Option<Rule>,
    ) -> DataResult<()> {
        match content {
            Some(content) if !content.is_null() => self.refuse(node, rule, format!("`{name}` has no fields")),
            Some(_) | None => Ok(()),
        }
    }
}

/// The fields of a structure.
pub struct StructFields<'n, 't> {
    /// The structure itself.
    pub node: &'n Node<'t>,
    name: &'static str,
    /// The rule of the node; a missing field breaks it.
    rule: Option<Rule>,
    entries: &'n [(BorrowedText<'t>, Node<'t>)],
}

impl<'n, 't> StructFields<'n, 't> {
    /// The value of a field, if it is present and not null.
    pub fn get(&self, name: &str) -> Option<&'n Node<'t>> {
        self.entries.iter().find(|(key, value)| key == name && !value.is_null()).map(|(_, value)| value)
    }

    /// The value of a field, if it is present; it may be null.
    pub fn present(&self, name: &str) -> Option<&'n Node<'t>> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value of a field without its `Some`, if it has one. The content may be null.
    pub fn given(&self, name: &str) -> Option<&'n Node<'t>> {
        self.get(name).map(without_some)
    }

    /// Reads a required field. If it is missing, the type may supply a value.
    pub fn one<T: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<T> {
        match (self.get(name), T::absent()) {
            (Some(value), _) => r.read(value),
            (None, Some(absent)) => Ok(absent),
            (None, None) => r.refuse(self.node, self.rule, format!("`{}` needs the field `{name}`", self.name)),
        }
    }

    /// Reads an optional field.
    pub fn or<T: FromData>(&self, r: &mut DataReader<'_>, name: &str, default: impl FnOnce() -> T) -> DataResult<T> {
        self.get(name).map_or_else(|| Ok(default()), |value| r.read(value))
    }

    /// Reads a list that may be omitted if it is empty.
    pub fn many<L: FromData + Default>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<L> {
        self.maybe_many(r, name).map(Option::unwrap_or_default)
    }

    /// Reads an optional list. Omission differs from an empty list.
    pub fn maybe_many<L: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<Option<L>> {
        let Some(list) = self.get(name).map(without_some) else { return Ok(None) };
        r.items(list, self.name, self.rule)?;
        r.read(list).map(Some)
    }

    /// Reads a required field. An invalid value breaks the rule of the node.
    pub fn literal<T: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<T> {
        self.one(r, name).or_else(|error: DataError| match error.rule {
            Some(_) => Err(error),
            None => r.refuse(self.get(name).unwrap_or(self.node), self.rule, error.message),
        })
    }

    /// Reads an optional field that has a rule of its own.
    pub fn ruled<T: FromData>(
        &self,
        r: &mut DataReader<'_>,
        name: &str,
        rule: Rule,
        default: impl FnOnce() -> T,
    ) -> DataResult<T> {
        match self.get(name) {
            None => Ok(default()),
            Some(value) => {
                r.by(rule)?;
                r.read(value)
            }
        }
    }

    /// Ignores all other fields.
    pub fn open(&self, _: &[&str]) -> DataResult<()> {
        Ok(())
    }

    /// Rejects all other fields.
    pub fn closed(&self, names: &[&str]) -> DataResult<()> {
        match self.entries.iter().find(|(key, _)| !names.contains(&key.as_ref())) {
            None => Ok(()),
            Some((key, value)) => {
                let message = format!("`{}` has no field `{key}`; it has {}", self.name, names.join(", "));
                Err(DataError::at(value.span, message))
            }
        }
    }

    /// The position of the structure.
    pub fn span(&self) -> Span {
        self.node.span
    }
}

/// The content of a `Some`, or the node itself without one.
fn without_some<'n, 't>(node: &'n Node<'t>) -> &'n Node<'t> {
    if let NodeData::Variant(name, Some(content)) = &node.data
        && name == "Some"
    {
        content
    } else {
        node
    }
}
