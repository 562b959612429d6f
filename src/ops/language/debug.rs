//! `print` and `assert_op`.

use crate::grammar::{Ndim, StructInfo};
use crate::judge::Cx;
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam, kernel};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "print",
        [rule!("OPS.print.infer"), rule!("OPS.print.value")],
        [OpParam::Rest("values")],
        infer_unit,
        Exact,
        print
    )
    .impure(),
    operator!(
        "assert_op",
        [rule!("OPS.assert_op.infer"), rule!("OPS.assert_op.value")],
        [OpParam::Arg("condition"), OpParam::Rest("format_args")],
        infer_assert,
        Exact,
        assert_op
    )
    .impure(),
];

/// The result is the empty tuple.
fn infer_unit(_: &mut Cx, _: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    Ok(StructInfo::tuple([]))
}

/// OPS.assert_op.infer: rejects a condition that is certainly not a Boolean.
fn infer_assert(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let wrong = |found: &StructInfo| InferError::op(format!("the condition must be a Boolean scalar, it is {found}"));
    match a.args.first() {
        Some(StructInfo::Prim(prim)) if prim.dtype.is_bool() => {}
        Some(StructInfo::Tensor(tensor))
            if matches!(tensor.ndim, Ndim::Known(0) | Ndim::Unknown)
                && (tensor.dtype.is_bool() || tensor.dtype.is_void()) => {}
        Some(other) => return Err(wrong(other)),
        None => return Err(InferError::op("the condition is missing")),
    }
    Ok(StructInfo::tuple([]))
}

/// PURE.EFFECT.IO: prints the values, which is a visible event.
fn print(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    m.print(printed(a.values))?;
    Ok(Value::unit())
}

/// The visible part of a printed format and its values: all of them, except an empty format.
pub(crate) fn printed(values: &[Value]) -> &[Value] {
    match values {
        [Value::Str(format), values @ ..] if format.is_empty() => values,
        values => values,
    }
}

/// PURE.EFFECT.ABORT: ends the program unless the condition holds.
fn assert_op(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let condition = a.values.first().ok_or_else(|| kernel::fail("the condition is missing"))?;
    assert_holds(m, condition)?;
    Ok(Value::unit())
}

/// Stops the program unless the value is a true Boolean, as a scalar tensor or boxed.
pub(crate) fn assert_holds(m: &mut dyn Host, condition: &Value) -> Result<(), Stop> {
    let scalar = |t: &Tensor| if t.shape().is_empty() { t.get(0) } else { None };
    let found = condition.as_prim().map(|prim| prim.value).or_else(|| condition.as_tensor().and_then(scalar));
    let Some(Scalar::Bool(holds)) = found else { return Err(kernel::fail("the condition must be a Boolean scalar")) };
    if m.cx().premise(rule!("PURE.EFFECT.ABORT"), 1, holds) {
        return Ok(());
    }
    Err(Stop::error(rule!("PURE.EFFECT.ABORT"), "an assertion failed"))
}
