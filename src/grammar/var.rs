//! Variables have identity: two variables are equal exactly if both their name hints and their numbers are equal. The
//! number distinguishes variables that share a name (shadowing, A03).
//!
//! The text form of an identity is `name` (number 0) or `name#number`.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

/// A name hint, shared.
pub type Name = Arc<str>;

/// A byte range of the source text, `start..end`. Equality and hashing ignore it, since the position is not part of a
/// node's identity.
#[derive(Clone, Copy, Default, Debug)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span of a node that did not come from text.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The bytes from `start` to `end`, which is excluded.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Whether the node did not come from text.
    pub fn is_none(self) -> bool {
        self.end == 0
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}
impl Eq for Span {}
impl Hash for Span {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

fn hash_of(name: &str, id: u32) -> u32 {
    let hash = FxBuildHasher.hash_one((name, id));
    (hash >> 32) as u32 ^ hash as u32
}

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            /// The name in the source. It does not identify the variable.
            pub name: Name,
            /// A number that distinguishes variables with the same name; 0 for the first.
            pub id: u32,
            /// The position in the source.
            pub span: Span,
            /// The hash of name and number, computed once. Contexts are maps keyed by variables, and hashing names
            /// would take most of their time.
            hash: u32,
        }

        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                self.hash == other.hash
                    && self.id == other.id
                    && (Arc::ptr_eq(&self.name, &other.name) || self.name == other.name)
            }
        }
        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u32(self.hash);
            }
        }

        impl $name {
            /// The variable `name` with number 0, without a source position.
            pub fn new(name: &str) -> $name {
                $name::numbered(name.into(), 0)
            }

            /// The variable with this name and number, without a source position.
            pub fn numbered(name: Name, id: u32) -> $name {
                let hash = hash_of(&name, id);
                $name { name, id, span: Span::NONE, hash }
            }

            /// The same variable with a source position.
            pub fn at(mut self, span: Span) -> $name {
                self.span = span;
                self
            }

            /// Reads `name` or `name#number`. `None` if the name is empty or the number is malformed.
            pub fn parse(text: &str) -> Option<$name> {
                let (name, id) = match text.split_once('#') {
                    None => (text, 0),
                    // Number 0 is not written, so `x#0` is rejected. This keeps the spelling unique.
                    Some((name, id)) => (name, id.parse().ok().filter(|id| *id != 0)?),
                };
                (!name.is_empty()).then(|| $name::numbered(name.into(), id))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &$name) -> std::cmp::Ordering {
                (&self.name, self.id).cmp(&(&other.name, other.id))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.id {
                    0 => write!(f, "{}", self.name),
                    id => write!(f, "{}#{id}", self.name),
                }
            }
        }
    };
}

identity! {
    /// A Relax variable. Its binder ([`super::Binder::kind`]) and its uses ([`super::Expr::Var`],
    /// [`super::Expr::DataflowVar`]) say whether it is a `Var` or a `DataflowVar`.
    Var
}
identity! {
    /// A shape variable (`tir::Var`), always of type int64 (C25).
    ShapeVar
}
