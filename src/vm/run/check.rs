//! The checks of values at the boundaries of functions and in match casts, one by one.

use crate::book::Rule;
use crate::grammar::DataType;
use crate::judge::{Cx, RuntimeError};
use crate::value::{Prim, Scalar, Stop, Tensor, TupleObj, Value};

fn demand(holds: bool, rule: Rule, message: impl FnOnce() -> String) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::error(rule, message())) }
}

/// A tensor, of this rank and datatype if they are given.
pub(super) fn tensor(v: &Value, rank: i64, dtype: Option<DataType>) -> Result<&Tensor, Stop> {
    let kind = || Stop::error(rule!("SI.MATCHCAST.TENSOR.KIND"), format!("expected a tensor, found {}", v.category()));
    let tensor = v.as_tensor().ok_or_else(kind)?;
    let (found, given) = (tensor.shape().len() as i64, tensor.dtype());
    demand(rank < 0 || rank == found, rule!("SI.MATCHCAST.TENSOR.NDIM"), || {
        format!("expected rank {rank}, found rank {found}")
    })?;
    demand(dtype.is_none_or(|dtype| dtype == given), rule!("SI.MATCHCAST.TENSOR.DTYPE"), || {
        format!("expected data type {}, found {given}", dtype.unwrap_or(DataType::VOID))
    })?;
    Ok(tensor)
}

/// A tensor whose shape equals a shape value.
pub(super) fn same_shape(v: &Value, shape: &Value) -> Result<(), Stop> {
    let holds = v.as_tensor().zip(shape.as_shape()).is_some_and(|(tensor, sizes)| tensor.shape() == &**sizes);
    demand(holds, rule!("SI.MATCHCAST.TENSOR.SHAPEVAR"), || format!("expected the shape {shape}, found {v}"))
}

/// A shape, of this rank if it is given.
pub(super) fn shape(v: &Value, rank: i64) -> Result<&[i64], Stop> {
    let kind = || Stop::error(rule!("SI.MATCHCAST.SHAPE.KIND"), format!("expected a shape, found {}", v.category()));
    let sizes = v.as_shape().ok_or_else(kind)?;
    let found = sizes.len() as i64;
    demand(rank < 0 || rank == found, rule!("SI.MATCHCAST.SHAPE.NDIM"), || {
        format!("expected a shape of {rank} dimensions, found {found}")
    })?;
    Ok(sizes)
}

/// A tuple with this many fields.
pub(super) fn tuple(v: &Value, fields: i64) -> Result<&TupleObj, Stop> {
    let tuple = v.as_tuple().filter(|tuple| tuple.len() as i64 == fields);
    let kind = || format!("expected a tuple of {fields} fields, found {v}");
    tuple.map(|tuple| &**tuple).ok_or_else(|| Stop::error(rule!("SI.MATCHCAST.TUPLE.KIND"), kind()))
}

/// A boxed scalar of a data type.
pub(super) fn prim(v: &Value, dtype: DataType) -> Result<(), Stop> {
    let holds = matches!(v, Value::Prim(prim) if prim.dtype == dtype);
    demand(holds, rule!("PR14148.SI.PRIM.RULES"), || format!("expected a boxed {dtype}, found {v}"))
}

/// Later editions have rules of their own for boxed scalars. The stop with their ids.
pub(super) fn restated(cx: &Cx, stop: Stop) -> Stop {
    let stated = cx.has(rule!("SI.MATCHCAST.PRIM.KIND"));
    match stop {
        Stop::Error(error) if stated && error.rule == rule!("PR14148.SI.PRIM.RULES") => {
            Stop::Error(RuntimeError { rule: rule!("SI.MATCHCAST.PRIM.KIND"), ..error })
        }
        Stop::Error(error) if stated && error.rule == rule!("PR14148.SI.PRIM.VALUE") => {
            Stop::Error(RuntimeError { rule: rule!("SI.MATCHCAST.PRIM.VALUE"), ..error })
        }
        stop @ (Stop::Error(_) | Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_)) => stop,
    }
}

/// The number of a boxed scalar, if it can be a dimension.
pub(super) fn integer(v: &Value) -> Result<i64, Stop> {
    let integer = v.as_prim().and_then(|prim| prim.value.to_dim());
    integer.ok_or_else(|| Stop::error(rule!("PR14148.SI.PRIM.VALUE"), format!("{v} is no dimension")))
}

/// Checks the number of a boxed scalar.
pub(super) fn same_integer(expected: i64, found: i64) -> Result<(), Stop> {
    demand(expected == found, rule!("PR14148.SI.PRIM.VALUE"), || {
        format!("the value: expected {expected}, found {found}")
    })
}

/// Checks the number of sizes, if a rank is given.
pub(super) fn length(found: usize, rank: i64) -> Result<(), Stop> {
    demand(rank < 0 || rank == found as i64, rule!("SI.MATCHCAST.TENSOR.LEN"), || {
        format!("expected {rank} dimensions, found {found}")
    })
}

/// Checks a size.
pub(super) fn size(index: usize, expected: i64, found: i64, of_tensor: bool) -> Result<(), Stop> {
    let rule = if of_tensor { rule!("SI.MATCHCAST.TENSOR.EVAL") } else { rule!("SI.MATCHCAST.SHAPE.EVAL") };
    demand(expected == found, rule, || format!("dimension {index}: expected {expected}, found {found}"))
}

/// The truth of a boxed Boolean, or of a scalar tensor of Booleans.
pub(super) fn truth(v: &Value) -> Option<bool> {
    if let Value::Prim(Prim { value: Scalar::Bool(truth), .. }) = v {
        Some(*truth)
    } else if let Value::Tensor(t) = v
        && t.dtype() == DataType::BOOL
        && t.shape().is_empty()
    {
        t.get(0).map(Scalar::is_true)
    } else {
        None
    }
}
