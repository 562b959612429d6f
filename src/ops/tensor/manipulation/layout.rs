//! `layout_transform`.

use crate::grammar::{AttrValue, BinaryOp, Call, IndexMap, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Dims, arity, constant, dim, float_attr, tensor};
use crate::ops::kernel::{self, at, beside, convert, fail, fresh, from_list};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, Param, attr};
use crate::shape::evaluate;
use crate::value::{Host, Scalar, Stop, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "layout_transform",
    [rule!("OPS.layout_transform.infer"), rule!("OPS.layout_transform.value"), rule!("OPS.layout_transform.attrs")],
    [
        Param::Arg("x"),
        Param::Attr(Attr::required("index_map", AttrKind::IndexMap)),
        Param::Attr(Attr::optional("pad_value", AttrKind::Float)),
        Param::Attr(Attr::ints("axis_separators", &[])),
        Param::Attr(Attr::ints("input_axis_separators", &[])),
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
    let dims = Dims::of(x);
    if let Some(rank) = dims.rank()
        && rank != map.params.len()
    {
        return Err(InferError::op(format!("the index map takes {} indices, not {rank}", map.params.len())));
    }
    let Dims::Known(dims) = dims else { return Ok(Dims::of_rank(map.results.len()).tensor(x.dtype)) };
    let sizes: Option<Vec<PrimExpr>> = map.results.iter().map(|index| values(index, map, &dims)).collect();
    Ok(sizes.map_or(Dims::of_rank(map.results.len()), Dims::from).tensor(x.dtype))
}

/// How many values an index has room for, from 0 on, where the parameters are below these sizes.
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
        // A block is there as a whole.
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

/// Where the element at an index goes.
fn target(map: &IndexMap, index: &[i64]) -> Result<Vec<i64>, Stop> {
    let value = |var: &crate::grammar::ShapeVar| {
        map.params.iter().position(|param| param == var).and_then(|place| index.get(place)).copied()
    };
    let results = map.results.iter().map(|result| evaluate(&mut Cx::new(), result, &value));
    results.collect::<Result<_, _>>().map_err(|_| fail("the index map cannot be computed"))
}

/// Each element goes where the index map says; what no element goes to is padding.
fn layout_transform(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, map, out) = (kernel::tensor(a, 0)?, index_map(a.call)?, kernel::out(a)?);
    m.spend((x.len() as u64).saturating_mul(map.results.len() as u64).saturating_add(count(&out.shape)))?;
    let _held = beside(m, count(&out.shape))?;
    let length = usize::try_from(count(&out.shape)).map_err(|_| Stop::OutOfFuel)?;
    let mut found: Vec<Option<Scalar>> = vec![None; length];
    for index in kernel::indices(x.shape()) {
        let place = target(map, &index)?;
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
    let padding = match attr(a.call, "pad_value") {
        Some(_) => Some(convert(Scalar::Float(float_attr(a.call, "pad_value")?), x.dtype())?),
        None => None,
    };
    let elements: Option<Vec<Scalar>> = found.into_iter().map(|element| element.or(padding)).collect();
    let elements = elements.ok_or_else(|| Stop::unspecified("padding without a value"))?;
    fresh(from_list(m, out.dtype, &out.shape, &elements)?)
}
