//! `print` and `assert_op`.

use crate::grammar::{DataType, Ndim, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::tensor;
use crate::ops::{Accuracy, Attr, AttrKind, Clauses, EvalArgs, InferArgs, InferError, OpDef, Param, kernel};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    OpDef {
        name: "relax.print",
        params: &[Param::Rest("values")],
        pure: false,
        infer: Some(infer_unit),
        eval: print,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
    OpDef {
        name: "relax.assert_op",
        params: &[
            Param::Arg("condition"),
            Param::Rest("format_args"),
            Param::Attr(Attr::optional("format", AttrKind::Any)),
        ],
        pure: false,
        infer: Some(infer_assert),
        eval: assert_op,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
];

/// The result is the empty tuple.
fn infer_unit(_: &mut Cx, _: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    Ok(StructInfo::tuple([]))
}

fn infer_assert(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let condition = tensor(a, 0)?;
    let scalar = matches!(condition.ndim, Ndim::Known(0) | Ndim::Unknown);
    if !scalar || !(condition.dtype.is_bool() || condition.dtype.is_void()) {
        return Err(InferError::op(format!("the condition must be a Boolean scalar, it is {condition}")));
    }
    Ok(StructInfo::tuple([]))
}

/// PURE.EFFECT.IO: the values are printed, which is a visible event.
fn print(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    m.print(printed(a.values))?;
    Ok(Value::unit())
}

/// What is seen of a printed format and the values after it: all of them. An empty format says nothing.
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

/// Stops the program unless a value is a true Boolean scalar.
pub(crate) fn assert_holds(m: &mut dyn Host, condition: &Value) -> Result<(), Stop> {
    let condition = condition.as_tensor().filter(|t| t.dtype() == DataType::BOOL && t.shape().is_empty());
    let Some(condition) = condition else { return Err(kernel::fail("the condition must be a Boolean scalar")) };
    let holds = kernel::at(condition, &[])?.is_true();
    if m.cx().premise(rule!("PURE.EFFECT.ABORT"), 1, holds) {
        return Ok(());
    }
    Err(Stop::error(rule!("PURE.EFFECT.ABORT"), "an assertion failed"))
}
