//! From data to values of a type.

use super::DataError;
use super::node::{BorrowedText, Node, NodeData};
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::{Cx, with_stack};

/// What reading gives: a value, or why the data describes none.
pub type DataResult<T> = Result<T, DataError>;

/// A type that is read from data.
pub trait FromData: Sized {
    /// The value that the data describes.
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Self>;

    /// What a field of the type is that is left out; `None` if it must be given.
    fn absent() -> Option<Self> {
        None
    }
}

/// A type that is written as data.
pub trait Write {
    /// The data that describes the value.
    fn write(&self) -> Node<'_>;
}

/// A type that is one of several named alternatives.
pub trait NamedVariants {
    /// The names, in the order of the type.
    const NAMES: &'static [&'static str];

    /// The name of the alternative.
    fn name(&self) -> &'static str;
}

/// Which of the documents a tree is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// The documents merged; older spellings are read, and the extension set of dimensions.
    #[default]
    Merged,
    /// The later revision alone, without types, older spellings and the extension set.
    Pr14148,
}

/// What reading needs: where rules are recorded, and which documents hold.
pub struct DataReader<'c> {
    /// The context: it records the productions that are used.
    pub cx: &'c mut Cx,
    /// Whose productions hold.
    pub profile: Profile,
}

impl<'c> DataReader<'c> {
    /// By the documents merged.
    pub fn new(cx: &'c mut Cx) -> DataReader<'c> {
        DataReader { cx, profile: Profile::Merged }
    }

    /// A value of a type, however deep it nests.
    pub fn read<T: FromData>(&mut self, node: &Node<'_>) -> DataResult<T> {
        with_stack(|| T::read(self, node))
    }

    /// A node is built by a production.
    pub fn by(&mut self, rule: Rule) -> DataResult<()> {
        self.cx.conclude(rule, Ok(()))
    }

    /// A premise of a rule of the grammar; without the rule anything goes.
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

    /// What the data is not: a breach of the first premise of a rule, where one decides.
    pub fn refuse<T>(&mut self, node: &Node<'_>, rule: Option<Rule>, message: String) -> DataResult<T> {
        if let Some(rule) = rule {
            self.premise(node.span, rule, 1, false, || message.clone())?;
        }
        Err(DataError::at(node.span, message))
    }

    /// Refuses data of the wrong kind, under no rule. `what` is what is wanted, in words.
    pub fn unexpected<T>(&self, node: &Node<'_>, what: &str) -> DataResult<T> {
        Err(DataError::at(node.span, format!("expected {what}, found {}", node.describe())))
    }

    /// The fields of a structure, whose name may stand before them.
    pub fn fields<'n, 't>(
        &mut self,
        node: &'n Node<'t>,
        name: &'static str,
        rule: Option<Rule>,
    ) -> DataResult<StructFields<'n, 't>> {
        let entries: &'n [(BorrowedText<'t>, Node<'t>)] = match &node.data {
            NodeData::Map(entries) | NodeData::Struct(entries) => entries,
            // A node without any field that is given.
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

    /// The items of a list; `rule` is that of the node which the list is of.
    pub fn items<'n, 't>(&mut self, node: &'n Node<'t>, name: &str, rule: Option<Rule>) -> DataResult<&'n [Node<'t>]> {
        match node.as_items() {
            Some(items) => Ok(items),
            None => self.refuse(node, rule, format!("`{name}` has a list here, found {}", node.describe())),
        }
    }

    /// So many items, which are what an alternative holds.
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

    /// Nothing is what some alternatives hold.
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
    /// The rule of the node, which a missing field breaks.
    rule: Option<Rule>,
    entries: &'n [(BorrowedText<'t>, Node<'t>)],
}

impl<'n, 't> StructFields<'n, 't> {
    /// A field that is given, and not as nothing.
    pub fn get(&self, name: &str) -> Option<&'n Node<'t>> {
        self.entries.iter().find(|(key, value)| key == name && !value.is_null()).map(|(_, value)| value)
    }

    /// A field that is given, be it as nothing.
    pub fn present(&self, name: &str) -> Option<&'n Node<'t>> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A field whose `Some`, where there is one, belongs to the field; what is in it may be nothing.
    pub fn given(&self, name: &str) -> Option<&'n Node<'t>> {
        self.get(name).map(without_some)
    }

    /// A field that must be given, unless its type says what it is without.
    pub fn one<T: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<T> {
        match (self.get(name), T::absent()) {
            (Some(value), _) => r.read(value),
            (None, Some(absent)) => Ok(absent),
            (None, None) => r.refuse(self.node, self.rule, format!("`{}` needs the field `{name}`", self.name)),
        }
    }

    /// A field that may be left out.
    pub fn or<T: FromData>(&self, r: &mut DataReader<'_>, name: &str, default: impl FnOnce() -> T) -> DataResult<T> {
        self.get(name).map_or_else(|| Ok(default()), |value| r.read(value))
    }

    /// A list, which may be left out if it is empty.
    pub fn many<L: FromData + Default>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<L> {
        self.maybe_many(r, name).map(Option::unwrap_or_default)
    }

    /// A list that may be left out, which then means something else than an empty one.
    pub fn maybe_many<L: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<Option<L>> {
        let Some(list) = self.get(name).map(without_some) else { return Ok(None) };
        r.items(list, self.name, self.rule)?;
        r.read(list).map(Some)
    }

    /// A field that must be given; what is no such value breaks the rule of the node.
    pub fn literal<T: FromData>(&self, r: &mut DataReader<'_>, name: &str) -> DataResult<T> {
        self.one(r, name).or_else(|error: DataError| match error.rule {
            Some(_) => Err(error),
            None => r.refuse(self.get(name).unwrap_or(self.node), self.rule, error.message),
        })
    }

    /// A field that may be left out, with a rule of its own.
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

    /// Other fields than these are ignored.
    pub fn open(&self, _: &[&str]) -> DataResult<()> {
        Ok(())
    }

    /// There are no other fields than these.
    pub fn closed(&self, names: &[&str]) -> DataResult<()> {
        match self.entries.iter().find(|(key, _)| !names.contains(&key.as_ref())) {
            None => Ok(()),
            Some((key, value)) => {
                let message = format!("`{}` has no field `{key}`; it has {}", self.name, names.join(", "));
                Err(DataError::at(value.span, message))
            }
        }
    }

    /// Where the structure stands.
    pub fn span(&self) -> Span {
        self.node.span
    }
}

/// What is in a `Some`, which need not be written.
fn without_some<'n, 't>(node: &'n Node<'t>) -> &'n Node<'t> {
    if let NodeData::Variant(name, Some(content)) = &node.data
        && name == "Some"
    {
        content
    } else {
        node
    }
}
