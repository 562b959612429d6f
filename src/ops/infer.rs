//! Common parts of inference macros: reading arguments and attributes, and arithmetic on dimensions.

use std::sync::Arc;

use super::{InferArgs, InferError, attr};
use crate::grammar::{
    AttrValue, BinaryOp, Call, DataType, Expr, Ndim, PrimExpr, PrimValue, ShapeStructInfo, StructInfo, TensorShape,
    TensorStructInfo,
};
use crate::judge::{Cx, Proof, VisitedTuples, is_new, with_stack};
use crate::shape::prove_equal;

/// The dimensions of a tensor, as far as they are known.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TensorDims {
    /// All dimensions.
    Known(Arc<[PrimExpr]>),
    /// The rank alone.
    Rank(u32),
    Unknown,
}

impl TensorDims {
    pub(super) fn of(t: &TensorStructInfo) -> TensorDims {
        match (&t.shape, t.ndim) {
            (Some(TensorShape::Dims(dims)), _) => TensorDims::Known(dims.clone()),
            (None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)), ndim) => {
                TensorDims::of_ndim(ndim)
            }
        }
    }

    /// The dimensions in a shape.
    pub(super) fn of_shape(s: &ShapeStructInfo) -> TensorDims {
        match &s.values {
            Some(values) => TensorDims::Known(values.clone()),
            None => TensorDims::of_ndim(s.ndim),
        }
    }

    pub(super) fn of_ndim(ndim: Ndim) -> TensorDims {
        match ndim {
            Ndim::Known(rank) => TensorDims::Rank(rank),
            Ndim::Unknown => TensorDims::Unknown,
        }
    }

    pub(super) fn of_rank(rank: usize) -> TensorDims {
        TensorDims::of_ndim(Ndim::of_len(rank))
    }

    pub(super) fn ndim(&self) -> Ndim {
        match self {
            TensorDims::Known(dims) => Ndim::of_len(dims.len()),
            TensorDims::Rank(rank) => Ndim::Known(*rank),
            TensorDims::Unknown => Ndim::Unknown,
        }
    }

    pub(super) fn rank(&self) -> Option<usize> {
        match self.ndim() {
            Ndim::Known(rank) => Some(rank as usize),
            Ndim::Unknown => None,
        }
    }

    /// A tensor with these dimensions.
    pub(super) fn tensor(self, dtype: DataType) -> StructInfo {
        let ndim = self.ndim();
        let shape = match self {
            TensorDims::Known(dims) => Some(TensorShape::Dims(dims)),
            TensorDims::Rank(_) | TensorDims::Unknown => None,
        };
        StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice: None })
    }
}

impl From<Vec<PrimExpr>> for TensorDims {
    fn from(dims: Vec<PrimExpr>) -> TensorDims {
        TensorDims::Known(dims.into())
    }
}

/// The same tensor with another data type.
pub(super) fn with_dtype(t: &TensorStructInfo, dtype: DataType) -> StructInfo {
    StructInfo::Tensor(TensorStructInfo { dtype, ..t.clone() })
}

/// The common shape of all tensors, if it is the same variable. The result of broadcasting them has this shape, too.
pub(super) fn held_by_all<'t>(tensors: impl IntoIterator<Item = &'t TensorStructInfo>) -> Option<TensorShape> {
    let mut shapes = tensors.into_iter().map(|t| t.shape.as_ref());
    let first = shapes.next()??;
    let held = match first {
        TensorShape::Var(_) | TensorShape::DataflowVar(_) => true,
        TensorShape::Dims(_) | TensorShape::Other(_) => false,
    };
    (held && shapes.all(|shape| shape == Some(first))).then(|| first.clone())
}

/// A tensor of this data type with the dimensions, or with the shape in the variable if they are unknown.
pub(super) fn of_held(held: Option<TensorShape>, dims: TensorDims, dtype: DataType) -> StructInfo {
    let (ndim, known) = (dims.ndim(), matches!(dims, TensorDims::Known(_)));
    match held {
        Some(shape) if !known => {
            StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype, ndim, vdevice: None })
        }
        Some(_) | None => dims.tensor(dtype),
    }
}

/// The result of an operator that keeps all dimensions of this tensor. The shape stays as it is, even in a variable.
pub(super) fn of_shape_of(t: &TensorStructInfo, dtype: DataType) -> StructInfo {
    StructInfo::Tensor(TensorStructInfo { dtype, vdevice: None, ..t.clone() })
}

/// The i-th argument, which must be a boxed scalar. Returns its value if that is known and an integer.
pub(super) fn prim<'a>(a: &InferArgs<'a>, i: usize) -> Result<Option<&'a PrimExpr>, InferError> {
    match (a.args.get(i), a.call.args.get(i)) {
        (Some(StructInfo::Prim(_)), Some(Expr::PrimValue(PrimValue { float: Some(_), .. }))) => Ok(None),
        (Some(StructInfo::Prim(_)), Some(Expr::PrimValue(PrimValue { value, .. }))) => Ok(Some(value)),
        (Some(StructInfo::Prim(p)), _) => Ok(p.value.as_ref()),
        (Some(other), _) => Err(InferError::op(format!("argument {i} must be a boxed scalar, it is {other}"))),
        (None, _) => Err(InferError::op(format!("argument {i} is missing"))),
    }
}

/// The i-th argument, which must be a boxed integer. Returns its value if that is known. Booleans and floats are not
/// integers.
pub(super) fn boxed_int<'a>(a: &InferArgs<'a>, i: usize) -> Result<Option<&'a PrimExpr>, InferError> {
    boxed(a, i, Domain::Integers)
}

/// The i-th argument, which must be a boxed scalar with a data type in the operator's domain.
pub(super) fn boxed<'a>(a: &InferArgs<'a>, i: usize, domain: Domain) -> Result<Option<&'a PrimExpr>, InferError> {
    let value = prim(a, i)?;
    if let Some(StructInfo::Prim(prim)) = a.args.get(i) {
        domain.demand(prim.dtype)?;
    }
    Ok(value)
}

/// Checks the number of arguments.
pub(super) fn arity<const N: usize>(a: &InferArgs<'_>) -> Result<(), InferError> {
    match a.args.len() {
        found if found == N => Ok(()),
        found => Err(InferError::op(format!("expects {N} arguments, found {found}"))),
    }
}

/// The i-th argument, which must be known to be a tensor.
pub(super) fn tensor<'a>(a: &InferArgs<'a>, i: usize) -> Result<&'a TensorStructInfo, InferError> {
    match a.args.get(i) {
        Some(StructInfo::Tensor(t)) => Ok(t),
        Some(other) => Err(InferError::op(format!("argument {i} must be a tensor, it is {other}"))),
        None => Err(InferError::op(format!("argument {i} is missing"))),
    }
}

/// The i-th argument, which must be known to be a tuple of tensors.
pub(super) fn tensors<'a>(a: &InferArgs<'a>, i: usize) -> Result<Vec<&'a TensorStructInfo>, InferError> {
    let wrong = |found: String| InferError::op(format!("argument {i} must be a tuple of tensors, it is {found}"));
    let Some(info) = a.args.get(i) else { return Err(InferError::op(format!("argument {i} is missing"))) };
    let StructInfo::Tuple(fields) = info else { return Err(wrong(info.to_string())) };
    let tensor = |field: &'a StructInfo| field.as_tensor();
    fields.iter().map(tensor).collect::<Option<Vec<_>>>().ok_or_else(|| wrong(info.to_string()))
}

/// The i-th argument, which must be known to be a shape.
pub(super) fn shape<'a>(a: &InferArgs<'a>, i: usize) -> Result<&'a ShapeStructInfo, InferError> {
    match a.args.get(i) {
        Some(StructInfo::Shape(s)) => Ok(s),
        Some(other) => Err(InferError::op(format!("argument {i} must be a shape, it is {other}"))),
        None => Err(InferError::op(format!("argument {i} is missing"))),
    }
}

/// A tensor whose shape is the i-th argument. If nothing is known about that, the variable is its shape.
pub(super) fn of_shape_arg(a: &InferArgs<'_>, i: usize, dtype: DataType) -> Result<StructInfo, InferError> {
    let dims = TensorDims::of_shape(shape(a, i)?);
    let ndim = dims.ndim();
    let held = match (&dims, a.call.args.get(i)) {
        (TensorDims::Rank(_) | TensorDims::Unknown, Some(Expr::Var(v))) => Some(TensorShape::Var(v.clone().into())),
        (TensorDims::Rank(_) | TensorDims::Unknown, Some(Expr::DataflowVar(v))) => {
            Some(TensorShape::DataflowVar(v.clone().into()))
        }
        (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, Some(_) | None) => None,
    };
    Ok(match held {
        Some(shape) => StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype, ndim, vdevice: None }),
        None => dims.tensor(dtype),
    })
}

/// The common data type of two operands; unknown if either is unknown.
pub(super) fn common_dtype(a: DataType, b: DataType) -> Result<DataType, InferError> {
    if a.is_void() || b.is_void() {
        return Ok(DataType::VOID);
    }
    if a == b { Ok(a) } else { Err(InferError::op(format!("the data types {a} and {b} differ"))) }
}

/// The common data type of all operands; unknown if one is unknown. The known ones are compared with each other.
pub(super) fn common_dtypes(dtypes: impl IntoIterator<Item = DataType>) -> Result<DataType, InferError> {
    let (mut known, mut unknown) = (None, false);
    for dtype in dtypes {
        unknown |= dtype.is_void();
        if !dtype.is_void() {
            known = Some(common_dtype(known.unwrap_or(dtype), dtype)?);
        }
    }
    Ok(known.filter(|_| !unknown).unwrap_or(DataType::VOID))
}

/// The data types on which an operator is defined. A Boolean is neither a number nor an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Domain {
    Numbers,
    Floats,
    Integers,
    /// Integers and Booleans, which have bits.
    Bits,
    Booleans,
}

impl Domain {
    /// Rejects a data type that is certainly outside. An unknown data type is accepted.
    pub(super) fn demand(self, dtype: DataType) -> Result<(), InferError> {
        let (holds, expected) = match self {
            Domain::Numbers => (!dtype.is_bool(), "numbers"),
            Domain::Floats => (dtype.is_float(), "a floating-point data type"),
            Domain::Integers => (!dtype.is_bool() && !dtype.is_float(), "integers"),
            Domain::Bits => (!dtype.is_float(), "integers or Booleans"),
            Domain::Booleans => (dtype.is_bool(), "Booleans"),
        };
        if holds || dtype.is_void() {
            return Ok(());
        }
        Err(InferError::op(format!("expects {expected}, found {dtype}")))
    }
}

/// Whether a dimension is provably not a multiple of a number.
pub(super) fn indivisible(cx: &mut Cx, a: &PrimExpr, by: i64) -> bool {
    let rest = |a| PrimExpr::binary(BinaryOp::FloorMod, a, PrimExpr::IntImm(by));
    match a {
        PrimExpr::IntImm(a) => a.checked_rem(by) != Some(0),
        PrimExpr::Var(_) => false,
        PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            by == 0 || differ(cx, &rest(a.clone()), &PrimExpr::IntImm(0))
        }
    }
}

/// Whether a number is provably not negative. Shape variables are sizes, so they are not negative.
pub(super) fn not_negative(a: &PrimExpr) -> bool {
    at_least(a, 0)
}

/// Whether a number is provably at least as large as a constant.
pub(super) fn at_least(a: &PrimExpr, least: i64) -> bool {
    match a {
        PrimExpr::IntImm(a) => *a >= least,
        PrimExpr::Var(_) if least <= 0 => true,
        PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            let holds = PrimExpr::binary(BinaryOp::Ge, a.clone(), PrimExpr::IntImm(least));
            prove_equal(&mut Cx::new(), &holds, &PrimExpr::IntImm(1)) == Proof::Equal
        }
    }
}

/// Rejects tensors with a negative constant dimension.
pub(super) fn no_negative_size(info: &StructInfo) -> Result<(), InferError> {
    no_negative_size_in(info, &mut VisitedTuples::default())
}

fn no_negative_size_in(info: &StructInfo, seen: &mut VisitedTuples) -> Result<(), InferError> {
    if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) = info {
        let known = |dim: &PrimExpr| if let PrimExpr::IntImm(size) = dim { Some(*size) } else { None };
        let negative = dims.iter().filter_map(known).find(|size| *size < 0);
        let told = |size: i64| InferError::op(format!("the result would have a dimension of {size}"));
        negative.map_or(Ok(()), |size| Err(InferError { negative, ..told(size) }))
    } else if let StructInfo::Tuple(fields) = info
        && is_new(fields, seen)
    {
        with_stack(|| fields.iter().try_for_each(|field| no_negative_size_in(field, seen)))
    } else {
        Ok(())
    }
}

/// Whether two dimensions are provably different.
pub(super) fn differ(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> bool {
    prove_equal(cx, a, b) == Proof::Different
}

/// The common dimensions of several operands that are equal except along one axis. All pairs are compared, so an
/// unknown one hides nothing. Provably different ranks and sizes are an error. The result has the dimensions of the
/// first operand.
pub(super) fn alike(cx: &mut Cx, all: &[TensorDims], but: Option<usize>) -> Result<TensorDims, InferError> {
    let mut ranks = all.iter().filter_map(TensorDims::rank);
    let Some(rank) = ranks.next() else { return Ok(TensorDims::Unknown) };
    if let Some(other) = ranks.find(|other| *other != rank) {
        return Err(InferError::op(format!("the ranks {rank} and {other} differ")));
    }
    let known: Vec<&Arc<[PrimExpr]>> =
        all.iter().filter_map(|dims| if let TensorDims::Known(dims) = dims { Some(dims) } else { None }).collect();
    let mut same = known.len() == all.len();
    for i in (0..rank).filter(|i| but != Some(*i)) {
        let mut found: Vec<&PrimExpr> = Vec::new();
        for size in known.iter().filter_map(|dims| dims.get(i)) {
            if found.iter().any(|other| same_dim(other, size)) {
                continue;
            }
            if let Some(other) = found.iter().find(|other| differ(cx, other, size)) {
                return Err(InferError::op(format!("dimension {i} is {other} in one operand and {size} in another")));
            }
            found.push(size);
        }
        same &= found.len() < 2;
    }
    Ok(match known.first() {
        Some(first) if same => TensorDims::Known((*first).clone()),
        Some(_) | None => TensorDims::of_rank(rank),
    })
}

/// The result of broadcasting several shapes. All pairs are compared, so no shape hides a conflict between two others.
pub(super) fn broadcast_all(all: &[TensorDims]) -> Result<TensorDims, InferError> {
    for (i, a) in all.iter().enumerate() {
        for b in all.iter().skip(i + 1) {
            broadcastable(a, b)?;
        }
    }
    all.iter().try_fold(TensorDims::Known([].into()), |a, b| broadcast(&a, b))
}

/// Rejects two constant dimensions that differ if neither is 1.
fn broadcastable(a: &TensorDims, b: &TensorDims) -> Result<(), InferError> {
    let (TensorDims::Known(a), TensorDims::Known(b)) = (a, b) else { return Ok(()) };
    a.iter().rev().zip(b.iter().rev()).try_for_each(|(x, y)| match (x, y) {
        (PrimExpr::IntImm(x), PrimExpr::IntImm(y)) if x != y && *x != 1 && *y != 1 => {
            Err(InferError::op(format!("the dimensions {x} and {y} cannot be broadcast")))
        }
        (
            PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..),
            _,
        ) => Ok(()),
    })
}

/// Broadcasts from the right: equal sizes stay, and 1 is replaced by the other size. An undecided size is unknown.
pub(super) fn broadcast(a: &TensorDims, b: &TensorDims) -> Result<TensorDims, InferError> {
    match (a, b) {
        (TensorDims::Known(a), TensorDims::Known(b)) => broadcast_known(a, b),
        (TensorDims::Known(_) | TensorDims::Rank(_), TensorDims::Known(_) | TensorDims::Rank(_)) => {
            Ok(TensorDims::of_ndim(a.ndim().max(b.ndim())))
        }
        (TensorDims::Unknown, _) | (_, TensorDims::Unknown) => Ok(TensorDims::Unknown),
    }
}

fn broadcast_known(a: &Arc<[PrimExpr]>, b: &Arc<[PrimExpr]>) -> Result<TensorDims, InferError> {
    if a == b {
        return Ok(TensorDims::Known(a.clone()));
    }
    let rank = a.len().max(b.len());
    let mut dims = Vec::with_capacity(rank);
    let at = |dims: &[PrimExpr], i: usize| (i + dims.len()).checked_sub(rank).and_then(|i| dims.get(i).cloned());
    for i in 0..rank {
        let dim = match (at(a, i), at(b, i)) {
            (Some(x), Some(y)) => match broadcast_dim(x, y)? {
                Some(dim) => dim,
                None => return Ok(TensorDims::of_ndim(Ndim::of_len(rank))),
            },
            (Some(x), None) | (None, Some(x)) => x,
            (None, None) => PrimExpr::IntImm(1),
        };
        dims.push(dim);
    }
    Ok(dims.into())
}

/// Whether two dimensions are provably equal by the prover's normal form.
pub(super) fn same_dim(x: &PrimExpr, y: &PrimExpr) -> bool {
    x == y || prove_equal(&mut Cx::new(), x, y) == Proof::Equal
}

/// `None` if the size depends on unknown values.
fn broadcast_dim(x: PrimExpr, y: PrimExpr) -> Result<Option<PrimExpr>, InferError> {
    if same_dim(&x, &y) {
        return Ok(Some(x));
    }
    match (&x, &y) {
        (PrimExpr::IntImm(1), _) => Ok(Some(y)),
        (_, PrimExpr::IntImm(1)) => Ok(Some(x)),
        (PrimExpr::IntImm(i), PrimExpr::IntImm(j)) => {
            Err(InferError::op(format!("the dimensions {i} and {j} cannot be broadcast")))
        }
        (
            PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..),
            _,
        ) => Ok(None),
    }
}

pub(super) fn constant(size: i64) -> PrimExpr {
    PrimExpr::IntImm(size)
}

/// `a op b`. Constants are folded unless that overflows.
pub(super) fn dim(op: BinaryOp, a: PrimExpr, b: PrimExpr) -> PrimExpr {
    if let (PrimExpr::IntImm(a), PrimExpr::IntImm(b)) = (&a, &b)
        && let Some(value) = folded(op, *a, *b)
    {
        return PrimExpr::IntImm(value);
    }
    if let (BinaryOp::Mul, PrimExpr::IntImm(1)) | (BinaryOp::Add, PrimExpr::IntImm(0)) = (op, &a) {
        return b;
    }
    if let (BinaryOp::Mul, PrimExpr::IntImm(1)) | (BinaryOp::Add | BinaryOp::Sub, PrimExpr::IntImm(0)) = (op, &b) {
        return a;
    }
    PrimExpr::binary(op, a, b)
}

/// The result of an operator on two constants, if it can be folded without overflow.
fn folded(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    if op == BinaryOp::Add {
        a.checked_add(b)
    } else if op == BinaryOp::Sub {
        a.checked_sub(b)
    } else if op == BinaryOp::Mul {
        a.checked_mul(b)
    } else if op == BinaryOp::FloorDiv && b > 0 {
        Some(a.div_euclid(b))
    } else {
        None
    }
}

/// The product of dimensions.
pub(super) fn product<'a>(dims: impl IntoIterator<Item = &'a PrimExpr>) -> PrimExpr {
    dims.into_iter().fold(PrimExpr::IntImm(1), |n, d| dim(BinaryOp::Mul, n, d.clone()))
}

/// An axis; a negative one counts from the end. An error if it is not below the rank.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, InferError> {
    let from_start = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    let found = from_start.and_then(|a| usize::try_from(a).ok()).filter(|a| *a < rank);
    found.ok_or_else(|| InferError::op(format!("the axis {axis} does not exist in rank {rank}")))
}

/// Axes read as by [`axis`], without repetition.
pub(super) fn axes(given: &[i64], rank: usize) -> Result<Vec<usize>, InferError> {
    let mut found = Vec::with_capacity(given.len());
    for a in given {
        let a = axis(*a, rank)?;
        if found.contains(&a) {
            return Err(InferError::op(format!("the axis {a} is given twice")));
        }
        found.push(a);
    }
    Ok(found)
}

/// An integer attribute.
pub(super) fn int_attr(call: &Call, name: &str) -> Result<Option<i64>, InferError> {
    match attr(call, name) {
        None => Ok(None),
        Some(AttrValue::Int(i)) => Ok(Some(*i)),
        Some(AttrValue::Prim(PrimExpr::IntImm(i))) => Ok(Some(*i)),
        Some(other) => Err(InferError::op(format!("the attribute `{name}` must be an integer, it is {other}"))),
    }
}

/// An integer attribute that is required or has a default.
pub(super) fn given_int(call: &Call, name: &str) -> Result<i64, InferError> {
    int_attr(call, name)?.ok_or_else(|| InferError::op(format!("the attribute `{name}` is missing")))
}

/// A list of integers that is required or has a default.
pub(super) fn given_ints(call: &Call, name: &str) -> Result<Vec<i64>, InferError> {
    ints_attr(call, name)?.ok_or_else(|| InferError::op(format!("the attribute `{name}` is missing")))
}

/// A floating-point attribute with a default.
pub(super) fn float_attr(call: &Call, name: &str) -> Result<f64, InferError> {
    match attr(call, name) {
        Some(AttrValue::Float(x)) => Ok(x.get()),
        Some(AttrValue::Int(i)) => Ok(*i as f64),
        Some(other) => Err(InferError::op(format!("the attribute `{name}` must be a number, it is {other}"))),
        None => Err(InferError::op(format!("the attribute `{name}` is missing"))),
    }
}

/// A string attribute with a default.
pub(super) fn str_attr<'a>(call: &'a Call, name: &str) -> Result<&'a str, InferError> {
    match attr(call, name) {
        Some(AttrValue::Str(text)) => Ok(text),
        Some(other) => Err(InferError::op(format!("the attribute `{name}` must be a string, it is {other}"))),
        None => Err(InferError::op(format!("the attribute `{name}` is missing"))),
    }
}

/// A Boolean attribute; false if absent.
pub(super) fn bool_attr(call: &Call, name: &str) -> Result<bool, InferError> {
    match attr(call, name) {
        None => Ok(false),
        Some(AttrValue::Bool(b)) => Ok(*b),
        Some(AttrValue::Int(i)) => Ok(*i != 0),
        Some(other) => Err(InferError::op(format!("the attribute `{name}` must be a Boolean, it is {other}"))),
    }
}

/// An attribute that is a list of integers. A single integer stands for a list of one.
pub(super) fn ints_attr(call: &Call, name: &str) -> Result<Option<Vec<i64>>, InferError> {
    let wrong = |found: &AttrValue| InferError::op(format!("the attribute `{name}` must list integers: {found}"));
    let int = |item: &AttrValue| {
        if let AttrValue::Int(i) | AttrValue::Prim(PrimExpr::IntImm(i)) = item { Ok(*i) } else { Err(wrong(item)) }
    };
    match attr(call, name) {
        None => Ok(None),
        Some(AttrValue::List(items)) => items.iter().map(int).collect::<Result<_, _>>().map(Some),
        Some(single) => Ok(Some(vec![int(single)?])),
    }
}

/// An attribute that is a list of `count` numbers. A single number stands for a list of equal ones.
pub(super) fn floats_attr(call: &Call, name: &str, count: usize) -> Result<Vec<f64>, InferError> {
    let Some(AttrValue::List(items)) = attr(call, name) else { return Ok(vec![float_attr(call, name)?; count]) };
    let wrong = |found: &AttrValue| InferError::op(format!("the attribute `{name}` must list numbers: {found}"));
    let number = |item: &AttrValue| {
        if let AttrValue::Float(x) = item {
            Ok(x.get())
        } else if let AttrValue::Int(i) = item {
            Ok(*i as f64)
        } else {
            Err(wrong(item))
        }
    };
    match items.len() {
        found if found == count => items.iter().map(number).collect(),
        found => Err(InferError::op(format!("the attribute `{name}` must list {count} numbers, it lists {found}"))),
    }
}

/// A data type in an attribute.
pub(super) fn dtype_attr(call: &Call, name: &str) -> Result<Option<DataType>, InferError> {
    match attr(call, name) {
        None => Ok(None),
        Some(AttrValue::DataType(d)) => Ok(Some(*d)),
        Some(AttrValue::Str(text)) => text.parse().map(Some).map_err(|e| InferError::op(format!("`{name}`: {e}"))),
        Some(other) => Err(InferError::op(format!("the attribute `{name}` must be a data type, it is {other}"))),
    }
}

/// A data type in a required attribute.
pub(super) fn required_dtype(call: &Call, name: &str) -> Result<DataType, InferError> {
    match dtype_attr(call, name)? {
        Some(dtype) if !dtype.is_void() => Ok(dtype),
        Some(_) | None => Err(InferError::op(format!("the attribute `{name}` is missing"))),
    }
}
