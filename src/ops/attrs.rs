//! The attributes of operators as data: kind, default, and allowed values.

use super::{InferError, OpDef, OpParam};
use crate::grammar::{AttrValue, Attrs, Call, DataType, FloatBits, PrimExpr};

/// An attribute of an operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attr {
    /// The name as written in a call.
    pub name: &'static str,
    /// The allowed values.
    pub kind: AttrKind,
    /// The default.
    pub default: AttrDefault,
}

/// The allowed values of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrKind {
    /// An integer.
    Int,
    /// An integer or `None`. `None` differs from an omitted attribute.
    IntOrNone,
    /// A truth value. The syntax tree has the integer 0 or 1.
    Bool,
    /// A number.
    Float,
    /// A list of integers. A single integer stands for a list of one.
    Ints,
    /// A list of numbers. A single number stands for a list of equal ones.
    Floats,
    /// A data type, by its name.
    DataType,
    /// One of these strings; any string if the list is empty.
    Str(&'static [&'static str]),
    /// A mapping of indices.
    IndexMap,
    /// Any value; the operator interprets it.
    Any,
    /// Any value; it is kept but has no meaning here, for example a device.
    Opaque,
}

/// The value of an omitted attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrDefault {
    /// The call must give it.
    Required,
    /// An omitted attribute has its own meaning.
    Absent,
    /// This integer.
    Int(i64),
    /// This truth value.
    Bool(bool),
    /// This number.
    Float(f64),
    /// These integers.
    Ints(&'static [i64]),
    /// These numbers.
    Floats(&'static [f64]),
    /// This word.
    Str(&'static str),
    /// This data type.
    DataType(DataType),
}

impl Attr {
    /// An integer with a default.
    pub const fn int(name: &'static str, default: i64) -> Attr {
        Attr { name, kind: AttrKind::Int, default: AttrDefault::Int(default) }
    }

    /// An integer with a default, or `None`.
    pub const fn int_or_none(name: &'static str, default: i64) -> Attr {
        Attr { name, kind: AttrKind::IntOrNone, default: AttrDefault::Int(default) }
    }

    /// A truth value with a default.
    pub const fn bool(name: &'static str, default: bool) -> Attr {
        Attr { name, kind: AttrKind::Bool, default: AttrDefault::Bool(default) }
    }

    /// A number with a default.
    pub const fn float(name: &'static str, default: f64) -> Attr {
        Attr { name, kind: AttrKind::Float, default: AttrDefault::Float(default) }
    }

    /// A list of integers with a default.
    pub const fn ints(name: &'static str, default: &'static [i64]) -> Attr {
        Attr { name, kind: AttrKind::Ints, default: AttrDefault::Ints(default) }
    }

    /// A list of numbers with a default.
    pub const fn floats(name: &'static str, default: &'static [f64]) -> Attr {
        Attr { name, kind: AttrKind::Floats, default: AttrDefault::Floats(default) }
    }

    /// One of some words, with a default among them.
    pub const fn str(name: &'static str, choices: &'static [&'static str], default: &'static str) -> Attr {
        Attr { name, kind: AttrKind::Str(choices), default: AttrDefault::Str(default) }
    }

    /// A data type with a default.
    pub const fn dtype(name: &'static str, default: DataType) -> Attr {
        Attr { name, kind: AttrKind::DataType, default: AttrDefault::DataType(default) }
    }

    /// An attribute whose omission has its own meaning.
    pub const fn optional(name: &'static str, kind: AttrKind) -> Attr {
        Attr { name, kind, default: AttrDefault::Absent }
    }

    /// An attribute that every call gives.
    pub const fn required(name: &'static str, kind: AttrKind) -> Attr {
        Attr { name, kind, default: AttrDefault::Required }
    }
}

impl AttrKind {
    fn admits(self, value: &AttrValue) -> bool {
        let is_int = matches!(value, AttrValue::Int(_));
        let is_constant = matches!(value, AttrValue::Prim(PrimExpr::IntImm(_)));
        let each = |kind: AttrKind| value.as_list().is_some_and(|items| items.iter().all(|item| kind.admits(item)));
        match self {
            AttrKind::Any | AttrKind::Opaque => true,
            AttrKind::IndexMap => matches!(value, AttrValue::IndexMap(_)),
            AttrKind::Int => is_int || is_constant,
            AttrKind::IntOrNone => is_int || is_constant || *value == AttrValue::None,
            AttrKind::Ints => is_int || is_constant || each(AttrKind::Int),
            AttrKind::Bool => is_int || matches!(value, AttrValue::Bool(_)),
            AttrKind::Float => is_int || matches!(value, AttrValue::Float(_)),
            AttrKind::Floats => AttrKind::Float.admits(value) || each(AttrKind::Float),
            AttrKind::DataType => match value {
                AttrValue::DataType(_) => true,
                value => value.as_str().is_some_and(|text| text.is_empty() || text.parse::<DataType>().is_ok()),
            },
            AttrKind::Str(choices) => {
                value.as_str().is_some_and(|text| choices.is_empty() || choices.contains(&text.as_ref()))
            }
        }
    }

    fn describe(self) -> String {
        match self {
            AttrKind::Int => "an integer".into(),
            AttrKind::IntOrNone => "an integer or None".into(),
            AttrKind::Bool => "a Boolean".into(),
            AttrKind::Float => "a number".into(),
            AttrKind::Ints => "a list of integers".into(),
            AttrKind::Floats => "a list of numbers".into(),
            AttrKind::DataType => "a data type".into(),
            AttrKind::Str([]) => "a string".into(),
            AttrKind::Str(choices) => format!("one of {}", choices.join(", ")),
            AttrKind::IndexMap => "an index map".into(),
            AttrKind::Any | AttrKind::Opaque => "a value".into(),
        }
    }
}

impl AttrDefault {
    fn value(self) -> Option<AttrValue> {
        match self {
            AttrDefault::Required | AttrDefault::Absent => None,
            AttrDefault::Int(i) => Some(AttrValue::Int(i)),
            AttrDefault::Bool(b) => Some(AttrValue::Bool(b)),
            AttrDefault::Float(x) => Some(AttrValue::Float(FloatBits::new(x))),
            AttrDefault::Ints(items) => Some(AttrValue::List(items.iter().map(|i| AttrValue::Int(*i)).collect())),
            AttrDefault::Floats(items) => {
                let float = |x: &f64| AttrValue::Float(FloatBits::new(*x));
                Some(AttrValue::List(items.iter().map(float).collect()))
            }
            AttrDefault::Str(text) => Some(AttrValue::Str(text.into())),
            AttrDefault::DataType(dtype) => Some(AttrValue::DataType(dtype)),
        }
    }
}

impl OpDef {
    /// The attributes of the operator.
    pub fn attrs(&self) -> impl Iterator<Item = Attr> + '_ {
        self.params.iter().filter_map(|param| if let OpParam::Attr(attr) = param { Some(*attr) } else { None })
    }

    /// The call with the defaults of omitted attributes. An error if a required one is missing or one has the wrong
    /// kind.
    pub(crate) fn completed(&self, call: &Call) -> Result<Call, InferError> {
        let mut call = call.clone();
        for attr in self.attrs() {
            complete(&mut call.attrs, attr)?;
        }
        Ok(call)
    }
}

impl OpDef {
    /// The attributes of a call, with the defaults of omitted ones, each in one spelling. A single integer that stands
    /// for a list becomes one, with as many items as there are axes if it stands for all of them. `None` if an
    /// attribute is missing or has the wrong kind.
    pub fn spelled_out(&self, call: &Call) -> Option<Attrs> {
        let mut attrs = self.completed(call).ok()?.attrs;
        // An adaptive window has one size for each axis of the layout but the batch and the channels.
        let layout = attrs.get("layout").and_then(AttrValue::as_str).map_or(0, |layout| layout.len());
        for attr in self.attrs() {
            let wanted = match attr.default {
                AttrDefault::Ints(items) => items.len(),
                _ if attr.name == "output_size" => layout.saturating_sub(2),
                _ => 0,
            };
            if let Some(value) = attrs.get_mut(attr.name) {
                *value = repeated(attr.kind.spelled_out(value), wanted);
            }
        }
        Some(attrs)
    }
}

/// A list that is shorter than it has to be stands for one that repeats it.
fn repeated(value: AttrValue, wanted: usize) -> AttrValue {
    match value {
        AttrValue::List(items) if !items.is_empty() && items.len() < wanted && wanted.is_multiple_of(items.len()) => {
            AttrValue::List(items.iter().cycle().take(wanted).cloned().collect())
        }
        value => value,
    }
}

impl AttrKind {
    fn spelled_out(self, value: &AttrValue) -> AttrValue {
        let each = |kind: AttrKind, items: &[AttrValue]| {
            AttrValue::List(items.iter().map(|item| kind.spelled_out(item)).collect())
        };
        match (self, value) {
            (
                AttrKind::Int | AttrKind::IntOrNone | AttrKind::Bool | AttrKind::Any,
                AttrValue::Prim(PrimExpr::IntImm(value)),
            ) => AttrValue::Int(*value),
            (AttrKind::Bool, AttrValue::Bool(value)) => AttrValue::Int((*value).into()),
            (AttrKind::Float, AttrValue::Int(value)) => AttrValue::Float(FloatBits::new(*value as f64)),
            (AttrKind::Ints, AttrValue::List(items)) => each(AttrKind::Int, items),
            (AttrKind::Floats, AttrValue::List(items)) => each(AttrKind::Float, items),
            (AttrKind::Ints, value) if self.admits(value) => AttrValue::List(vec![AttrKind::Int.spelled_out(value)]),
            (AttrKind::Floats, value) => AttrKind::Float.spelled_out(value),
            (AttrKind::DataType, AttrValue::Str(text)) => {
                text.parse().map_or_else(|_| value.clone(), AttrValue::DataType)
            }
            (
                AttrKind::Int
                | AttrKind::IntOrNone
                | AttrKind::Bool
                | AttrKind::Float
                | AttrKind::Ints
                | AttrKind::DataType
                | AttrKind::Str(_)
                | AttrKind::IndexMap
                | AttrKind::Any
                | AttrKind::Opaque,
                value,
            ) => value.clone(),
        }
    }
}

fn complete(attrs: &mut Attrs, attr: Attr) -> Result<(), InferError> {
    match (attrs.get(attr.name), attr.default.value()) {
        (Some(AttrValue::None), _) if attr.kind == AttrKind::IntOrNone => {}
        (Some(AttrValue::None) | None, Some(default)) => {
            attrs.insert(attr.name.into(), default);
        }
        (Some(AttrValue::None) | None, None) if attr.default == AttrDefault::Required => {
            return Err(InferError::op(format!("the attribute `{}` is missing", attr.name)));
        }
        (Some(AttrValue::None) | None, None) => {}
        (Some(given), _) if attr.kind.admits(given) => {}
        (Some(given), _) => {
            let (name, kind) = (attr.name, attr.kind.describe());
            return Err(InferError::op(format!("the attribute `{name}` must be {kind}, it is {given}")));
        }
    }
    Ok(())
}
