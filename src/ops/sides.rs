//! The choices that operators make for each element, and the sides that a call takes.

use super::kernel;
use crate::grammar::Name;
use crate::number::real::Real;
use crate::value::{Scalar, Side, Taken, Tensor, Value};

/// The sides between which an operator chooses for each element; empty if it makes no choice.
pub fn sides(op: &Name) -> &'static [Side] {
    match &**op {
        "relax.where" => &[Side::Holds, Side::Fails],
        "relax.maximum" | "relax.minimum" => &[Side::First, Side::Second],
        "relax.clip" => &[Side::Below, Side::Within, Side::Above],
        "relax.nn.relu" | "relax.nn.leakyrelu" | "relax.nn.prelu" => &[Side::Below, Side::Above],
        _ => &[],
    }
}

/// The sides that the elements of these arguments take.
pub fn taken(op: &Name, values: &[Value]) -> Taken {
    let mut taken = Taken::default();
    match (&**op, values) {
        ("relax.where", [Value::Tensor(condition), ..]) => {
            elements(condition).for_each(|x| taken.insert(Side::of_condition(x.is_true())));
        }
        ("relax.maximum", [Value::Tensor(x), Value::Tensor(y), ..]) => {
            larger(x, y, Side::First, Side::Second, &mut taken)
        }
        ("relax.minimum", [Value::Tensor(x), Value::Tensor(y), ..]) => {
            larger(x, y, Side::Second, Side::First, &mut taken)
        }
        ("relax.clip", [Value::Tensor(x), Value::Prim(low), Value::Prim(high), ..]) => {
            between(x, number(low.value), number(high.value), &mut taken);
        }
        ("relax.nn.relu" | "relax.nn.leakyrelu" | "relax.nn.prelu", [Value::Tensor(x), ..]) => {
            between(x, 0.0, 0.0, &mut taken);
        }
        _ => {}
    }
    taken
}

fn elements(x: &Tensor) -> impl Iterator<Item = Scalar> {
    (0..x.len()).filter_map(move |i| x.get(i))
}

/// The value as a float. Rounding may make two integers equal, which does not matter for the sides.
fn number(x: Scalar) -> f64 {
    match x {
        Scalar::Bool(x) => f64::from(u8::from(x)),
        Scalar::Int(x) => x as f64,
        Scalar::UInt(x) => x as f64,
        Scalar::Float(x) => x,
        Scalar::Ring(x) => x.near(),
    }
}

fn between(x: &Tensor, low: f64, high: f64, taken: &mut Taken) {
    for x in elements(x).map(number) {
        taken.insert(match x {
            x if x < low => Side::Below,
            x if x > high => Side::Above,
            _ => Side::Within,
        });
    }
}

/// Determines which of two tensors has the larger element, with broadcasting.
fn larger(x: &Tensor, y: &Tensor, first: Side, second: Side, taken: &mut Taken) {
    let Ok(shape) = kernel::broadcast(x.shape(), y.shape()) else { return };
    for index in kernel::indices(&shape) {
        if let (Ok(x), Ok(y)) = (kernel::at_broadcast(x, &index), kernel::at_broadcast(y, &index)) {
            let (x, y) = (number(x), number(y));
            if x > y {
                taken.insert(first);
            } else if y > x {
                taken.insert(second);
            }
        }
        if taken.contains(first) && taken.contains(second) {
            return;
        }
    }
}
