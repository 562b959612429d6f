//! The data form of types that are written as fields or as a named alternative.

/// Implements the data form of a type that is written as its fields. Each field has a mode:
///
/// * `one`: required, unless the type supplies a value for a missing field.
/// * `or(default)`: optional, and always written.
/// * `unless(default)`: optional, and written only if it differs from the default.
/// * `many`: a list that may be omitted if it is empty, and is always written.
/// * `literal`: as `one`, but an invalid value breaks the rule of the node.
/// * `ruled(rule!("ID"), default)`: as `unless`, and fires its own rule if it is present.
/// * `place`: the position in the text, which is not a field of the data.
///
/// `by rule!("ID")` fires the rule of a grammar node; a missing field breaks this rule. `closed` rejects fields that
/// the type does not have.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($type:ty, $name:literal $(by rule!($rule:tt))?, $($closed:ident)? { $($fields:tt)* }) => {
        $crate::data::record::read_record!($type, $name $(by rule!($rule))?, $($closed)? { $($fields)* });
        $crate::data::record::write_record!($type, { $($fields)* });
    };
}

/// As `record!`, for types that have another reader.
#[doc(hidden)]
#[macro_export]
macro_rules! write_record {
    ($type:ty, { $($field:ident: $how:ident $(($($arg:tt)*))?),* $(,)? }) => {
        impl $crate::data::Write for $type {
            // An optional field may add nothing, so the list cannot be written as one literal.
            #[allow(clippy::vec_init_then_push)]
            fn write(&self) -> $crate::data::Node<'_> {
                let mut fields = Vec::new();
                $($crate::data::record::write_field!(self, fields, $field $how $(($($arg)*))?);)*
                $crate::data::NodeData::Struct(fields).into()
            }
        }
    };
}

/// As `record!`, for types that are only read.
#[doc(hidden)]
#[macro_export]
macro_rules! read_record {
    ($type:ty, $name:literal $(by rule!($rule:tt))?, { $($fields:tt)* }) => {
        $crate::data::record::read_record!($type, $name $(by rule!($rule))?, open { $($fields)* });
    };
    ($type:ty, $name:literal $(by rule!($rule:tt))?, $closed:ident {
        $($field:ident: $how:ident $(($($arg:tt)*))?),* $(,)?
    }) => {
        impl $crate::data::FromData for $type {
            fn read(
                r: &mut $crate::data::DataReader<'_>,
                node: &$crate::data::Node<'_>,
            ) -> $crate::data::DataResult<$type> {
                $crate::data::record::rule_of!(r, node, $name, rule $(by rule!($rule))?);
                let fields = r.fields(node, $name, rule)?;
                fields.$closed(&[$(stringify!($field)),*])?;
                $(let $field = $crate::data::record::read_field!(r, fields, $field $how $(($($arg)*))?);)*
                Ok(Self { $($field),* })
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! read_field {
    ($r:ident, $fields:ident, $field:ident one) => {
        $fields.one($r, stringify!($field))?
    };
    ($r:ident, $fields:ident, $field:ident or($default:expr)) => {
        $fields.or($r, stringify!($field), || $default)?
    };
    ($r:ident, $fields:ident, $field:ident unless($default:expr)) => {
        $fields.or($r, stringify!($field), || $default)?
    };
    ($r:ident, $fields:ident, $field:ident many) => {
        $fields.many($r, stringify!($field))?
    };
    ($r:ident, $fields:ident, $field:ident literal) => {
        $fields.literal($r, stringify!($field))?
    };
    ($r:ident, $fields:ident, $field:ident ruled(rule!($rule:tt), $default:expr)) => {
        $fields.ruled($r, stringify!($field), rule!($rule), || $default)?
    };
    ($r:ident, $fields:ident, $field:ident place) => {
        $fields.span()
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! write_field {
    ($value:ident, $fields:ident, $field:ident unless($default:expr)) => {
        if $crate::data::record::differs(&$value.$field, &$default) {
            $crate::data::record::write_field!($value, $fields, $field one);
        }
    };
    ($value:ident, $fields:ident, $field:ident place) => {};
    ($value:ident, $fields:ident, $field:ident $how:ident $(($($arg:tt)*))?) => {
        $fields.push((stringify!($field).into(), $crate::data::Write::write(&$value.$field)))
    };
}

/// Implements the data form of a type that is written as one of its alternatives, with no content, one value or
/// several. `by rule!("ID")` fires the rule of an alternative whose content has none. `[items]` is a list; its absence
/// breaks that rule. `first` is a function that is called before the alternatives are tried.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    ($type:ty, $noun:literal $(first $check:path)? {
        $($variant:ident $(by rule!($rule:tt))? $(($($part:ident),+))? $([$list:ident])?),* $(,)?
    }) => {
        impl $crate::data::FromData for $type {
            fn read(
                r: &mut $crate::data::DataReader<'_>,
                node: &$crate::data::Node<'_>,
            ) -> $crate::data::DataResult<$type> {
                $($check(r, node)?;)?
                let Some((name, content)) = node.as_variant() else { return r.unexpected(node, $noun) };
                match name {
                    $(
                        stringify!($variant) => {
                            $crate::data::record::read_alternative!(
                                r, node, content, $variant $(by rule!($rule))? $(($($part),+))? $([$list])?
                            )
                        }
                    )*
                    _ => r.unexpected(node, $noun),
                }
            }
        }

        impl $crate::data::NamedVariants for $type {
            const NAMES: &'static [&'static str] = &[$(stringify!($variant)),*];

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                }
            }
        }

        impl $crate::data::Write for $type {
            fn write(&self) -> $crate::data::Node<'_> {
                $crate::judge::with_stack(|| match self {
                    $(
                        Self::$variant $(($($part),+))? $(($list))? => {
                            $crate::data::record::write_alternative!($variant $(($($part),+))? $(($list))?)
                        }
                    )*
                })
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! read_alternative {
    ($r:ident, $node:ident, $content:ident, $variant:ident $(by rule!($rule:tt))?) => {{
        $crate::data::record::rule_of!($r, $node, stringify!($variant), rule $(by rule!($rule))?);
        $r.nothing($node, $content, stringify!($variant), rule)?;
        Ok(Self::$variant)
    }};
    ($r:ident, $node:ident, $content:ident, $variant:ident $(by rule!($rule:tt))? ($only:ident)) => {{
        $crate::data::record::rule_of!($r, $node, stringify!($variant), rule $(by rule!($rule))?);
        let _: Option<$crate::book::Rule> = rule;
        // An alternative without content is read as null, at its own position.
        let absent = $crate::data::Node { span: $node.span, data: $crate::data::NodeData::Null };
        $r.read($content.unwrap_or(&absent)).map(Self::$variant)
    }};
    ($r:ident, $node:ident, $content:ident, $variant:ident $(by rule!($rule:tt))? [$list:ident]) => {{
        $crate::data::record::rule_of!($r, $node, stringify!($variant), rule $(by rule!($rule))?);
        let list = $content.unwrap_or($node);
        $r.items(list, stringify!($variant), rule)?;
        $r.read(list).map(Self::$variant)
    }};
    ($r:ident, $node:ident, $content:ident, $variant:ident $(by rule!($rule:tt))? ($($part:ident),+)) => {{
        $crate::data::record::rule_of!($r, $node, stringify!($variant), rule $(by rule!($rule))?);
        let [$($part),+] = $r.tuple($content.unwrap_or($node), stringify!($variant), rule)?;
        Ok(Self::$variant($($r.read($part)?),+))
    }};
}

/// Fires the rule of an alternative, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! rule_of {
    ($r:ident, $node:ident, $name:expr, $rule:ident) => {
        let $rule: Option<$crate::book::Rule> = None;
    };
    ($r:ident, $node:ident, $name:expr, $rule:ident by rule!($id:tt)) => {
        $r.by(rule!($id))?;
        let $rule = Some(rule!($id));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! write_alternative {
    ($variant:ident) => {
        $crate::data::NodeData::Variant(stringify!($variant).into(), None).into()
    };
    ($variant:ident ($only:ident)) => {
        $crate::data::Node::variant(stringify!($variant), $crate::data::Write::write($only))
    };
    ($variant:ident ($($part:ident),+)) => {
        $crate::data::Node::variant(
            stringify!($variant),
            $crate::data::NodeData::Tuple(vec![$($crate::data::Write::write($part)),+]).into(),
        )
    };
}

/// Implements the data form of a type that is one of several words: the names of its alternatives, or the words after
/// `=`.
#[doc(hidden)]
#[macro_export]
macro_rules! word {
    ($type:ty, $noun:literal { $($variant:ident $(= $word:literal)?),* $(,)? }) => {
        impl $crate::data::FromData for $type {
            fn read(
                r: &mut $crate::data::DataReader<'_>,
                node: &$crate::data::Node<'_>,
            ) -> $crate::data::DataResult<$type> {
                match node.as_variant() {
                    $(Some(($crate::data::record::spelling!($variant $($word)?), None)) => Ok(Self::$variant),)*
                    Some(_) | None => r.unexpected(node, $noun),
                }
            }
        }

        impl $crate::data::Write for $type {
            // An optional field may add nothing, so the list cannot be written as one literal.
            #[allow(clippy::vec_init_then_push)]
            fn write(&self) -> $crate::data::Node<'_> {
                let word = match self {
                    $(Self::$variant => $crate::data::record::spelling!($variant $($word)?),)*
                };
                $crate::data::NodeData::Variant(word.into(), None).into()
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! spelling {
    ($variant:ident) => {
        stringify!($variant)
    };
    ($variant:ident $word:expr) => {
        $word
    };
}

/// Whether a field differs from its default.
pub fn differs<T: PartialEq>(value: &T, default: &T) -> bool {
    value != default
}

pub use {
    choice, read_alternative, read_field, read_record, record, rule_of, spelling, word, write_alternative, write_field,
    write_record,
};
