//! For each attribute of each operator, the suite has at least two cases whose answer depends on its value. So an
//! implementation that ignores the attribute is noticed.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use relax_spec::book::Edition;
use relax_spec::data::json;
use relax_spec::grammar::{AttrValue, IrModule};
use relax_spec::judge::Cx;
use relax_spec::ops::{self, AttrDefault, AttrKind, OpDef, OpParam};
use relax_spec::oracle;
use relax_spec::question::{Ask, Outcome, ProgramInput};
use relax_spec::suite::Case;
use relax_spec::syntax::tvmscript::parse_module;
use serde_json::{Map, Value};

/// Floats as data: the bits of 0.5 and 2.
const HALF: &str = r#"{"Float":"3fe0000000000000"}"#;
const TWO: &str = r#"{"Float":"4000000000000000"}"#;

/// The number of other values to try in one case.
const OTHERS: usize = 6;

/// Attributes that never change an answer, with the reason.
const WITHOUT_EFFECT: [(&str, &str, &str); 12] = [
    ("relax.call_tir_with_grad", "te_grad_name", "what is said of the gradient has no meaning when it is run"),
    ("relax.ccl.allgather", "in_group", "there is one group, which has all workers"),
    ("relax.ccl.allreduce", "in_group", "there is one group, which has all workers"),
    ("relax.grad.max_pool2d_backward", "count_include_pad", "as of nn.max_pool2d"),
    ("relax.hint_on_device", "memory_scope", "a hint names a device by its type and id"),
    ("relax.layout_transform", "axis_separators", "says how axes lie in memory, and changes no element"),
    ("relax.layout_transform", "input_axis_separators", "says how axes lie in memory, and changes no element"),
    ("relax.nn.dropout", "rate", "outside of training nothing is dropped"),
    ("relax.nn.max_pool1d", "count_include_pad", "places in the padding never count"),
    ("relax.nn.max_pool2d", "count_include_pad", "places in the padding never count"),
    ("relax.nn.max_pool3d", "count_include_pad", "places in the padding never count"),
    ("relax.vision.roi_pool", "layout", "NCHW is the only one"),
];

/// A case that runs or types a program, with the program as data.
struct ProgramCase<'s> {
    case: &'s Case,
    module: Value,
    operators: BTreeSet<String>,
}

impl<'s> ProgramCase<'s> {
    fn of(case: &'s Case) -> Option<ProgramCase<'s>> {
        let (Ask::Evaluate(program, ..) | Ask::DeriveVar(program, ..)) = &case.ask else { return None };
        let module = match program {
            ProgramInput::Script(text) => parse_module(text).ok()?,
            ProgramInput::Module(module) => module.clone(),
        };
        let mut module = json::to_value(&module);
        let mut operators = BTreeSet::new();
        for_each_call(&mut module, &mut |name, _| {
            operators.insert(name.to_string());
        });
        Some(ProgramCase { case, module, operators })
    }

    fn edition(&self) -> Edition {
        self.case.editions.first().copied().unwrap_or_default()
    }

    fn answer(&self, module: &Value) -> Option<String> {
        let module: IrModule = relax_spec::data::from_json(&module.to_string()).ok()?;
        let module = ProgramInput::Module(module);
        let ask = match &self.case.ask {
            Ask::Evaluate(_, entry, args) => Ask::Evaluate(module, entry.clone(), args.clone()),
            Ask::DeriveVar(_, function, var) => Ask::DeriveVar(module, function.clone(), var.clone()),
            _ => return None,
        };
        match oracle::outcome(&mut Cx::new().with_edition(self.edition()), &ask) {
            Outcome::Answer { answer, .. } => Some(json::to_value(&answer).to_string()),
            _ => None,
        }
    }

    /// The values of an attribute in the calls of an operator, including absence.
    fn values(&self, op: &str, attr: &str) -> BTreeSet<String> {
        let mut values = BTreeSet::new();
        for_each_call(&mut self.module.clone(), &mut |name, attrs| {
            if name == op {
                values.insert(attrs.get(attr).map_or(String::new(), Value::to_string));
            }
        });
        values
    }

    /// Whether a different value in all calls of the operator changes the answer.
    fn notices(&self, op: &str, attr: &str, others: &BTreeSet<String>) -> bool {
        let own = self.values(op, attr);
        let Some(answer) = self.answer(&self.module) else { return false };
        others.difference(&own).take(OTHERS).any(|other| {
            let mut module = self.module.clone();
            for_each_call(&mut module, &mut |name, attrs| {
                if name == op {
                    match serde_json::from_str(other) {
                        Ok(value) => drop(attrs.insert(attr.to_string(), value)),
                        Err(_) => drop(attrs.remove(attr)),
                    }
                }
            });
            self.answer(&module).is_some_and(|changed| changed != answer)
        })
    }
}

/// Visits each call of an operator in a program as data, with the name of the operator and the attributes.
fn for_each_call(value: &mut Value, on: &mut dyn FnMut(&str, &mut Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_call(item, on)),
        Value::Object(fields) => {
            if let Some(Value::Object(call)) = fields.get_mut("Call")
                && let Some(name) = call["op"]["Op"]["op_name"].as_str().map(str::to_string)
            {
                let attrs = call.entry("attrs").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(attrs) = attrs {
                    on(&name, attrs);
                }
            }
            fields.values_mut().for_each(|field| for_each_call(field, on));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Values of each kind in addition to those of the suite.
fn usual(kind: AttrKind) -> Vec<String> {
    let values: &[&str] = match kind {
        AttrKind::Int | AttrKind::IntOrNone => &[r#"{"Int":0}"#, r#"{"Int":1}"#, r#"{"Int":2}"#],
        AttrKind::Bool => &[r#"{"Bool":false}"#, r#"{"Bool":true}"#],
        AttrKind::Float => &[HALF, TWO],
        AttrKind::DataType => &[r#"{"DataType":"float32"}"#, r#"{"DataType":"int32"}"#],
        AttrKind::Str(known) => return known.iter().map(|text| format!(r#"{{"Str":"{text}"}}"#)).collect(),
        AttrKind::Ints | AttrKind::Floats | AttrKind::IndexMap | AttrKind::Any | AttrKind::Opaque => &[],
    };
    values.iter().map(|value| (*value).to_string()).collect()
}

fn noticing(op: &OpDef, cases: &[ProgramCase]) -> Vec<(String, usize)> {
    let of_op: Vec<&ProgramCase> = cases.iter().filter(|case| case.operators.contains(op.name)).collect();
    let attrs = op.params.iter().filter_map(|param| if let OpParam::Attr(attr) = param { Some(attr) } else { None });
    let counted = attrs.filter(|attr| attr.kind != AttrKind::Opaque).map(|attr| {
        let mut values: BTreeSet<String> = of_op.iter().flat_map(|case| case.values(op.name, attr.name)).collect();
        values.extend(usual(attr.kind));
        if attr.default != AttrDefault::Required {
            values.insert(String::new());
        }
        let noticed = of_op.iter().filter(|case| case.notices(op.name, attr.name, &values)).take(2).count();
        (attr.name.to_string(), noticed)
    });
    counted.collect()
}

#[test]
fn two_cases_notice_each_attribute() {
    let suite = ask::conformance::suite().expect("the suite");
    let cases: Vec<ProgramCase> = suite.iter().filter_map(ProgramCase::of).collect();
    let operators: Vec<&OpDef> = ops::all().collect();
    let counted: BTreeMap<&str, Vec<(String, usize)>> =
        operators.par_iter().map(|op| (op.name, noticing(op, &cases))).collect();
    let known = |op: &str, attr: &str| WITHOUT_EFFECT.iter().any(|(known, name, _)| *known == op && *name == attr);
    let few: Vec<String> = counted
        .iter()
        .flat_map(|(op, attrs)| attrs.iter().map(move |(attr, count)| (op, attr, count)))
        .filter(|(op, attr, count)| **count < 2 && !known(op, attr))
        .map(|(op, attr, count)| format!("{op} {attr}: {count}"))
        .collect();
    assert!(few.is_empty(), "{} attributes that fewer than two cases notice:\n{}", few.len(), few.join("\n"));
    for (op, attr, why) in WITHOUT_EFFECT {
        let stale = counted.get(op).is_none_or(|attrs| attrs.iter().any(|(name, count)| name == attr && *count > 0));
        assert!(!stale, "{op} {attr} is noticed, or gone: {why}");
    }
}

/// An invalid value would notice nothing.
#[test]
fn the_usual_values_are_values() {
    let kinds = [AttrKind::Int, AttrKind::Bool, AttrKind::Float, AttrKind::DataType, AttrKind::Str(&["NCHW"])];
    for value in kinds.into_iter().flat_map(usual) {
        let read = relax_spec::data::from_json::<AttrValue>(&value);
        assert!(read.is_ok(), "{value}: {read:?}");
    }
}
