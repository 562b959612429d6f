//! Sums of products over labelled axes: `einsum` and `outer`.

use std::collections::BTreeMap;

use ndarray::{ArrayD, IxDyn};

use crate::grammar::{Call, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, common_dtype, common_dtypes, differ, same_dim, str_attr, tensor, tensors,
};
use crate::ops::kernel::array::scalars;
use crate::ops::kernel::{self, constant_one, fail, multiply_add, zero};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "einsum",
        [rule!("OPS.einsum.infer"), rule!("OPS.einsum.value"), rule!("OPS.einsum.attrs")],
        [OpParam::Arg("operands"), OpParam::Attr(Attr::required("subscripts", AttrKind::Str(&[])))],
        infer_einsum,
        Accumulated,
        einsum
    ),
    operator!(
        "outer",
        [rule!("OPS.outer.infer"), rule!("OPS.outer.value")],
        [OpParam::Arg("x1"), OpParam::Arg("x2")],
        infer_outer,
        Rounded,
        outer
    ),
];

/// The name of an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Label {
    /// One of the axes of an ellipsis, counted from the right.
    Rest(usize),
    Letter(char),
}

/// The labels of the operands' axes, and those of the result.
struct Subscripts {
    operands: Vec<Vec<Label>>,
    result: Vec<Label>,
}

impl Subscripts {
    /// Reads subscripts for operands with the given ranks.
    fn parse(text: &str, ranks: &[usize]) -> Result<Subscripts, InferError> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (text.as_str(), None),
        };
        let terms: Vec<&str> = inputs.split(',').collect();
        if terms.len() != ranks.len() {
            return Err(InferError::op(format!("{} terms for {} operands", terms.len(), ranks.len())));
        }
        let operands = terms.iter().zip(ranks).map(|(term, rank)| labels(term, Some(*rank)));
        let operands = operands.collect::<Result<Vec<_>, InferError>>()?;
        let result = match output {
            Some(output) => {
                let rest = operands.iter().flatten().filter(|label| matches!(label, Label::Rest(_)));
                labels(output, None)?.into_iter().flat_map(|label| expanded(label, rest.clone())).collect()
            }
            None => implied(&operands),
        };
        let unknown = result.iter().enumerate().find(|(i, label)| {
            !operands.iter().flatten().any(|other| other == *label) || result.iter().take(*i).any(|l| l == *label)
        });
        match unknown {
            Some((_, label)) => Err(InferError::op(format!("{label:?} cannot be an axis of the result"))),
            None => Ok(Subscripts { operands, result }),
        }
    }
}

/// The labels of a term. Without a rank, an ellipsis becomes a single placeholder, `Rest(usize::MAX)`.
fn labels(term: &str, rank: Option<usize>) -> Result<Vec<Label>, InferError> {
    let letters = |text: &str| text.chars().map(Label::Letter).collect::<Vec<Label>>();
    let wrong = |text: &str| text.chars().any(|c| !c.is_ascii_alphabetic());
    let (before, after, ellipsis) = match term.split_once("...") {
        Some((before, after)) => (before, after, true),
        None => (term, "", false),
    };
    if wrong(before) || wrong(after) {
        return Err(InferError::op(format!("`{term}` is no list of labels")));
    }
    let named = before.len() + after.len();
    let rest: Vec<Label> = match (rank, ellipsis) {
        (Some(rank), true) if rank >= named => (0..rank - named).rev().map(Label::Rest).collect(),
        (Some(rank), false) if rank == named => Vec::new(),
        (None, true) => vec![Label::Rest(usize::MAX)],
        (None, false) => Vec::new(),
        (Some(rank), true | false) => {
            return Err(InferError::op(format!("`{term}` does not label an operand of rank {rank}")));
        }
    };
    Ok([letters(before), rest, letters(after)].concat())
}

/// An ellipsis in the result stands for the axes of the longest ellipsis.
fn expanded<'a>(label: Label, rest: impl Iterator<Item = &'a Label>) -> Vec<Label> {
    if label != Label::Rest(usize::MAX) {
        return vec![label];
    }
    let mut rest: Vec<Label> = rest.copied().collect();
    rest.sort_unstable();
    rest.dedup();
    rest.reverse();
    rest
}

/// Without an arrow the result has the axes of an ellipsis, then the labels that occur once, in order.
fn implied(operands: &[Vec<Label>]) -> Vec<Label> {
    let mut counts: BTreeMap<Label, usize> = BTreeMap::new();
    operands.iter().flatten().for_each(|label| *counts.entry(*label).or_default() += 1);
    let letters = counts.iter().filter(|(label, count)| matches!(label, Label::Letter(_)) && **count == 1);
    let rest = expanded(Label::Rest(usize::MAX), counts.keys().filter(|label| matches!(label, Label::Rest(_))));
    rest.into_iter().chain(letters.map(|(label, _)| *label)).collect()
}

/// The size of every label. A size of 1 is replaced by the others.
fn label_sizes(subscripts: &Subscripts, shapes: &[Vec<i64>]) -> BTreeMap<Label, i64> {
    let mut sizes: BTreeMap<Label, i64> = BTreeMap::new();
    for (label, size) in subscripts.operands.iter().zip(shapes).flat_map(|(labels, shape)| labels.iter().zip(shape)) {
        sizes.entry(*label).and_modify(|met| *met = if *met == 1 { *size } else { *met }).or_insert(*size);
    }
    sizes
}

fn infer_einsum(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let operands = tensors(a, 0)?;
    if operands.is_empty() {
        return Err(InferError::op("einsum needs an operand"));
    }
    let dtype = common_dtypes(operands.iter().map(|t| t.dtype))?;
    operands.iter().try_for_each(|operand| Domain::Numbers.demand(operand.dtype))?;
    let sizes = known_sizes(cx, subscripts(a.call)?, &operands)?;
    let Some(ranks) = operands.iter().map(|t| TensorDims::of(t).rank()).collect::<Option<Vec<usize>>>() else {
        return Ok(TensorDims::Unknown.tensor(dtype));
    };
    let subscripts = Subscripts::parse(subscripts(a.call)?, &ranks)?;
    let rank_only = TensorDims::of_rank(subscripts.result.len());
    if !operands.iter().all(|t| matches!(TensorDims::of(t), TensorDims::Known(_))) {
        return Ok(rank_only.tensor(dtype));
    }
    let dims = subscripts.result.iter().map(|label| one_size(sizes.get(label)?));
    Ok(dims.collect::<Option<Vec<PrimExpr>>>().map_or(rank_only, TensorDims::from).tensor(dtype))
}

/// The different sizes of each label in operands with a known shape. A size of 1 is replaced by the others. Rejects
/// sizes that provably differ.
fn known_sizes(
    cx: &mut Cx,
    subscripts: &str,
    operands: &[&TensorStructInfo],
) -> Result<BTreeMap<Label, Vec<PrimExpr>>, InferError> {
    let inputs: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    let inputs = inputs.split_once("->").map_or(inputs.as_str(), |(inputs, _)| inputs);
    let mut sizes: BTreeMap<Label, Vec<PrimExpr>> = BTreeMap::new();
    for (term, operand) in inputs.split(',').zip(operands) {
        let TensorDims::Known(dims) = TensorDims::of(operand) else { continue };
        for (label, size) in labels(term, Some(dims.len()))?.into_iter().zip(dims.iter()) {
            let found = sizes.entry(label).or_default();
            if *size == PrimExpr::IntImm(1) || found.iter().any(|other| same_dim(other, size)) {
                continue;
            }
            let one = PrimExpr::IntImm(1);
            let contradicts =
                |cx: &mut Cx, a: &PrimExpr| differ(cx, a, size) && differ(cx, a, &one) && differ(cx, size, &one);
            if let Some(other) = found.iter().find(|other| contradicts(cx, other)) {
                return Err(InferError::op(format!("one label has the sizes {other} and {size}")));
            }
            found.push(size.clone());
        }
    }
    Ok(sizes)
}

/// The size that remains after each 1 is replaced, if it is known: a constant other than 1, or the only size.
fn one_size(sizes: &Vec<PrimExpr>) -> Option<PrimExpr> {
    match sizes.as_slice() {
        [] => Some(PrimExpr::IntImm(1)),
        [only] => Some(only.clone()),
        [_, ..] => sizes.iter().find(|size| matches!(size, PrimExpr::IntImm(_))).cloned(),
    }
}

fn subscripts(call: &Call) -> Result<&str, InferError> {
    str_attr(call, "subscripts")
}

/// The sum of the products of the operands' elements, over the labels that are missing in the result.
fn einsum(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let operands = kernel::tensors(a, 0)?;
    let kernel::Out { dtype, shape } = kernel::out(a)?;
    let shapes: Vec<Vec<i64>> = operands.iter().map(|t| t.shape().to_vec()).collect();
    let subscripts = Subscripts::parse(subscripts(a.call)?, &shapes.iter().map(Vec::len).collect::<Vec<_>>())?;
    let sizes = label_sizes(&subscripts, &shapes);
    let size_of = |label: &Label| sizes.get(label).copied().unwrap_or(1);
    let summed: Vec<Label> = sizes.keys().filter(|label| !subscripts.result.contains(label)).copied().collect();
    let inner: Vec<i64> = summed.iter().map(size_of).collect();
    m.spend(sizes.values().fold(1u64, |n, size| n.saturating_mul(size.unsigned_abs())))?;
    let read = operands.iter().fold(count(&shape), |n, operand| n.saturating_add(operand.len() as u64));
    let _held = kernel::beside(m, read)?;
    let arrays = operands.iter().map(|t| scalars(t)).collect::<Result<Vec<_>, Stop>>()?;
    let mut elements = Vec::new();
    for outer in kernel::indices(&shape) {
        let mut places: BTreeMap<Label, i64> = subscripts.result.iter().copied().zip(outer).collect();
        let mut sum = zero(dtype);
        for index in kernel::indices(&inner) {
            places.extend(summed.iter().copied().zip(index));
            sum = term(&arrays, &subscripts, &places, sum)?;
        }
        elements.push(sum);
    }
    kernel::fresh(kernel::from_list(m, dtype, &shape, &elements)?)
}

/// Adds the product of the operands' elements at the given positions to a sum.
fn term(
    arrays: &[ArrayD<Scalar>],
    subscripts: &Subscripts,
    places: &BTreeMap<Label, i64>,
    sum: Scalar,
) -> Result<Scalar, Stop> {
    let mut product = None;
    for (array, labels) in arrays.iter().zip(&subscripts.operands) {
        let index: Vec<usize> = labels
            .iter()
            .zip(array.shape())
            .map(|(label, size)| if *size == 1 { 0 } else { places.get(label).map_or(0, |i| *i as usize) })
            .collect();
        let element = array.get(IxDyn(&index)).copied().ok_or_else(|| fail("an index lies outside its tensor"))?;
        product = Some(match product {
            None => element,
            Some(product) => multiply_add(zero_of(product), product, element)?,
        });
    }
    match product {
        Some(product) => multiply_add(sum, product, constant_one(product)),
        None => Ok(sum),
    }
}

fn zero_of(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(_) => Scalar::Bool(false),
        Scalar::Int(_) => Scalar::Int(0),
        Scalar::UInt(_) => Scalar::UInt(0),
        // -0 is the neutral element: adding it changes no number, not even -0.
        Scalar::Float(_) | Scalar::Ring(_) => Scalar::Float(-0.0),
    }
}

// outer

fn infer_outer(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x1, x2) = (tensor(a, 0)?, tensor(a, 1)?);
    let dtype = common_dtype(x1.dtype, x2.dtype)?;
    Domain::Numbers.demand(x1.dtype)?;
    Domain::Numbers.demand(x2.dtype)?;
    let dims = match (TensorDims::of(x1), TensorDims::of(x2)) {
        (TensorDims::Known(x1), TensorDims::Known(x2)) if x1.len() == 1 && x2.len() == 1 => {
            [&*x1, &*x2].concat().into()
        }
        (x1, x2) if x1.rank() == Some(1) && x2.rank() == Some(1) => TensorDims::of_rank(2),
        (_, _) => return Err(InferError::op("an outer product is one of vectors")),
    };
    Ok(dims.tensor(dtype))
}

/// `out[i, j] = x1[i] * x2[j]`
fn outer(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x1, x2) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let _held = kernel::beside(m, (x1.len() as u64).saturating_mul(x2.len() as u64))?;
    m.spend((x1.len() as u64).saturating_mul(x2.len() as u64))?;
    let list = |x: &Tensor| (0..x.len()).filter_map(|i| x.get(i)).collect::<Vec<Scalar>>();
    let (rows, columns) = (list(x1), list(x2));
    let mut elements = Vec::with_capacity(rows.len().saturating_mul(columns.len()));
    for (x, y) in rows.iter().flat_map(|x| columns.iter().map(move |y| (*x, *y))) {
        elements.push(multiply_add(zero_of(x), x, y)?);
    }
    kernel::fresh(kernel::from_list(m, x1.dtype(), &[x1.shape(), x2.shape()].concat(), &elements)?)
}
