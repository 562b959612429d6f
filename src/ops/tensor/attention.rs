//! Attention: `nn.attention`, `nn.attention_bias` and `nn.attention_var_len`.

mod var_len;

use ndarray::{ArrayD, Axis, IxDyn};

use crate::grammar::{Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, differ, float_attr, indivisible, int_attr, str_attr, tensor};
use crate::ops::kernel::array::{floats, of_floats};
use crate::ops::kernel::{self, fail};
use crate::ops::tensor::normalization::softmax::softmax;
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::value::{Host, Stop, Value, count};

const SCALE: OpParam = OpParam::Attr(Attr::optional("scale", AttrKind::Float));
const CAUSAL_MASK: OpParam = OpParam::Attr(Attr::optional("causal_mask", AttrKind::Str(&["TopLeft", "BottomRight"])));
const WINDOW_SIZE: OpParam = OpParam::Attr(Attr::optional("window_size", AttrKind::Int));

pub(super) const FAMILIES: &[&[OpDef]] = &[OPS, var_len::OPS];

const OPS: &[OpDef] = &[
    operator!(
        "nn.attention",
        [rule!("OPS.nn.attention.infer"), rule!("OPS.nn.attention.value"), rule!("OPS.nn.attention.attrs")],
        [OpParam::Arg("query"), OpParam::Arg("key"), OpParam::Arg("value"), SCALE, CAUSAL_MASK, WINDOW_SIZE],
        infer_attention,
        Accumulated,
        attention
    ),
    operator!(
        "nn.attention_bias",
        [
            rule!("OPS.nn.attention_bias.infer"),
            rule!("OPS.nn.attention_bias.value"),
            rule!("OPS.nn.attention_bias.attrs")
        ],
        [
            OpParam::Arg("query"),
            OpParam::Arg("key"),
            OpParam::Arg("value"),
            OpParam::Arg("bias"),
            SCALE,
            CAUSAL_MASK,
            WINDOW_SIZE
        ],
        infer_attention_bias,
        Accumulated,
        attention
    ),
];

// Inference.

/// The dimensions of an argument, which must have rank 4; `None` if only the rank is known.
fn four(a: &InferArgs<'_>, i: usize) -> Result<Option<[PrimExpr; 4]>, InferError> {
    match TensorDims::of(tensor(a, i)?) {
        TensorDims::Known(dims) if dims.len() == 4 => Ok(<[PrimExpr; 4]>::try_from(dims.to_vec()).ok()),
        TensorDims::Rank(4) => Ok(None),
        TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown => {
            Err(InferError::op(format!("argument {i} must have batch, sequence, heads and the size of a head")))
        }
    }
}

fn infer_attention(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    infer(cx, a)
}

fn infer_attention_bias(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let (query, key, bias) = (four(a, 0)?, four(a, 1)?, four(a, 3)?);
    if let (Some([batch, rows, heads, _]), Some([_, columns, _, _]), Some(bias)) = (query, key, bias) {
        let [b, n, s, t] = bias;
        for (size, expected) in [(b, batch), (n, heads), (s, rows)] {
            if differ(cx, &size, &PrimExpr::IntImm(1)) {
                agree(cx, &size, &expected)?;
            }
        }
        agree(cx, &t, &columns)?;
    }
    infer(cx, a)
}

fn agree(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> Result<(), InferError> {
    if differ(cx, a, b) {
        return Err(InferError::op(format!("the sizes {a} and {b} differ")));
    }
    Ok(())
}

/// `(b, s, n, h)`, `(b, t, m, h)` and `(b, t, m, v)` give `(b, s, n, v)`, where m divides n.
fn infer(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let (query, key, value) = (four(a, 0)?, four(a, 1)?, four(a, 2)?);
    let dtype = tensor(a, 0)?.dtype;
    (0..a.args.len()).try_for_each(|i| Domain::Floats.demand(tensor(a, i)?.dtype))?;
    if let (Some(q), Some(k)) = (&query, &key) {
        let ([batch, _, heads, size], [key_batch, _, key_heads, key_size]) = (q, k);
        agree(cx, batch, key_batch)?;
        agree(cx, size, key_size)?;
        multiple(cx, heads, key_heads)?;
    }
    if let (Some(k), Some(v)) = (&key, &value) {
        let ([batch, length, ..], [value_batch, value_length, ..]) = (k, v);
        agree(cx, batch, value_batch)?;
        agree(cx, length, value_length)?;
    }
    let (Some([batch, rows, heads, _]), Some([value_batch, _, value_heads, size])) = (query, value) else {
        return Ok(TensorDims::of_rank(4).tensor(dtype));
    };
    multiple(cx, &heads, &value_heads)?;
    agree(cx, &batch, &value_batch)?;
    Ok(TensorDims::from(vec![batch, rows, heads, size]).tensor(dtype))
}

/// Several query heads may share a head of keys and values.
fn multiple(cx: &mut Cx, heads: &PrimExpr, shared: &PrimExpr) -> Result<(), InferError> {
    match shared {
        PrimExpr::IntImm(count) if indivisible(cx, heads, *count) => {
            Err(InferError::op(format!("{heads} heads cannot share {shared}")))
        }
        PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            Ok(())
        }
    }
}

// Evaluation.

/// `softmax(query * key * scale + bias) * value` for each head. A masked score has weight zero.
fn attention(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if int_attr(a.call, "window_size")?.is_some() {
        return Err(Stop::unspecified("attention in a sliding window"));
    }
    let (&[batch, rows, heads, size], &[_, columns, _, width]) =
        (kernel::tensor(a, 0)?.shape(), kernel::tensor(a, 2)?.shape())
    else {
        return Err(fail("query, key and value have batch, sequence, heads and the size of a head"));
    };
    let scores = count(&[batch, heads, rows, columns]);
    m.spend(scores.saturating_mul(count(&[size.max(width).max(1)])))?;
    let inputs = a.values.iter().filter_map(Value::as_tensor).fold(scores, |n, t| n.saturating_add(t.len() as u64));
    let _held = kernel::beside(m, inputs.saturating_add(count(&[batch, rows, heads, width])))?;
    let [query, key, value] = [0, 1, 2].map(|i| kernel::tensor(a, i).and_then(floats));
    let bias = if a.values.len() > 3 { Some(floats(kernel::tensor(a, 3)?)?) } else { None };
    let out = attend(a.call, [&query?, &key?, &value?], bias)?;
    of_floats(m, kernel::tensor(a, 0)?.dtype(), &out)
}

/// The attention of the rows of a query to keys and values.
fn attend(call: &Call, inputs: [&ArrayD<f64>; 3], bias: Option<ArrayD<f64>>) -> Result<ArrayD<f64>, Stop> {
    let [query, key, value] = inputs;
    let (&[batch, rows, heads, size], &[_, columns, key_heads, _], &[_, _, value_heads, width]) =
        (query.shape(), key.shape(), value.shape())
    else {
        return Err(fail("query, key and value have batch, sequence, heads and the size of a head"));
    };
    // Keys and values may have different numbers of heads.
    let [per_key, per_value] = [key_heads, value_heads].map(|shared| heads.checked_div(shared).unwrap_or(1).max(1));
    let scale = if attr(call, "scale").is_some() { float_attr(call, "scale")? } else { 1.0 / (size as f64).sqrt() };
    let dot = |index: &[usize]| {
        let (b, n, s, t) = four_of(index);
        let terms = (0..size).map(|h| query.get(IxDyn(&[b, s, n, h])).zip(key.get(IxDyn(&[b, t, n / per_key, h]))));
        terms.flatten().map(|(q, k)| q * k).sum::<f64>() * scale
    };
    let mut scores =
        ArrayD::from_shape_fn(IxDyn(&[batch, heads, rows, columns]), |index| dot(ndarray::Dimension::slice(&index)));
    if let Some(bias) = bias {
        let bias = bias.broadcast(scores.raw_dim()).ok_or_else(|| fail("the bias does not fit the scores"))?;
        scores = scores + bias;
    }
    let unseen = columns == 0 || mask(call, &mut scores, rows, columns)? < 0;
    if unseen && ![batch, rows, heads, width].contains(&0) {
        return Err(Stop::unspecified("a row of the query has nothing to attend to"));
    }
    let weights = softmax(&scores, 3);
    Ok(ArrayD::from_shape_fn(IxDyn(&[batch, rows, heads, width]), |index| {
        let (b, s, n, v) = four_of(ndarray::Dimension::slice(&index));
        let line =
            (0..columns).map(|t| weights.get(IxDyn(&[b, n, s, t])).zip(value.get(IxDyn(&[b, t, n / per_value, v]))));
        line.flatten().map(|(w, x)| w * x).sum()
    }))
}

fn four_of(index: &[usize]) -> (usize, usize, usize, usize) {
    if let [a, b, c, d] = index { (*a, *b, *c, *d) } else { (0, 0, 0, 0) }
}

/// Masks the scores: row `s` sees the columns up to `s`. With `BottomRight` the limit is shifted by the number of
/// columns minus the number of rows. Returns the last column that the first row sees.
fn mask(call: &Call, scores: &mut ArrayD<f64>, rows: usize, columns: usize) -> Result<i64, Stop> {
    let shift = match attr(call, "causal_mask") {
        None => return Ok(columns as i64),
        Some(_) if str_attr(call, "causal_mask")? == "BottomRight" => columns as i64 - rows as i64,
        Some(_) => 0,
    };
    for (s, mut row) in scores.axis_iter_mut(Axis(2)).enumerate() {
        for (t, mut column) in row.axis_iter_mut(Axis(2)).enumerate() {
            if t as i64 > s as i64 + shift {
                column.fill(f64::NEG_INFINITY);
            }
        }
    }
    Ok(shift)
}
