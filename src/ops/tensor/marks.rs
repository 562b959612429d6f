//! Markers for transformations, which change nothing: parameters and devices.

use crate::grammar::{DataType, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::arity;
use crate::ops::kernel::elementwise::{infer_same, itself};
use crate::ops::kernel::{self, at, fresh, tabulate};
use crate::ops::tensor::conversion::{astype, infer_astype};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "builtin.stop_lift_params",
        [rule!("OPS.builtin.stop_lift_params.infer"), rule!("OPS.builtin.stop_lift_params.value")],
        [OpParam::Arg("x")],
        infer_same,
        Exact,
        itself
    ),
    operator!(
        "wrap_param",
        [rule!("OPS.wrap_param.infer"), rule!("OPS.wrap_param.value"), rule!("OPS.wrap_param.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::dtype("dtype", DataType::FLOAT32))],
        infer_astype,
        Exact,
        astype
    ),
    operator!(
        "to_vdevice",
        [rule!("OPS.to_vdevice.infer"), rule!("OPS.to_vdevice.value"), rule!("OPS.to_vdevice.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::required("dst_vdevice", AttrKind::Opaque))],
        infer_same,
        Exact,
        transfer
    ),
    operator!(
        "hint_on_device",
        [rule!("OPS.hint_on_device.infer"), rule!("OPS.hint_on_device.value"), rule!("OPS.hint_on_device.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::optional("device_type", AttrKind::Int)),
            OpParam::Attr(Attr::optional("index", AttrKind::Int)),
            OpParam::Attr(Attr::str("memory_scope", &[], "global")),
        ],
        infer_same,
        Exact,
        copy
    ),
    operator!(
        "null_value",
        [rule!("OPS.null_value.infer"), rule!("OPS.null_value.value")],
        [],
        infer_null_value,
        Exact,
        null_value
    ),
];

fn infer_null_value(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<0>(a)?;
    Ok(StructInfo::Object)
}

/// OP.NULLVALUE, VAL.NULL: the null object.
fn null_value(m: &mut dyn Host, _: &EvalArgs<'_>) -> Result<Value, Stop> {
    let null = m.cx().conclude(rule!("OP.NULLVALUE"), Value::object("the null value"));
    Ok(m.cx().conclude(rule!("VAL.NULL"), null))
}

/// DEV.TRANSFER: a tensor with the same elements on the other device.
fn transfer(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let moved = copy(m, a)?;
    Ok(m.cx().conclude(rule!("DEV.TRANSFER"), moved))
}

/// A tensor with the same elements.
fn copy(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    fresh(tabulate(m, x.dtype(), x.shape(), |index| at(x, index))?)
}
