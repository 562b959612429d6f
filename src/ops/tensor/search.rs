//! Sorting, searching and selecting: `where`, `sort`, `argsort`, `topk`, `bucketize`.

use std::cmp::Ordering;

use crate::book::Erratum;
use crate::grammar::{BinaryOp, Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::number::real::Real;
use crate::ops::infer::{
    TensorDims, arity, at_least, axis, bool_attr, broadcast_all, common_dtype, dim, dtype_attr, given_int, held_by_all,
    of_held, str_attr, tensor, with_dtype,
};
use crate::ops::kernel::{self, at, at_broadcast, fail, fresh, line, tabulate, tabulate_out};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "where",
        [rule!("OPS.where.infer"), rule!("OPS.where.value")],
        [OpParam::Arg("condition"), OpParam::Arg("x1"), OpParam::Arg("x2")],
        infer_where,
        Exact,
        select
    ),
    operator!(
        "sort",
        [rule!("OPS.sort.infer"), rule!("OPS.sort.value"), rule!("OPS.sort.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::int("axis", -1)), OpParam::Attr(Attr::bool("descending", false))],
        infer_sort,
        Exact,
        sort,
    ),
    operator!(
        "argsort",
        [rule!("OPS.argsort.infer"), rule!("OPS.argsort.value"), rule!("OPS.argsort.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::int("axis", -1)),
            OpParam::Attr(Attr::bool("descending", false)),
            OpParam::Attr(Attr::dtype("dtype", DataType::INT32)),
        ],
        infer_argsort,
        Exact,
        argsort,
    ),
    operator!(
        "topk",
        [rule!("OPS.topk.infer"), rule!("OPS.topk.value"), rule!("OPS.topk.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::int("k", 1)),
            OpParam::Attr(Attr::int("axis", -1)),
            OpParam::Attr(Attr::str("ret_type", &["both", "values", "indices"], "both")),
            OpParam::Attr(Attr::bool("largest", true)),
            OpParam::Attr(Attr::dtype("dtype", DataType::INT32)),
        ],
        infer_topk,
        Exact,
        topk,
    ),
    operator!(
        "bucketize",
        [rule!("OPS.bucketize.infer"), rule!("OPS.bucketize.value"), rule!("OPS.bucketize.attrs")],
        [
            OpParam::Arg("input_tensor"),
            OpParam::Arg("boundaries"),
            OpParam::Attr(Attr::bool("out_int32", false)),
            OpParam::Attr(Attr::bool("right", false)),
        ],
        infer_bucketize,
        Exact,
        bucketize,
    ),
];

/// The order of two elements of the same kind. Zeros of both signs are equal, and NaN comes last.
pub(in crate::ops) fn order(a: Scalar, b: Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::UInt(a), Scalar::UInt(b)) => a.cmp(&b),
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(&b),
        (Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        (Scalar::Ring(a), Scalar::Ring(b)) => a.near().total_cmp(&b.near()),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => Ordering::Equal,
    }
}

/// What of an order the result of an operator shows.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Shown {
    Element,
    Place,
}

/// The order of the elements of a line.
#[derive(Clone, Copy)]
pub(in crate::ops) struct LineOrder {
    /// Whether what the documentation leaves open has no result.
    literal: bool,
}

impl LineOrder {
    pub(in crate::ops) fn of(m: &mut dyn Host) -> LineOrder {
        LineOrder { literal: m.cx().literal(Erratum::A77) }
    }

    /// Whether what the documentation leaves open has no result.
    pub(in crate::ops) fn is_literal(self) -> bool {
        self.literal
    }

    /// The documentation says nothing of NaN in an order, nor which of two equal elements comes first.
    ///
    /// Errata: A77, literally what one of them decides is not specified. `place` is the place in the line of what is
    /// chosen.
    pub(in crate::ops) fn decides(self, items: &[Scalar], place: usize, shown: Shown) -> Result<(), Stop> {
        if !self.literal {
            return Ok(());
        }
        if items.iter().any(|item| matches!(item, Scalar::Float(value) if value.is_nan())) {
            return Err(Stop::unspecified("the place of NaN in an order"));
        }
        let Some(chosen) = items.get(place) else { return Ok(()) };
        let may_come_instead = |(i, item): (usize, &Scalar)| {
            i != place
                && order(*item, *chosen).is_eq()
                && (matches!(shown, Shown::Place) || is_other_zero(*item, *chosen))
        };
        match items.iter().enumerate().any(may_come_instead) {
            true => Err(Stop::unspecified("which of two equal elements comes first")),
            false => Ok(()),
        }
    }
}

/// Whether two elements that are equal in order are zeros of different signs.
fn is_other_zero(x: Scalar, y: Scalar) -> bool {
    matches!((x, y), (Scalar::Float(x), Scalar::Float(y)) if x.to_bits() != y.to_bits())
}

/// The indices of the elements of a line in sorted order. The sort is stable.
pub(in crate::ops) fn sorted(items: &[Scalar], descending: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..items.len()).collect();
    let item = |i: usize| items.get(i).copied().unwrap_or(Scalar::Bool(false));
    places.sort_by(|a, b| {
        let order = order(item(*a), item(*b));
        if descending { order.reverse() } else { order }
    });
    places
}

fn along_of(call: &Call, rank: usize) -> Result<usize, InferError> {
    axis(given_int(call, "axis")?, rank)
}

fn checked<'a>(a: &InferArgs<'a>) -> Result<&'a TensorStructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    TensorDims::of(x).rank().map(|rank| along_of(a.call, rank)).transpose()?;
    Ok(x)
}

fn index_dtype(call: &Call) -> Result<DataType, InferError> {
    Ok(dtype_attr(call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(DataType::INT32))
}

// sort, argsort

fn infer_sort(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    checked(a).map(|x| StructInfo::Tensor(x.clone()))
}

fn infer_argsort(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let dtype = index_dtype(a.call)?;
    checked(a).map(|x| with_dtype(x, dtype))
}

/// How the lines along an axis are sorted.
struct Sorting {
    along: usize,
    descending: bool,
    order: LineOrder,
}

impl Sorting {
    /// For a position of the result, the source position along the axis.
    fn chosen(&self, x: &Tensor, index: &[i64], shown: Shown) -> Result<(Vec<i64>, i64), Stop> {
        let items = line(x, index, self.along)?;
        let places = sorted(&items, self.descending);
        let own = index.get(self.along).and_then(|i| usize::try_from(*i).ok()).and_then(|i| places.get(i));
        let from = *own.ok_or_else(|| fail("an index lies outside its tensor"))?;
        self.order.decides(&items, from, shown)?;
        let place = index.iter().enumerate().map(|(a, i)| if a == self.along { from as i64 } else { *i }).collect();
        Ok((place, from as i64))
    }

    /// The element at a position of the result.
    fn element(&self, x: &Tensor, index: &[i64]) -> Result<Scalar, Stop> {
        at(x, &self.chosen(x, index, Shown::Element)?.0)
    }

    /// The place of the element at a position of the result.
    fn place(&self, x: &Tensor, index: &[i64]) -> Result<Scalar, Stop> {
        Ok(Scalar::Int(self.chosen(x, index, Shown::Place)?.1))
    }
}

fn sort(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let (along, descending) = (along_of(a.call, x.shape().len())?, bool_attr(a.call, "descending")?);
    let sorting = Sorting { along, descending, order: LineOrder::of(m) };
    m.spend((x.len() as u64).saturating_mul(x.shape().get(along).map_or(1, |size| size.unsigned_abs())))?;
    tabulate_out(m, a, |index| sorting.element(x, index))
}

fn argsort(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let (along, descending) = (along_of(a.call, x.shape().len())?, bool_attr(a.call, "descending")?);
    let sorting = Sorting { along, descending, order: LineOrder::of(m) };
    m.spend((x.len() as u64).saturating_mul(x.shape().get(along).map_or(1, |size| size.unsigned_abs())))?;
    let dtype = index_dtype(a.call)?;
    fresh(tabulate(m, dtype, x.shape(), |index| sorting.place(x, index))?)
}

// topk

/// The first k elements of each line; all of them if k is less than 1.
fn infer_topk(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let x = checked(a)?;
    let k = given_int(a.call, "k")?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) if k > 0 => {
            let along = along_of(a.call, dims.len())?;
            let mut dims = dims.to_vec();
            match dims.get_mut(along) {
                Some(PrimExpr::IntImm(size)) => *size = k.min(*size),
                Some(size) if at_least(size, k) => *size = PrimExpr::IntImm(k),
                Some(size) => *size = dim(BinaryOp::Min, PrimExpr::IntImm(k), size.clone()),
                None => {}
            }
            TensorDims::from(dims)
        }
        dims => dims,
    };
    let (values, indices) = (dims.clone().tensor(x.dtype), dims.tensor(index_dtype(a.call)?));
    Ok(match str_attr(a.call, "ret_type")? {
        "values" => values,
        "indices" => indices,
        _ => StructInfo::tuple([values, indices]),
    })
}

fn topk(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let (along, descending) = (along_of(a.call, x.shape().len())?, bool_attr(a.call, "largest")?);
    let k = given_int(a.call, "k")?;
    let sorting = Sorting { along, descending, order: LineOrder::of(m) };
    let mut shape = x.shape().to_vec();
    if let Some(size) = shape.get_mut(along).filter(|_| k > 0) {
        *size = k.min(*size);
    }
    m.spend((x.len() as u64).saturating_mul(x.shape().get(along).map_or(1, |size| size.unsigned_abs())))?;
    let dtype = index_dtype(a.call)?;
    let mut values = || tabulate(m, x.dtype(), &shape, |index| sorting.element(x, index)).map(Value::Tensor);
    match str_attr(a.call, "ret_type")? {
        "values" => values(),
        kind => {
            let values = if kind == "indices" { None } else { Some(values()?) };
            let indices = Value::Tensor(tabulate(m, dtype, &shape, |index| sorting.place(x, index))?);
            Ok(match values {
                Some(values) => Value::tuple(vec![values, indices]),
                None => indices,
            })
        }
    }
}

// bucketize

fn infer_bucketize(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x, boundaries) = (tensor(a, 0)?, tensor(a, 1)?);
    if let Some(rank) = TensorDims::of(boundaries).rank().filter(|rank| *rank != 1) {
        return Err(InferError::op(format!("the boundaries must be a vector, they have rank {rank}")));
    }
    let dtype = if bool_attr(a.call, "out_int32")? { DataType::INT32 } else { DataType::INT64 };
    Ok(with_dtype(x, dtype))
}

/// The number of boundaries below each element. With `right`, an equal boundary counts too.
fn bucketize(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, boundaries) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let right = bool_attr(a.call, "right")?;
    let _held = kernel::beside(m, boundaries.len() as u64)?;
    m.spend((x.len() as u64).saturating_mul(boundaries.len() as u64))?;
    let bounds: Vec<Scalar> = (0..boundaries.len()).filter_map(|i| boundaries.get(i)).collect();
    if !bounds.is_sorted_by(|a, b| order(*a, *b).is_le()) {
        return Err(Stop::unspecified("boundaries that do not ascend"));
    }
    tabulate_out(m, a, |index| {
        let element = at(x, index)?;
        let below = |bound: &&Scalar| match order(**bound, element) {
            Ordering::Less => true,
            Ordering::Equal => right,
            Ordering::Greater => false,
        };
        Ok(Scalar::Int(bounds.iter().take_while(below).count() as i64))
    })
}

fn infer_where(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (c, x1, x2) = (tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?);
    if !c.dtype.is_void() && !c.dtype.is_bool() {
        return Err(InferError::op(format!("the condition must be Boolean, it is {}", c.dtype)));
    }
    let dims = broadcast_all(&[c, x1, x2].map(TensorDims::of))?;
    Ok(of_held(held_by_all([c, x1, x2]), dims, common_dtype(x1.dtype, x2.dtype)?))
}

/// `x1[i]` where the condition holds at `i`, `x2[i]` elsewhere.
fn select(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (c, x1, x2) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let element = |i: &[i64]| if at_broadcast(c, i)?.is_true() { at_broadcast(x1, i) } else { at_broadcast(x2, i) };
    tabulate_out(m, a, element)
}
