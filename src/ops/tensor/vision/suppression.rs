//! Selection among overlapping boxes: `vision.get_valid_counts`, `vision.non_max_suppression`.

use super::overlap::{bounded, by_score, overlap, pay, sizes};
use crate::grammar::{Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, bool_attr, constant, differ, float_attr, given_int, tensor};
use crate::ops::kernel::{self, at, fail, from_list};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Element, Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "vision.get_valid_counts",
        [
            rule!("OPS.vision.get_valid_counts.infer"),
            rule!("OPS.vision.get_valid_counts.value"),
            rule!("OPS.vision.get_valid_counts.attrs")
        ],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::float("score_threshold", 0.0)),
            OpParam::Attr(Attr::int("id_index", 0)),
            OpParam::Attr(Attr::int("score_index", 1)),
        ],
        infer_counts,
        Exact,
        valid_counts,
    ),
    operator!(
        "vision.non_max_suppression",
        [
            rule!("OPS.vision.non_max_suppression.infer"),
            rule!("OPS.vision.non_max_suppression.value"),
            rule!("OPS.vision.non_max_suppression.attrs")
        ],
        [
            OpParam::Arg("data"),
            OpParam::Arg("valid_count"),
            OpParam::Arg("indices"),
            OpParam::Attr(Attr::int("max_output_size", -1)),
            OpParam::Attr(Attr::float("iou_threshold", 0.5)),
            OpParam::Attr(Attr::bool("force_suppress", false)),
            OpParam::Attr(Attr::int("top_k", -1)),
            OpParam::Attr(Attr::int("coord_start", 2)),
            OpParam::Attr(Attr::int("score_index", 1)),
            OpParam::Attr(Attr::int("id_index", 0)),
            OpParam::Attr(Attr::bool("return_indices", true)),
            OpParam::Attr(Attr::bool("invalid_to_bottom", false)),
            OpParam::Attr(Attr::float("soft_nms_sigma", 0.0)),
            OpParam::Attr(Attr::float("score_threshold", 0.0)),
        ],
        infer_suppression,
        Absolute,
        suppression,
    ),
];

// Inference.

/// A position among the numbers of a box. Rejects one known to be outside.
fn place(call: &Call, name: &str, least: i64, length: Option<&PrimExpr>, reach: i64) -> Result<i64, InferError> {
    let found = given_int(call, name)?;
    let beyond = match length {
        Some(PrimExpr::IntImm(length)) => found > length.saturating_sub(reach),
        Some(PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..)) | None => false,
    };
    if found < least || beyond {
        return Err(InferError::op(format!("`{name}` is no place among the numbers of a box: {found}")));
    }
    Ok(found)
}

/// The dimensions of the first argument, which lists boxes of several numbers each.
fn boxes<'a>(a: &InferArgs<'a>) -> Result<(&'a TensorStructInfo, TensorDims), InferError> {
    let data = tensor(a, 0)?;
    of_rank(data, 3)?;
    Ok((data, TensorDims::of(data)))
}

/// Integer tensors with the first `rank` of the known dimensions.
fn leading(dims: &TensorDims, rank: usize, dtype: DataType) -> StructInfo {
    match dims {
        TensorDims::Known(dims) => TensorDims::from(dims.iter().take(rank).cloned().collect::<Vec<_>>()).tensor(dtype),
        TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(rank).tensor(dtype),
    }
}

fn of_boxes(data: &TensorStructInfo, dims: TensorDims) -> StructInfo {
    match dims {
        TensorDims::Known(_) => dims.tensor(data.dtype),
        TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(3).tensor(data.dtype),
    }
}

fn length(dims: &TensorDims) -> Option<&PrimExpr> {
    if let TensorDims::Known(dims) = dims { dims.get(2) } else { None }
}

fn infer_counts(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (data, dims) = boxes(a)?;
    Domain::Numbers.demand(data.dtype)?;
    place(a.call, "score_index", 0, length(&dims), 1)?;
    place(a.call, "id_index", -1, length(&dims), 1)?;
    let (counts, indices) = (leading(&dims, 1, DataType::INT32), leading(&dims, 2, DataType::INT32));
    Ok(StructInfo::tuple([counts, of_boxes(data, dims), indices]))
}

fn int32(t: &TensorStructInfo, what: &str) -> Result<(), InferError> {
    if t.dtype.is_void() || t.dtype == DataType::INT32 {
        return Ok(());
    }
    Err(InferError::op(format!("the {what} must be int32, they are {}", t.dtype)))
}

fn infer_suppression(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, dims) = boxes(a)?;
    Domain::Floats.demand(data.dtype)?;
    let (counts, indices) = (tensor(a, 1)?, tensor(a, 2)?);
    int32(counts, "counts")?;
    int32(indices, "indices")?;
    of_rank(counts, 1)?;
    of_rank(indices, 2)?;
    place(a.call, "coord_start", 0, length(&dims), 4)?;
    place(a.call, "score_index", 0, length(&dims), 1)?;
    place(a.call, "id_index", -1, length(&dims), 1)?;
    let known = [&dims, &TensorDims::of(counts), &TensorDims::of(indices)].map(|dims| match dims {
        TensorDims::Known(dims) => dims.to_vec(),
        TensorDims::Rank(_) | TensorDims::Unknown => Vec::new(),
    });
    for (i, one) in known.iter().enumerate() {
        for other in known.iter().skip(i + 1) {
            if let Some((a, b)) = one.iter().zip(other).find(|(a, b)| differ(cx, a, b)) {
                return Err(InferError::op(format!("the sizes {a} and {b} differ")));
            }
        }
    }
    if !bool_attr(a.call, "return_indices")? {
        return Ok(of_boxes(data, dims));
    }
    let counted = match &dims {
        TensorDims::Known(dims) => {
            TensorDims::from(dims.iter().take(1).cloned().chain([constant(1)]).collect::<Vec<_>>())
        }
        TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(2),
    };
    let fields = [leading(&dims, 2, DataType::INT32), counted.tensor(DataType::INT32)];
    let soft = float_attr(a.call, "soft_nms_sigma")? > 0.0;
    Ok(StructInfo::tuple(soft.then(|| of_boxes(data, dims)).into_iter().chain(fields)))
}

// Evaluation: get_valid_counts

/// A row of numbers from which a tensor is built.
type ScalarRow = Vec<Scalar>;

fn row(x: &Tensor, batch: i64, i: i64, length: i64) -> Result<ScalarRow, Stop> {
    (0..length).map(|k| at(x, &[batch, i, k])).collect()
}

/// Minus one, which marks a missing element.
fn nothing(dtype: DataType) -> Scalar {
    if dtype.is_int() { Scalar::Int(-1) } else { Scalar::Float(-1.0) }
}

fn number(row: &[Scalar], place: i64) -> Result<f64, Stop> {
    let found = usize::try_from(place).ok().and_then(|place| row.get(place)).copied();
    found.map(Element::from_scalar).ok_or_else(|| fail(format!("a box has no number {place}")))
}

/// The tensors of a result, filled up with minus one.
fn filled(m: &mut dyn Host, dtype: DataType, shape: &[i64], lists: &[Vec<Scalar>]) -> Result<Value, Stop> {
    let per_list = count(shape.get(1..).unwrap_or_default());
    let mut all = Vec::new();
    for list in lists {
        let missing = usize::try_from(per_list).unwrap_or(usize::MAX).saturating_sub(list.len());
        all.extend(list.iter().copied().chain(std::iter::repeat_n(nothing(dtype), missing)));
    }
    from_list(m, dtype, shape, &all).map(Value::Tensor)
}

fn valid_counts(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let [batch, number_of, length] = sizes(x)?;
    let _held = pay(m, x, 4)?;
    let threshold = float_attr(a.call, "score_threshold")?;
    let (score, id) = (given_int(a.call, "score_index")?, given_int(a.call, "id_index")?);
    let (mut counts, mut rows, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for b in 0..batch {
        let (mut kept, mut found) = (Vec::new(), Vec::new());
        for i in 0..number_of {
            let row = row(x, b, i, length)?;
            if number(&row, score)? > threshold && (id < 0 || number(&row, id)? >= 0.0) {
                kept.extend(row);
                found.push(Scalar::Int(i));
            }
        }
        counts.push(Scalar::Int(found.len() as i64));
        rows.push(kept);
        places.push(found);
    }
    let counts = from_list(m, DataType::INT32, &[batch], &counts)?;
    let rows = filled(m, x.dtype(), x.shape(), &rows)?;
    let places = filled(m, DataType::INT32, &[batch, number_of], &places)?;
    Ok(Value::tuple(vec![Value::Tensor(counts), rows, places]))
}

// Evaluation: non_max_suppression

/// The attributes, checked.
struct Suppression {
    most: i64,
    threshold: f64,
    force: bool,
    top: i64,
    coordinates: i64,
    score: i64,
    id: i64,
    /// The width of the score decay; `None` if overlapping boxes are dropped.
    sigma: Option<f64>,
    /// A box takes part as long as its score is larger.
    least: f64,
}

/// A box that takes part.
#[derive(Clone)]
struct Candidate {
    row: ScalarRow,
    place: i64,
    corners: [f64; 4],
    score: f64,
    class: Option<f64>,
    alive: bool,
}

impl Suppression {
    fn read(call: &Call) -> Result<Suppression, InferError> {
        let sigma = Some(float_attr(call, "soft_nms_sigma")?).filter(|sigma| *sigma > 0.0);
        let least = if sigma.is_some() { float_attr(call, "score_threshold")? } else { 0.0 };
        Ok(Suppression {
            most: given_int(call, "max_output_size")?,
            threshold: float_attr(call, "iou_threshold")?,
            force: bool_attr(call, "force_suppress")?,
            top: given_int(call, "top_k")?,
            coordinates: given_int(call, "coord_start")?,
            score: given_int(call, "score_index")?,
            id: given_int(call, "id_index")?,
            sigma,
            least,
        })
    }

    fn candidate(&self, x: &Tensor, batch: i64, place: i64, length: i64) -> Result<Candidate, Stop> {
        let row = row(x, batch, place, length)?;
        let corner = |k: i64| number(&row, self.coordinates.saturating_add(k));
        let corners = bounded([corner(0)?, corner(1)?, corner(2)?, corner(3)?])?;
        let class = if self.id < 0 || self.force { None } else { Some(number(&row, self.id)?) };
        let score = number(&row, self.score)?;
        Ok(Candidate { row, place, corners, score, class, alive: true })
    }

    /// The boxes that may be selected, in descending order of their scores.
    fn candidates(&self, x: &Tensor, batch: i64, valid: i64, length: i64) -> Result<Vec<Candidate>, Stop> {
        let all: Vec<Candidate> =
            (0..valid).map(|i| self.candidate(x, batch, i, length)).collect::<Result<_, Stop>>()?;
        let order = by_score(&all.iter().map(|candidate| candidate.score).collect::<Vec<f64>>())?;
        let top = usize::try_from(self.top).unwrap_or(usize::MAX);
        Ok(order.into_iter().take(top).filter_map(|i| all.get(i).cloned()).collect())
    }

    /// The indices of the selected candidates, in the order of selection. Their scores may have decayed.
    fn chosen(&self, candidates: &mut [Candidate]) -> Vec<usize> {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let mut chosen = Vec::new();
        while chosen.len() < most {
            let open = candidates.iter().enumerate().filter(|(_, c)| c.alive && c.score > self.least);
            // The first candidate with the highest score.
            let best = open.fold(None, |best: Option<(usize, f64)>, (i, c)| match best {
                Some((_, score)) if score >= c.score => best,
                Some(_) | None => Some((i, c.score)),
            });
            let Some((best, _)) = best else { break };
            let Some(taken) = candidates.get_mut(best) else { break };
            taken.alive = false;
            let (corners, class) = (taken.corners, taken.class);
            chosen.push(best);
            for other in candidates.iter_mut().filter(|other| other.alive && other.class == class) {
                self.met(other, overlap(corners, other.corners));
            }
        }
        chosen
    }

    /// The effect of a selected box on one that it overlaps.
    fn met(&self, other: &mut Candidate, overlap: f64) {
        match self.sigma {
            _ if overlap >= self.threshold => other.alive = false,
            Some(sigma) => other.score *= libm::exp(-0.5 * overlap * overlap / sigma),
            None => {}
        }
    }
}

fn suppression(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, counts, indices) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let [batch, number_of, length] = sizes(x)?;
    let _held = pay(m, x, 4)?;
    m.spend(count(&[batch, number_of]).saturating_mul(count(&[number_of])))?;
    let suppression = Suppression::read(a.call)?;
    let moved = suppression.sigma.is_some() || bool_attr(a.call, "invalid_to_bottom")?;
    let (mut rows, mut places, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for b in 0..batch {
        let valid: i64 = at(counts, &[b]).map(Element::from_scalar)?;
        if !(0..=number_of).contains(&valid) {
            return Err(Stop::unspecified(format!("there are no {valid} boxes")));
        }
        let mut candidates = suppression.candidates(x, b, valid, length)?;
        let chosen = suppression.chosen(&mut candidates);
        let place = |i: &usize| match candidates.get(*i) {
            Some(candidate) => at(indices, &[b, candidate.place]),
            None => Err(fail("a box is missing")),
        };
        places.push(chosen.iter().map(place).collect::<Result<ScalarRow, Stop>>()?);
        found.push(Scalar::Int(chosen.len() as i64));
        let slots: Vec<Option<usize>> = if moved {
            chosen.iter().copied().map(Some).collect()
        } else {
            (0..candidates.len()).map(|i| Some(i).filter(|i| chosen.contains(i))).collect()
        };
        rows.push(slots.into_iter().flat_map(|slot| suppression.told(&candidates, slot, length, x.dtype())).collect());
    }
    let data = |m: &mut dyn Host, rows: &[ScalarRow]| filled(m, x.dtype(), x.shape(), rows);
    if !bool_attr(a.call, "return_indices")? {
        return data(m, &rows);
    }
    let places = filled(m, DataType::INT32, &[batch, number_of], &places)?;
    let found = Value::Tensor(from_list(m, DataType::INT32, &[batch, 1], &found)?);
    if suppression.sigma.is_some() {
        return Ok(Value::tuple(vec![data(m, &rows)?, places, found]));
    }
    Ok(Value::tuple(vec![places, found]))
}

impl Suppression {
    /// A row of the result: a candidate with its score, or an empty row.
    fn told(&self, candidates: &[Candidate], slot: Option<usize>, length: i64, dtype: DataType) -> ScalarRow {
        let Some(candidate) = slot.and_then(|i| candidates.get(i)) else {
            return vec![nothing(dtype); usize::try_from(length).unwrap_or(0)];
        };
        let mut row = candidate.row.clone();
        if let Some(score) = usize::try_from(self.score).ok().and_then(|place| row.get_mut(place)) {
            *score = Scalar::Float(candidate.score);
        }
        row
    }
}
