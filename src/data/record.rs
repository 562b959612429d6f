//! The data form of types that are written as their fields, or as a named alternative.

/// A type that is written as its fields. Of each field it is said how it is read and written:
///
/// * `one`: it must be given, unless its type says what it is without;
/// * `or(default)`: it may be left out, and is written always;
/// * `unless(default)`: it may be left out, and is where it is that;
/// * `many`: a list that may be left out where it is empty, and is written always;
/// * `literal`: as `one`, and what cannot be read breaks the rule of the node;
/// * `ruled(rule!("ID"), default)`: as `unless`, and fires a rule of its own where it is given;
/// * `place`: no field of the data, but where it stands.
///
/// `by rule!("ID")` fires the rule of a node of the grammar, which is the one that a missing field breaks; `closed` refuses
/// fields that the type does not have.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($type:ty, $name:literal $(by rule!($rule:tt))?, $($closed:ident)? { $($fields:tt)* }) => {
        $crate::data::record::read_record!($type, $name $(by rule!($rule))?, $($closed)? { $($fields)* });
        $crate::data::record::write_record!($type, { $($fields)* });
    };
}

/// As `record!`, for types that are read in another way.
#[doc(hidden)]
#[macro_export]
macro_rules! write_record {
    ($type:ty, { $($field:ident: $how:ident $(($($arg:tt)*))?),* $(,)? }) => {
        impl $crate::data::Write for $type {
            // A field that may be absent adds nothing, so that a list cannot be written at once.
            #[allow(clippy::vec_init_then_push)]
            fn write(&self) -> $crate::data::Node<'_> {
                let mut fields = Vec::new();
                $($crate::data::record::write_field!(self, fields, $field $how $(($($arg)*))?);)*
                $crate::data::NodeData::Struct(fields).into()
            }
        }
    };
}

/// As `record!`, for types that are never written.
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

/// A type that is written as one of its alternatives, with what it holds: nothing, a value or several. `by rule!("ID")` fires
/// the rule of an alternative whose content has none, `[items]` is a list, whose absence breaks that rule; `first` is asked before.
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
        // What holds nothing is read as nothing, which has a place all the same.
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

/// A type that is one of several words: the names of its alternatives, or what stands behind them.
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
            // A field that may be absent adds nothing, so that a list cannot be written at once.
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

/// Whether a field is not what it is when it is left out.
pub fn differs<T: PartialEq>(value: &T, default: &T) -> bool {
    value != default
}

pub use {
    choice, read_alternative, read_field, read_record, record, rule_of, spelling, word, write_alternative, write_field,
    write_record,
};
