//! `grad.no_grad`, `grad.start_checkpoint` and `grad.end_checkpoint`: markers for a transformation.

use crate::ops::kernel::elementwise::{infer_itself, itself};
use crate::ops::{OpDef, OpParam};

macro_rules! mark {
    ($name:literal, $rules:tt) => {
        operator!($name, $rules, [OpParam::Arg("input")], infer_itself, Exact, itself)
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    mark!("grad.no_grad", [rule!("OPS.grad.no_grad.infer"), rule!("OPS.grad.no_grad.value")]),
    mark!(
        "grad.start_checkpoint",
        [rule!("OPS.grad.start_checkpoint.infer"), rule!("OPS.grad.start_checkpoint.value")]
    ),
    mark!("grad.end_checkpoint", [rule!("OPS.grad.end_checkpoint.infer"), rule!("OPS.grad.end_checkpoint.value")]),
];
