//! Boxes from network predictions relative to anchors: `vision.multibox_transform_loc`.

use ndarray::{ArrayD, IxDyn};

use crate::grammar::{BinaryOp, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, bool_attr, common_dtypes, constant, differ, dim, float_attr, floats_attr, indivisible,
    tensor,
};
use crate::ops::kernel::array::{floats, of_floats};
use crate::ops::kernel::{self, fail};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::tensor::normalization::softmax::softmax;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "vision.multibox_transform_loc",
    [
        rule!("OPS.vision.multibox_transform_loc.infer"),
        rule!("OPS.vision.multibox_transform_loc.value"),
        rule!("OPS.vision.multibox_transform_loc.attrs")
    ],
    [
        OpParam::Arg("cls_pred"),
        OpParam::Arg("loc_pred"),
        OpParam::Arg("anchor"),
        OpParam::Attr(Attr::bool("clip", false)),
        OpParam::Attr(Attr::float("threshold", 0.0)),
        OpParam::Attr(Attr::floats("variances", &[1.0; 4])),
        OpParam::Attr(Attr::bool("keep_background", true)),
        OpParam::Attr(Attr::bool("apply_softmax", true)),
    ],
    infer,
    Absolute,
    evaluate,
)];

fn variances(call: &Call) -> Result<[f64; 4], InferError> {
    let given = floats_attr(call, "variances", 4)?;
    given.try_into().map_err(|_| InferError::op("`variances` lists four numbers"))
}

fn infer(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (scores, places, anchors) = (tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?);
    variances(a.call)?;
    for (t, rank) in [(scores, 3), (places, 2), (anchors, 3)] {
        Domain::Floats.demand(t.dtype)?;
        of_rank(t, rank)?;
    }
    common_dtypes([scores.dtype, places.dtype, anchors.dtype])?;
    let [of_scores, of_places, of_anchors] = [scores, places, anchors].map(TensorDims::of);
    let at = |dims: &TensorDims, i: usize| if let TensorDims::Known(dims) = dims { dims.get(i).cloned() } else { None };
    let count = at(&of_scores, 2).or(at(&of_anchors, 1));
    let encoded = count.clone().map(|n| dim(BinaryOp::Mul, n, constant(4)));
    let equal = [
        (at(&of_scores, 0), at(&of_places, 0), "batches"),
        (at(&of_places, 1), encoded, "lengths of the encodings"),
        (at(&of_anchors, 0), Some(constant(1)), "batches of the anchors"),
        (at(&of_anchors, 1), count, "numbers of anchors"),
        (at(&of_anchors, 2), Some(constant(4)), "corners"),
    ];
    for (found, expected, what) in equal {
        if let (Some(found), Some(expected)) = (found, expected)
            && differ(cx, &found, &expected)
        {
            return Err(InferError::op(format!("the {what} {found} and {expected} differ")));
        }
    }
    if at(&of_places, 1).is_some_and(|length| indivisible(cx, &length, 4)) {
        return Err(InferError::op("each anchor has four encodings"));
    }
    let TensorDims::Known(dims) = &of_scores else {
        return Ok(StructInfo::tuple([3, 3].map(|rank| TensorDims::of_rank(rank).tensor(scores.dtype))));
    };
    let boxes: Vec<PrimExpr> = dims.first().into_iter().chain(dims.get(2)).cloned().chain([constant(4)]).collect();
    Ok(StructInfo::tuple([TensorDims::from(boxes).tensor(scores.dtype), of_scores.tensor(scores.dtype)]))
}

fn evaluate(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let tensors = [kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?];
    let elements = tensors.iter().fold(0u64, |sum, t| sum.saturating_add(t.len() as u64));
    let _held = kernel::beside(m, elements.saturating_mul(2))?;
    m.spend(elements.saturating_mul(4))?;
    let [scores, places, anchors] = tensors.map(floats);
    let (scores, places, anchors) = (scores?, places?, anchors?);
    let dtype = kernel::tensor(a, 0)?.dtype();
    let &[batch, _, count] = scores.shape() else { return Err(fail("scores have batch, classes and anchors")) };
    let decoding = Decoding { variances: variances(a.call)?, clip: bool_attr(a.call, "clip")? };
    let boxes = ArrayD::from_shape_fn(IxDyn(&[batch, count, 4]), |index| {
        let four = |of: &dyn Fn(usize) -> Vec<usize>, from: &ArrayD<f64>| {
            [0, 1, 2, 3].map(|k| from.get(IxDyn(&of(k))).copied().unwrap_or(f64::NAN))
        };
        let anchor = four(&|k| vec![0, index[1], k], &anchors);
        let encoding = four(&|k| vec![index[0], 4 * index[1] + k], &places);
        decoding.decoded(anchor, encoding, index[2])
    });
    let scores = shown(a.call, scores)?;
    Ok(Value::tuple(vec![of_floats(m, dtype, &boxes)?, of_floats(m, dtype, &scores)?]))
}

/// The options for decoding boxes.
struct Decoding {
    variances: [f64; 4],
    clip: bool,
}

impl Decoding {
    /// One side of a box: top, left, bottom or right.
    fn decoded(&self, anchor: [f64; 4], encoding: [f64; 4], side: usize) -> f64 {
        let [left, top, right, bottom] = anchor;
        let ([x, y, w, h], [vx, vy, vw, vh]) = (encoding, self.variances);
        let (low, high, place, extent) =
            if side.is_multiple_of(2) { (top, bottom, y * vy, h * vh) } else { (left, right, x * vx, w * vw) };
        let center = place * (high - low) + (low + high) / 2.0;
        let half = libm::exp(extent) * (high - low) / 2.0;
        let found = if side < 2 { center - half } else { center + half };
        if self.clip { found.clamp(0.0, 1.0) } else { found }
    }
}

/// The reported scores. Small scores are multiplied by zero, and those of the background may be set to zero.
fn shown(call: &Call, scores: ArrayD<f64>) -> Result<ArrayD<f64>, Stop> {
    let mut scores = if bool_attr(call, "apply_softmax")? { softmax(&scores, 1) } else { scores };
    let (threshold, background) = (float_attr(call, "threshold")?, bool_attr(call, "keep_background")?);
    for (index, score) in scores.indexed_iter_mut() {
        if *score < threshold {
            *score *= 0.0;
        }
        if index[1] == 0 && !background {
            *score = 0.0;
        }
    }
    Ok(scores)
}
