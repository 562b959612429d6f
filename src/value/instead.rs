//! The values and stops that stand in when the rule that concludes them is switched off.

use super::{Prim, Scalar, Stop, Tensor, Value};
use crate::book::Rule;
use crate::judge::{Instead, MaskedFreshness, with_stack};
use crate::number::real::Real;
use crate::number::ring::RingNumber;

/// The rules that state that a value is the same object, not a copy.
const THIS_VERY_OBJECT: &[Rule] = &[
    rule!("EVAL.BYREF"),
    rule!("EVAL.CALL.CLOSURE.ALIAS"),
    rule!("EVAL.CALL.OP.ALIAS"),
    rule!("EVAL.CALL.OP.MUTATE"),
    rule!("EVAL.FUNC.BYREF"),
    rule!("EVAL.SEQ.MATCHCAST.BIND"),
    rule!("EVAL.VAR"),
    rule!("OP.CALLDPS.MUTATE-ARGS"),
    rule!("R89.VM.RET"),
    rule!("SI.BOUNDARY.RET.ORDER"),
    rule!("SI.MATCHCAST.RESULT"),
    rule!("VAL.OBJECT.FAITHFUL"),
];

/// A copy where the rule demands the same object, and an old object where it demands a new one. Otherwise a different
/// value, of the same category if possible.
impl Instead for Value {
    fn instead_of_new(self, rule: Rule, made: &mut MaskedFreshness) -> Value {
        if rule == rule!("OP.SHAPEOF.FRESH") {
            return made.before(rule, self, |a, b| a.as_shape() == b.as_shape());
        }
        if rule == rule!("EVAL.TUPLE.FRESH") {
            return made.before(rule, self, have_same_fields);
        }
        self.instead(rule)
    }

    fn instead(self, rule: Rule) -> Value {
        if THIS_VERY_OBJECT.contains(&rule) {
            return copy(&self);
        }
        match self {
            Value::Tensor(t) => Value::Tensor(t.instead(rule)),
            Value::Tuple(t) => match t.fields().split_last() {
                Some((_, rest)) => Value::tuple(rest.to_vec()),
                None => Value::shape(&[]),
            },
            Value::Shape(dims) if dims.is_empty() => Value::shape(&[1]),
            Value::Shape(dims) => Value::shape(&dims.iter().map(|size| size.instead(rule)).collect::<Vec<i64>>()),
            Value::Prim(prim) => Value::Prim(Prim { value: prim.value.instead(rule), ..prim }),
            Value::Str(text) => Value::Str(text.instead(rule)),
            Value::DataType(dtype) => Value::DataType(dtype.instead(rule)),
            Value::Closure(_) | Value::PackedFunc(_) | Value::PrimFunc(_) => Value::object("no function"),
            Value::Object(_) => Value::unit(),
        }
    }
}

/// Different elements; one element if there are none.
impl Instead for Tensor {
    fn instead(self, rule: Rule) -> Tensor {
        let sizes: Vec<i64> = self.shape().iter().map(|size| (*size).max(1)).collect();
        let Ok(other) = Tensor::zeros(self.dtype(), &sizes) else { return self };
        let element = |i: usize| Ok::<Scalar, Stop>(self.get(i).map_or(Scalar::Int(1), |x| x.instead(rule)));
        match other.fill(element) {
            Ok(()) => other,
            Err(_) => self,
        }
    }
}

/// The negation of a Boolean, the next integer, or a float on the other side of zero.
impl Instead for Scalar {
    fn instead(self, _: Rule) -> Scalar {
        match self {
            Scalar::Bool(b) => Scalar::Bool(!b),
            Scalar::Int(i) => Scalar::Int(i.wrapping_add(1)),
            Scalar::UInt(u) => Scalar::UInt(u.wrapping_add(1)),
            Scalar::Float(x) if x.is_nan() => Scalar::Float(0.0),
            Scalar::Float(-0.5) => Scalar::Float(0.5),
            Scalar::Float(x) => Scalar::Float(-x - 1.0),
            Scalar::Ring(x) => Scalar::Ring(x.plus(RingNumber::of_float(1.0))),
        }
    }
}

/// Whether two tuples hold the same objects.
fn have_same_fields(a: &Value, b: &Value) -> bool {
    match (a.as_tuple(), b.as_tuple()) {
        (Some(a), Some(b)) => a.len() == b.len() && a.fields().iter().zip(b.fields()).all(|(a, b)| a.same_as(b)),
        (None, _) | (_, None) => false,
    }
}

/// The value of a constant, with the address of the constant. Where a new value is demanded, an old one with the same
/// address stands in.
impl Instead for (usize, Result<Value, Stop>) {
    fn instead(self, _: Rule) -> Self {
        self
    }

    fn instead_of_new(self, rule: Rule, made: &mut MaskedFreshness) -> Self {
        made.before(rule, self, |a, b| a.0 == b.0)
    }
}

/// The value that passing by value would produce. It shares no tensor and no object with the original.
fn copy(value: &Value) -> Value {
    match value {
        Value::Tensor(t) => Value::Tensor(Tensor::from_elements(t.elements().clone())),
        Value::Tuple(t) => Value::tuple(t.fields().iter().map(|field| with_stack(|| copy(field))).collect()),
        Value::Object(o) => Value::object(o.description),
        Value::Shape(_)
        | Value::Closure(_)
        | Value::PackedFunc(_)
        | Value::PrimFunc(_)
        | Value::Prim(_)
        | Value::Str(_)
        | Value::DataType(_) => value.clone(),
    }
}

/// A different value; unit in place of an error.
impl Instead for Result<Value, Stop> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(value) => Ok(value.instead(rule)),
            Err(Stop::Error(_) | Stop::Unspecified(_) | Stop::Unknown(_)) => Ok(Value::unit()),
            Err(Stop::OutOfFuel) => Err(Stop::OutOfFuel),
        }
    }
}

/// Success in place of an error, and the other way round; the new error names a different rule.
impl Instead for Result<(), Stop> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(()) => {
                let blamed = [rule!("SI.MATCHCAST.ERR"), rule!("SI.BOUNDARY.PARAM")].into_iter().find(|r| *r != rule);
                Err(blamed.map_or(Stop::OutOfFuel, |blamed| Stop::error(blamed, "refused without a reason")))
            }
            Err(Stop::Error(_) | Stop::Unspecified(_) | Stop::Unknown(_)) => Ok(()),
            Err(Stop::OutOfFuel) => Err(Stop::OutOfFuel),
        }
    }
}
