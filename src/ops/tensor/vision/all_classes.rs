//! Selection of boxes for each class: `vision.all_class_non_max_suppression`.

use super::overlap::{bounded, by_score, overlap, pay, sizes};
use crate::grammar::{BinaryOp, DataType, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, boxed, constant, differ, dim, str_attr, tensor};
use crate::ops::kernel::{self, at, fail, from_list};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Element, Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "vision.all_class_non_max_suppression",
    [
        rule!("OPS.vision.all_class_non_max_suppression.infer"),
        rule!("OPS.vision.all_class_non_max_suppression.value"),
        rule!("OPS.vision.all_class_non_max_suppression.attrs")
    ],
    [
        OpParam::Arg("boxes"),
        OpParam::Arg("scores"),
        OpParam::Arg("max_output_boxes_per_class"),
        OpParam::Arg("iou_threshold"),
        OpParam::Arg("score_threshold"),
        OpParam::Attr(Attr::str("output_format", &["onnx", "tensorflow"], "onnx")),
    ],
    infer_all_classes,
    Exact,
    all_classes,
)];

// Inference.

/// An argument that is a single number: a tensor with one element, or a boxed scalar.
fn one_number(cx: &mut Cx, a: &InferArgs<'_>, i: usize) -> Result<(), InferError> {
    if let Some(StructInfo::Prim(_)) = a.args.get(i) {
        return boxed(a, i, Domain::Numbers).map(|_| ());
    }
    let t = tensor(a, i)?;
    Domain::Numbers.demand(t.dtype)?;
    let one = match TensorDims::of(t) {
        TensorDims::Known(dims) => dims.len() <= 1 && dims.iter().all(|dim| !differ(cx, dim, &constant(1))),
        TensorDims::Rank(rank) => rank <= 1,
        TensorDims::Unknown => true,
    };
    if one { Ok(()) } else { Err(InferError::op(format!("argument {i} must be one number"))) }
}

fn infer_all_classes(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<5>(a)?;
    let (boxes, scores) = (tensor(a, 0)?, tensor(a, 1)?);
    for t in [boxes, scores] {
        Domain::Floats.demand(t.dtype)?;
        of_rank(t, 3)?;
    }
    (2..5).try_for_each(|i| one_number(cx, a, i))?;
    let (of_boxes, of_scores) = (TensorDims::of(boxes), TensorDims::of(scores));
    let at = |dims: &TensorDims, i: usize| if let TensorDims::Known(dims) = dims { dims.get(i).cloned() } else { None };
    let equal = [
        (at(&of_boxes, 0), at(&of_scores, 0)),
        (at(&of_boxes, 1), at(&of_scores, 2)),
        (at(&of_boxes, 2), Some(constant(4))),
    ];
    for pair in equal {
        if let (Some(found), Some(expected)) = pair
            && differ(cx, &found, &expected)
        {
            return Err(InferError::op(format!("the sizes {found} and {expected} differ")));
        }
    }
    if str_attr(a.call, "output_format")? == "onnx" {
        // The number of selected boxes depends on the values.
        let counted = TensorDims::from(vec![constant(1)]).tensor(DataType::INT64);
        return Ok(StructInfo::tuple([TensorDims::of_rank(2).tensor(DataType::INT64), counted]));
    }
    let batch = at(&of_scores, 0).or(at(&of_boxes, 0));
    let count = at(&of_scores, 2).or(at(&of_boxes, 1));
    let all = at(&of_scores, 1).zip(count).map(|(classes, count)| dim(BinaryOp::Mul, classes, count));
    let of = |dims: Option<Vec<PrimExpr>>, rank: usize, dtype: DataType| match dims {
        Some(dims) => TensorDims::from(dims).tensor(dtype),
        None => TensorDims::of_rank(rank).tensor(dtype),
    };
    let both = batch.clone().zip(all);
    Ok(StructInfo::tuple([
        of(both.clone().map(|(batch, all)| vec![batch, all, constant(2)]), 3, DataType::INT64),
        of(both.map(|(batch, all)| vec![batch, all]), 2, scores.dtype),
        of(batch.map(|batch| vec![batch]), 1, DataType::INT64),
    ]))
}

// Evaluation.

/// The number in an argument.
fn argument(a: &EvalArgs<'_>, i: usize) -> Result<f64, Stop> {
    let only = |t: &Tensor| if t.len() == 1 { t.get(0) } else { None };
    let one = |value: &Value| value.as_prim().map(|prim| prim.value).or_else(|| value.as_tensor().and_then(only));
    let found = a.values.get(i).and_then(one);
    found.map(Element::from_scalar).ok_or_else(|| fail(format!("argument {i} must be one number")))
}

/// The selected boxes of a class, with their scores.
fn of_class(
    boxes: &[[f64; 4]],
    scores: &[f64],
    most: f64,
    threshold: f64,
    least: f64,
) -> Result<Vec<(usize, f64)>, Stop> {
    let mut chosen: Vec<(usize, f64)> = Vec::new();
    for i in by_score(scores)? {
        let (Some(corners), Some(score)) = (boxes.get(i), scores.get(i)) else { continue };
        if chosen.len() as f64 >= most || *score <= least {
            break;
        }
        let mut taken = chosen.iter().filter_map(|(j, _)| boxes.get(*j));
        if taken.all(|other| overlap(*other, *corners) <= threshold) {
            chosen.push((i, *score));
        }
    }
    Ok(chosen)
}

fn all_classes(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, y) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let [batch, classes, number_of] = sizes(y)?;
    m.spend(count(&[batch, classes, number_of]).saturating_mul(count(&[number_of])))?;
    let _held = (pay(m, x, 4)?, pay(m, y, 4)?);
    let (most, threshold, least) = (argument(a, 2)?, argument(a, 3)?, argument(a, 4)?);
    let mut chosen: Vec<Vec<(i64, usize, f64)>> = Vec::new();
    for b in 0..batch {
        let corner = |i: i64, k: i64| at(x, &[b, i, k]).map(<f64 as Element>::from_scalar);
        let corners = |i: i64| bounded([corner(i, 0)?, corner(i, 1)?, corner(i, 2)?, corner(i, 3)?]);
        let boxes: Vec<[f64; 4]> = (0..number_of).map(corners).collect::<Result<_, Stop>>()?;
        let mut all = Vec::new();
        for class in 0..classes {
            let score = |i: i64| at(y, &[b, class, i]).map(<f64 as Element>::from_scalar);
            let scores: Vec<f64> = (0..number_of).map(score).collect::<Result<_, Stop>>()?;
            let of_class = of_class(&boxes, &scores, most, threshold, least)?;
            all.extend(of_class.into_iter().map(|(i, score)| (class, i, score)));
        }
        chosen.push(all);
    }
    if str_attr(a.call, "output_format")? == "onnx" { listed(m, &chosen) } else { padded(m, y, &chosen) }
}

/// One row for each box: image, class and position.
fn listed(m: &mut dyn Host, chosen: &[Vec<(i64, usize, f64)>]) -> Result<Value, Stop> {
    let rows = (0i64..).zip(chosen).flat_map(|(b, all)| all.iter().map(move |(class, i, _)| [b, *class, *i as i64]));
    let numbers: Vec<Scalar> = rows.flatten().map(Scalar::Int).collect();
    let total: usize = chosen.iter().map(Vec::len).sum();
    let rows = from_list(m, DataType::INT64, &[total as i64, 3], &numbers)?;
    let total = from_list(m, DataType::INT64, &[1], &[Scalar::Int(total as i64)])?;
    Ok(Value::tuple(vec![Value::Tensor(rows), Value::Tensor(total)]))
}

/// For each image: rows of class and position, their scores, and the number of valid rows. Both lists have the maximal
/// length and are filled up with zeros.
fn padded(m: &mut dyn Host, scores: &Tensor, chosen: &[Vec<(i64, usize, f64)>]) -> Result<Value, Stop> {
    let [batch, classes, number_of] = sizes(scores)?;
    let all = classes.saturating_mul(number_of);
    let missing = |found: usize, of_each: i64| count(&[all, of_each]).saturating_sub(found as u64 * of_each as u64);
    let zeros = |count: u64, zero: Scalar| std::iter::repeat_n(zero, usize::try_from(count).unwrap_or(usize::MAX));
    let (mut rows, mut told, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for all in chosen {
        rows.extend(all.iter().flat_map(|(class, i, _)| [*class, *i as i64]).map(Scalar::Int));
        rows.extend(zeros(missing(all.len(), 2), Scalar::Int(0)));
        told.extend(all.iter().map(|(_, _, score)| Scalar::Float(*score)));
        told.extend(zeros(missing(all.len(), 1), Scalar::Float(0.0)));
        counts.push(Scalar::Int(all.len() as i64));
    }
    Ok(Value::tuple(vec![
        Value::Tensor(from_list(m, DataType::INT64, &[batch, all, 2], &rows)?),
        Value::Tensor(from_list(m, scores.dtype(), &[batch, all], &told)?),
        Value::Tensor(from_list(m, DataType::INT64, &[batch], &counts)?),
    ]))
}
