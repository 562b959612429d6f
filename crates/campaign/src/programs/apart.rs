//! Calls that differ from a given one in a single attribute, so that every value of an attribute is drawn, and not only
//! those in the cases.

use crate::calls::RandomCall;
use relax_spec::grammar::{AttrValue, DataType, FloatBits};
use relax_spec::ops::{Attr, AttrDefault, AttrKind};

const INTS: [i64; 4] = [0, 1, -1, 2];
const FLOATS: [f64; 4] = [0.5, 2.0, 0.0, -1.0];
const DTYPES: [DataType; 4] = [DataType::FLOAT32, DataType::FLOAT64, DataType::INT32, DataType::INT64];

/// The calls, attribute by attribute, in the order of the operator's parameters. They may fail.
pub fn one_attribute_apart(call: &RandomCall) -> Vec<RandomCall> {
    let with = |attr: Attr, value: AttrValue| {
        let mut other = call.clone();
        other.attrs.insert(attr.name.into(), value);
        other
    };
    call.op
        .attrs()
        .flat_map(|attr| others(attr, call.attrs.get(attr.name)).map(move |value| with(attr, value)))
        .collect()
}

/// Values of an attribute other than its current one, given or by default.
fn others(attr: Attr, present: Option<&AttrValue>) -> impl Iterator<Item = AttrValue> {
    let now = present.cloned().or_else(|| by_default(attr.default));
    values(attr.kind, now.as_ref()).into_iter().filter(move |value| Some(value) != now.as_ref())
}

fn values(kind: AttrKind, now: Option<&AttrValue>) -> Vec<AttrValue> {
    let ints = || INTS.map(AttrValue::Int).to_vec();
    let floats = || FLOATS.map(|value| AttrValue::Float(FloatBits::new(value))).to_vec();
    match kind {
        AttrKind::Int => ints(),
        AttrKind::IntOrNone => [AttrValue::None].into_iter().chain(ints()).collect(),
        AttrKind::Bool => [false, true].map(AttrValue::Bool).to_vec(),
        AttrKind::Float => floats(),
        AttrKind::Ints => lists(ints(), now),
        AttrKind::Floats => lists(floats(), now),
        AttrKind::DataType => DTYPES.map(AttrValue::DataType).to_vec(),
        AttrKind::Str(choices) => choices.iter().map(|choice| AttrValue::Str((*choice).into())).collect(),
        // Only the case shows valid values.
        AttrKind::IndexMap | AttrKind::Any | AttrKind::Opaque => Vec::new(),
    }
}

/// Lists of the same length as the current one: the reverse, all items equal, and one item different.
fn lists(items: Vec<AttrValue>, now: Option<&AttrValue>) -> Vec<AttrValue> {
    let Some(AttrValue::List(present)) = now else { return items };
    let backwards = AttrValue::List(present.iter().rev().cloned().collect());
    let alike = items.iter().map(|item| AttrValue::List(vec![item.clone(); present.len()]));
    let other_at = |at: usize| {
        let item = items.iter().find(|item| present.get(at) != Some(item))?;
        let mut list = present.clone();
        list.get_mut(at)?.clone_from(item);
        Some(AttrValue::List(list))
    };
    [backwards].into_iter().chain(alike).chain((0..present.len()).filter_map(other_at)).collect()
}

fn by_default(default: AttrDefault) -> Option<AttrValue> {
    match default {
        AttrDefault::Required | AttrDefault::Absent => None,
        AttrDefault::Int(value) => Some(AttrValue::Int(value)),
        AttrDefault::Bool(value) => Some(AttrValue::Bool(value)),
        AttrDefault::Float(value) => Some(AttrValue::Float(FloatBits::new(value))),
        AttrDefault::Ints(values) => Some(AttrValue::List(values.iter().copied().map(AttrValue::Int).collect())),
        AttrDefault::Floats(values) => {
            Some(AttrValue::List(values.iter().map(|value| AttrValue::Float(FloatBits::new(*value))).collect()))
        }
        AttrDefault::Str(value) => Some(AttrValue::Str(value.into())),
        AttrDefault::DataType(value) => Some(AttrValue::DataType(value)),
    }
}
