//! Comparisons of two elements, with broadcasting.

use std::cmp::Ordering;

use crate::ops::kernel::elementwise::{binary, compare, infer_comparison};
use crate::ops::{OpDef, OpParam};
use crate::value::Scalar;

macro_rules! comparison {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x1"), OpParam::Arg("x2")], infer_comparison, Exact, |m, a| {
            binary(m, a, |x, y| compare(x, y).map($f).map(Scalar::Bool))
        })
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    comparison!("equal", [rule!("OPS.equal.infer"), rule!("OPS.equal.value")], |o| o == Some(Ordering::Equal)),
    comparison!("not_equal", [rule!("OPS.not_equal.infer"), rule!("OPS.not_equal.value")], |o| o
        != Some(Ordering::Equal)),
    comparison!("less", [rule!("OPS.less.infer"), rule!("OPS.less.value")], |o| o == Some(Ordering::Less)),
    comparison!("less_equal", [rule!("OPS.less_equal.infer"), rule!("OPS.less_equal.value")], |o| matches!(
        o,
        Some(Ordering::Less | Ordering::Equal)
    )),
    comparison!("greater", [rule!("OPS.greater.infer"), rule!("OPS.greater.value")], |o| o == Some(Ordering::Greater)),
    comparison!("greater_equal", [rule!("OPS.greater_equal.infer"), rule!("OPS.greater_equal.value")], |o| matches!(
        o,
        Some(Ordering::Greater | Ordering::Equal)
    )),
];
