//! `layout_transform`.

use crate::grammar::{AttrValue, BinaryOp, Call, DataType, IndexMap, PrimExpr, StructInfo};
use crate::judge::{Cx, with_stack};
use crate::ops::infer::{TensorDims, arity, constant, dim, float_attr, not_negative, tensor};
use crate::ops::kernel::{self, at, beside, convert, fail, fresh, from_list, held};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::shape::evaluate;
use crate::value::{Host, Scalar, Stop, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "layout_transform",
    [rule!("OPS.layout_transform.infer"), rule!("OPS.layout_transform.value"), rule!("OPS.layout_transform.attrs")],
    [
        OpParam::Arg("x"),
        OpParam::Attr(Attr::required("index_map", AttrKind::IndexMap)),
        OpParam::Attr(Attr::optional("pad_value", AttrKind::Float)),
        OpParam::Attr(Attr::ints("axis_separators", &[])),
        OpParam::Attr(Attr::ints("input_axis_separators", &[])),
    ],
    infer_layout_transform,
    Exact,
    layout_transform
)];

fn index_map(call: &Call) -> Result<&IndexMap, InferError> {
    match attr(call, "index_map") {
        Some(AttrValue::IndexMap(map)) => Ok(map),
        Some(_) | None => Err(InferError::op("the attribute `index_map` is missing")),
    }
}

fn infer_layout_transform(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (x, map) = (tensor(a, 0)?, index_map(a.call)?);
    let dims = TensorDims::of(x);
    if let Some(rank) = dims.rank()
        && rank != map.params.len()
    {
        return Err(InferError::op(format!("the index map takes {} indices, not {rank}", map.params.len())));
    }
    let TensorDims::Known(dims) = dims else { return Ok(TensorDims::of_rank(map.results.len()).tensor(x.dtype)) };
    let size = |index: &PrimExpr| values(index, map, &dims).map(no_less_than_none);
    let sizes: Option<Vec<PrimExpr>> = map.results.iter().map(size).collect();
    Ok(sizes.map_or(TensorDims::of_rank(map.results.len()), TensorDims::from).tensor(x.dtype))
}

/// A number of elements, with negative values replaced by 0: an axis may have no elements.
fn no_less_than_none(size: PrimExpr) -> PrimExpr {
    match size {
        PrimExpr::IntImm(size) => constant(size.max(0)),
        size if not_negative(&size) => size,
        size => dim(BinaryOp::Max, constant(0), size),
    }
}

/// The number of values that an index can take, from 0 on, if the parameters are below these sizes.
fn values(index: &PrimExpr, map: &IndexMap, sizes: &[PrimExpr]) -> Option<PrimExpr> {
    match index {
        PrimExpr::Var(var) => {
            let place = map.params.iter().position(|param| param == var)?;
            sizes.get(place).cloned()
        }
        PrimExpr::IntImm(i) => i.checked_add(1).filter(|count| *count > 0).map(constant),
        PrimExpr::Binary(op, a, b) => of_operation(*op, a, b, map, sizes),
        PrimExpr::Not(_) | PrimExpr::Select(..) => None,
    }
}

fn of_operation(op: BinaryOp, a: &PrimExpr, b: &PrimExpr, map: &IndexMap, sizes: &[PrimExpr]) -> Option<PrimExpr> {
    let less = |count: PrimExpr| dim(BinaryOp::Sub, count, constant(1));
    let positive = |b: &PrimExpr| if let PrimExpr::IntImm(b @ 1..) = b { Some(*b) } else { None };
    match op {
        BinaryOp::Add => {
            let (a, b) = (values(a, map, sizes)?, values(b, map, sizes)?);
            Some(less(dim(BinaryOp::Add, a, b)))
        }
        BinaryOp::Mul => {
            let (a, factor) = match (positive(a), positive(b)) {
                (_, Some(factor)) => (a, factor),
                (Some(factor), None) => (b, factor),
                (None, None) => return None,
            };
            let last = dim(BinaryOp::Mul, less(values(a, map, sizes)?), constant(factor));
            Some(dim(BinaryOp::Add, last, constant(1)))
        }
        BinaryOp::Div | BinaryOp::FloorDiv => {
            let by = positive(b)?;
            let up = dim(BinaryOp::Add, values(a, map, sizes)?, constant(by - 1));
            Some(if by == 1 { up } else { dim(BinaryOp::FloorDiv, up, constant(by)) })
        }
        // A block is always complete.
        BinaryOp::Mod | BinaryOp::FloorMod => {
            values(a, map, sizes)?;
            positive(b).map(constant)
        }
        BinaryOp::Sub
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => None,
    }
}

/// The number of steps to compute an index.
fn steps(index: &PrimExpr) -> u64 {
    match index {
        PrimExpr::Var(_) | PrimExpr::IntImm(_) => 1,
        PrimExpr::Not(a) => with_stack(|| steps(a)).saturating_add(1),
        PrimExpr::Binary(_, a, b) => with_stack(|| steps(a).saturating_add(steps(b))).saturating_add(1),
        PrimExpr::Select(c, a, b) => {
            with_stack(|| steps(c).saturating_add(steps(a)).saturating_add(steps(b))).saturating_add(1)
        }
    }
}

/// The destination of the element at an index.
fn target(cx: &mut Cx, map: &IndexMap, index: &[i64]) -> Result<Vec<i64>, Stop> {
    let value = |var: &crate::grammar::ShapeVar| {
        map.params.iter().position(|param| param == var).and_then(|place| index.get(place)).copied()
    };
    let results = map.results.iter().map(|result| evaluate(cx, result, &value));
    results.collect::<Result<_, _>>().map_err(|_| fail("the index map cannot be computed"))
}

/// Moves each element to the place that the index map gives. Places without an element are padding.
fn layout_transform(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, map, out) = (kernel::tensor(a, 0)?, index_map(a.call)?, kernel::out(a)?);
    let steps = map.results.iter().map(steps).fold(0, u64::saturating_add);
    let _held = beside(m, count(&out.shape))?;
    m.spend((x.len() as u64).saturating_mul(steps).saturating_add(count(&out.shape)))?;
    let length = usize::try_from(count(&out.shape)).map_err(|_| Stop::OutOfFuel)?;
    let mut found: Vec<Option<Scalar>> = vec![None; length];
    let mut cx = Cx::new();
    for index in kernel::indices(x.shape()) {
        let place = target(&mut cx, map, &index)?;
        if !place.iter().zip(&out.shape).all(|(i, size)| (0..*size).contains(i)) {
            return Err(fail(format!("the index map leads to {place:?}, outside of {:?}", out.shape)));
        }
        let flat = place.iter().zip(&out.shape).fold(0, |flat, (i, size)| flat * size + i);
        match usize::try_from(flat).ok().and_then(|flat| found.get_mut(flat)) {
            Some(slot @ None) => *slot = Some(at(x, &index)?),
            Some(Some(_)) => return Err(Stop::unspecified("the index map leads two elements to one place")),
            None => return Err(fail("the index map leads outside")),
        }
    }
    let filled = match found.iter().any(Option::is_none) {
        true => Some(padding(a.call, x.dtype())?),
        false => None,
    };
    let elements: Vec<Scalar> = found.into_iter().filter_map(|element| element.or(filled)).collect();
    fresh(from_list(m, out.dtype, &out.shape, &elements)?)
}

/// The padding value as an element.
fn padding(call: &Call, dtype: DataType) -> Result<Scalar, Stop> {
    match attr(call, "pad_value") {
        None => Err(Stop::unspecified("padding without a value")),
        Some(AttrValue::Int(i)) => held(*i, dtype),
        Some(_) => convert(Scalar::Float(float_attr(call, "pad_value")?), dtype),
    }
}
