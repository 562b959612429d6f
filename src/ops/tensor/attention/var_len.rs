//! `nn.attention_var_len`: concatenated sequences of different lengths.

use std::ops::Range;

use ndarray::{ArrayD, Axis, IxDyn, Slice};

use super::{CAUSAL_MASK, SCALE, WINDOW_SIZE, attend, four, infer};
use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, differ, int_attr, tensor};
use crate::ops::kernel::array::{floats, of_floats, sizes};
use crate::ops::kernel::{self, at_flat, beside, fail};
use crate::ops::tensor::indexing::gather::integer;
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "nn.attention_var_len",
    [
        rule!("OPS.nn.attention_var_len.infer"),
        rule!("OPS.nn.attention_var_len.value"),
        rule!("OPS.nn.attention_var_len.attrs")
    ],
    [
        OpParam::Arg("queries"),
        OpParam::Arg("keys"),
        OpParam::Arg("values"),
        OpParam::Arg("seqstart_q"),
        OpParam::Arg("seqstart_k"),
        OpParam::Arg("max_seqlen_q"),
        OpParam::Arg("max_seqlen_k"),
        SCALE,
        CAUSAL_MASK,
        WINDOW_SIZE
    ],
    infer_var_len,
    Accumulated,
    var_len
)];

fn infer_var_len(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<7>(a)?;
    for i in 3..7 {
        Domain::Integers.demand(tensor(a, i)?.dtype)?;
    }
    for i in 3..5 {
        if let Some(rank) = TensorDims::of(tensor(a, i)?).rank()
            && rank != 1
        {
            return Err(InferError::op(format!("where sequences start is a vector, argument {i} has rank {rank}")));
        }
    }
    for i in 5..7 {
        if let TensorDims::Known(dims) = TensorDims::of(tensor(a, i)?)
            && dims.contains(&PrimExpr::IntImm(0))
        {
            return Err(InferError::op(format!("argument {i} has no element that says how long a sequence is")));
        }
    }
    let batch = four(a, 0)?.map(|[batch, ..]| batch);
    if let Some(batch) = batch.filter(|batch| differ(cx, batch, &PrimExpr::IntImm(1))) {
        return Err(InferError::op(format!("sequences of several lengths are one batch, not {batch}")));
    }
    infer(cx, &InferArgs { args: a.args.get(..3).unwrap_or_default(), ..*a })
}

/// The ranges of the sequences. They must be adjacent and cover all rows, and none may exceed the stated maximum
/// length.
fn bounds(starts: &Tensor, longest: &Tensor, rows: i64) -> Result<Vec<Range<i64>>, Stop> {
    let starts: Vec<i64> = (0..starts.len()).map(|i| integer(at_flat(starts, i)?)).collect::<Result<_, Stop>>()?;
    let longest = integer(at_flat(longest, 0)?)?;
    let ends = starts.iter().skip(1);
    let bounds: Vec<Range<i64>> = starts.iter().zip(ends).map(|(begin, end)| *begin..*end).collect();
    let whole = starts.first() == Some(&0) && starts.last() == Some(&rows);
    if whole && bounds.iter().all(|own| own.start <= own.end && own.end.saturating_sub(own.start) <= longest) {
        return Ok(bounds);
    }
    Err(Stop::unspecified(format!("sequences that start at {starts:?} in {rows} rows")))
}

fn slice(rows: &Range<i64>) -> Slice {
    Slice::from(rows.start as isize..rows.end as isize)
}

fn part(x: &ArrayD<f64>, rows: &Range<i64>) -> ArrayD<f64> {
    x.slice_axis(Axis(1), slice(rows)).to_owned()
}

/// Each sequence of queries attends to its own keys and values.
fn var_len(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if int_attr(a.call, "window_size")?.is_some() {
        return Err(Stop::unspecified("attention in a sliding window"));
    }
    let tensors = [0, 1, 2].map(|i| kernel::tensor(a, i));
    let [query, key, value] = tensors;
    let (query, key, value) = (query?, key?, value?);
    let (&[_, rows, heads, size], &[_, columns, _, width]) = (query.shape(), value.shape()) else {
        return Err(fail("query, key and value have batch, sequence, heads and the size of a head"));
    };
    let of_query = bounds(kernel::tensor(a, 3)?, kernel::tensor(a, 5)?, rows)?;
    let of_key = bounds(kernel::tensor(a, 4)?, kernel::tensor(a, 6)?, columns)?;
    if of_query.len() != of_key.len() {
        return Err(Stop::unspecified("there are not as many sequences of queries as of keys"));
    }
    let pairs = of_query.iter().zip(&of_key).map(|(q, k)| count(&[q.end - q.start, k.end - k.start]));
    let scores = pairs.fold(0, u64::saturating_add).saturating_mul(count(&[heads]));
    m.spend(scores.saturating_mul(count(&[size.max(width).max(1)])))?;
    let inputs = [query, key, value].iter().fold(scores, |n, t| n.saturating_add(2 * t.len() as u64));
    let out = kernel::out(a)?.shape;
    let _held = beside(m, inputs.saturating_add(count(&out)))?;
    let dtype = query.dtype();
    let (query, key, value) = (floats(query)?, floats(key)?, floats(value)?);
    let mut result = ArrayD::zeros(IxDyn(&sizes(&out)?));
    for (of_query, of_key) in of_query.iter().zip(&of_key) {
        let attended = attend(a.call, [&part(&query, of_query), &part(&key, of_key), &part(&value, of_key)], None)?;
        result.slice_axis_mut(Axis(1), slice(of_query)).assign(&attended);
    }
    of_floats(m, dtype, &result)
}
