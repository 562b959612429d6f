//! Comparisons of two elements, with broadcasting.

use std::cmp::Ordering;

use kernels::Comparison;

use crate::ops::kernel::elementwise::{comparison, infer_comparison};
use crate::ops::{OpDef, OpParam};

macro_rules! comparison {
    ($name:literal, $rules:tt, $comparison:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x1"), OpParam::Arg("x2")], infer_comparison, Exact, |m, a| {
            comparison(m, a, Comparison::$comparison, $f)
        })
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    comparison!("equal", [rule!("OPS.equal.infer"), rule!("OPS.equal.value")], Equal, |o| o == Some(Ordering::Equal)),
    comparison!("not_equal", [rule!("OPS.not_equal.infer"), rule!("OPS.not_equal.value")], Unequal, |o| o
        != Some(Ordering::Equal)),
    comparison!("less", [rule!("OPS.less.infer"), rule!("OPS.less.value")], Less, |o| o == Some(Ordering::Less)),
    comparison!("less_equal", [rule!("OPS.less_equal.infer"), rule!("OPS.less_equal.value")], AtMost, |o| matches!(
        o,
        Some(Ordering::Less | Ordering::Equal)
    )),
    comparison!("greater", [rule!("OPS.greater.infer"), rule!("OPS.greater.value")], Greater, |o| o
        == Some(Ordering::Greater)),
    comparison!(
        "greater_equal",
        [rule!("OPS.greater_equal.infer"), rule!("OPS.greater_equal.value")],
        AtLeast,
        |o| matches!(o, Some(Ordering::Greater | Ordering::Equal))
    ),
];
