//! Inference for a call whose arguments are values. Every size is a constant, so that all conditions are decided before
//! an operator runs, and the sizes of the result are known.

use std::borrow::Cow;

use super::{Infer, InferArgs};
use crate::grammar::{
    Call, DataTypeImm, Expr, FloatBits, PrimExpr, PrimStructInfo, PrimValue, Span, StringImm, StructInfo,
};
use crate::judge::{Cx, with_stack};
use crate::value::{Prim, Scalar, Stop, Value};

/// The structural information of the result, or the error of the inference.
///
/// The inference has a separate context, since the rule in progress is that of the operator's value.
pub(super) fn of_values(mut cx: Cx, infer: Option<Infer>, call: &Call, values: &[Value]) -> Result<StructInfo, Stop> {
    let Some(infer) = infer else { return Ok(StructInfo::Object) };
    let args: Vec<StructInfo> = values.iter().map(of_value).collect();
    let call = with_immediates(call, values);
    match super::inferred(infer, &mut cx, &InferArgs { call: &call, args: &args, module: None }) {
        // The implementation does not need information that inference does not give.
        Err(error) if error.limit => Ok(StructInfo::Object),
        inferred => Ok(inferred?),
    }
}

/// The structural information of a value, as far as tensor operators need it.
fn of_value(value: &Value) -> StructInfo {
    if let Value::Tensor(tensor) = value {
        StructInfo::tensor(dims(tensor.shape()), tensor.dtype())
    } else if let Value::Shape(sizes) = value {
        StructInfo::shape(dims(sizes))
    } else if let Value::Tuple(tuple) = value {
        with_stack(|| StructInfo::tuple(tuple.fields().iter().map(of_value)))
    } else if let Value::Prim(prim) = value {
        StructInfo::Prim(PrimStructInfo { dtype: prim.dtype, value: integer(prim) })
    } else {
        StructInfo::Object
    }
}

fn dims(sizes: &[i64]) -> impl Iterator<Item = PrimExpr> {
    sizes.iter().copied().map(PrimExpr::IntImm)
}

fn integer(prim: &Prim) -> Option<PrimExpr> {
    prim.value.to_dim().map(PrimExpr::IntImm)
}

/// The call with literals for the arguments that inference expects as literals.
fn with_immediates<'a>(call: &'a Call, values: &[Value]) -> Cow<'a, Call> {
    if values.iter().all(|value| matches!(value, Value::Tensor(_))) {
        return Cow::Borrowed(call);
    }
    let mut call = call.clone();
    for (arg, value) in call.args.iter_mut().zip(values) {
        if let Some(literal) = immediate(value) {
            *arg = literal;
        }
    }
    Cow::Owned(call)
}

fn immediate(value: &Value) -> Option<Expr> {
    match value {
        Value::Shape(sizes) => Some(Expr::shape(dims(sizes))),
        Value::Prim(prim) => Some(Expr::PrimValue(boxed(prim))),
        Value::Str(text) => Some(Expr::StringImm(StringImm { value: text.clone(), span: Span::NONE })),
        Value::DataType(dtype) => Some(Expr::DataTypeImm(DataTypeImm { value: *dtype, span: Span::NONE })),
        Value::Tuple(tuple) => {
            let fields = with_stack(|| tuple.fields().iter().map(immediate).collect::<Option<Vec<Expr>>>());
            fields.map(Expr::tuple)
        }
        Value::Tensor(_) | Value::Closure(_) | Value::PackedFunc(_) | Value::PrimFunc(_) | Value::Object(_) => None,
    }
}

fn boxed(prim: &Prim) -> PrimValue {
    let float = if let Scalar::Float(x) = prim.value { Some(FloatBits::new(x)) } else { None };
    let value = integer(prim).unwrap_or(PrimExpr::IntImm(0));
    PrimValue { value, dtype: prim.dtype, float, span: Span::NONE }
}
