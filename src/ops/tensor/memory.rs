//! Memory: storages, tensors in storages, and views.

use crate::grammar::{BinaryOp, DataType, Expr, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{TensorDims, arity, boxed_int, dim, of_shape_arg, product, shape, tensor};
use crate::ops::kernel::elementwise::{infer_itself, infer_same};
use crate::ops::kernel::{self, Out, fail};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam, run_prim_func};
use crate::value::{Host, Stop, Storage, Tensor, Value, count};

const SIZE: OpParam = OpParam::ShapeArg("size");
const STORAGE: OpParam = OpParam::Arg("storage");
const OFFSET: OpParam = OpParam::Arg("offset");
const SHAPE: OpParam = OpParam::ShapeArg("shape");
const DTYPE: OpParam = OpParam::DtypeArg("dtype");
const SCOPE: OpParam = OpParam::Arg("storage_scope");
const DEVICE: OpParam = OpParam::Arg("runtime_device_index");

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "builtin.alloc_tensor",
        [rule!("OPS.builtin.alloc_tensor.infer"), rule!("OPS.builtin.alloc_tensor.value")],
        [SHAPE, DTYPE, DEVICE, SCOPE],
        infer_alloc_tensor,
        Exact,
        alloc_tensor
    )
    .unread(),
    operator!(
        "memory.alloc_storage",
        [rule!("OPS.memory.alloc_storage.infer"), rule!("OPS.memory.alloc_storage.value")],
        [SIZE, OpParam::Arg("virtual_device_index"), SCOPE, DTYPE],
        infer_storage,
        Exact,
        alloc_storage
    )
    .unread(),
    operator!(
        "memory.alloc_tensor",
        [rule!("OPS.memory.alloc_tensor.infer"), rule!("OPS.memory.alloc_tensor.value")],
        [STORAGE, OFFSET, SHAPE, DTYPE, OpParam::OptionalArg("runtime_device_ind")],
        infer_tensor_in_storage,
        Exact,
        alloc_tensor_in_storage
    )
    .unread(),
    operator!(
        "memory.kill_storage",
        [rule!("OPS.memory.kill_storage.infer"), rule!("OPS.memory.kill_storage.value")],
        [STORAGE],
        infer_kill,
        Exact,
        kill
    )
    .unread()
    .impure(),
    operator!(
        "memory.kill_tensor",
        [rule!("OPS.memory.kill_tensor.infer"), rule!("OPS.memory.kill_tensor.value")],
        [OpParam::Arg("tensor")],
        infer_kill,
        Exact,
        kill
    )
    .unread()
    .impure(),
    operator!(
        "memory.view",
        [rule!("OPS.memory.view.infer"), rule!("OPS.memory.view.value")],
        [OpParam::Arg("data"), SHAPE, DTYPE, OpParam::Arg("relative_byte_offset")],
        infer_view,
        Exact,
        view
    )
    .unread(),
    operator!(
        "memory.ensure_zero_offset",
        [rule!("OPS.memory.ensure_zero_offset.infer"), rule!("OPS.memory.ensure_zero_offset.value")],
        [OpParam::Arg("data")],
        infer_same,
        Exact,
        ensure_zero_offset
    ),
    operator!(
        "vm.alloc_storage",
        [rule!("OPS.vm.alloc_storage.infer"), rule!("OPS.vm.alloc_storage.value")],
        [SHAPE, DEVICE, DTYPE, SCOPE],
        infer_storage,
        Exact,
        alloc_storage
    )
    .unread(),
    operator!(
        "vm.alloc_tensor",
        [rule!("OPS.vm.alloc_tensor.infer"), rule!("OPS.vm.alloc_tensor.value")],
        [STORAGE, OFFSET, SHAPE, DTYPE, OpParam::Arg("runtime_device_ind")],
        infer_tensor_of_machine,
        Exact,
        alloc_tensor_in_storage
    )
    .unread(),
    operator!(
        "vm.kill_object",
        [rule!("OPS.vm.kill_object.infer"), rule!("OPS.vm.kill_object.value")],
        [OpParam::Arg("obj")],
        infer_kill,
        Exact,
        kill
    )
    .unread()
    .impure(),
    operator!(
        "vm.call_tir_dyn",
        [rule!("OPS.vm.call_tir_dyn.infer"), rule!("OPS.vm.call_tir_dyn.value")],
        [OpParam::Arg("func"), OpParam::Arg("args")],
        infer_call_tir_dyn,
        Exact,
        call_tir_dyn
    )
    .unread()
    .impure(),
];

/// The i-th argument, a data type. It is known for a literal only; other arguments may hold one.
fn dtype(a: &InferArgs<'_>, i: usize) -> Result<DataType, InferError> {
    match (a.call.args.get(i), a.args.get(i)) {
        (Some(Expr::DataTypeImm(dtype)), _) => Ok(dtype.value),
        (Some(Expr::StringImm(text)), _) => {
            Err(InferError::op(format!("argument {i} must be a data type, it is the string {:?}", text.value)))
        }
        (_, Some(StructInfo::Object)) => Ok(DataType::VOID),
        (_, Some(other)) => Err(InferError::op(format!("argument {i} must be a data type, it is {other}"))),
        (_, None) => Err(InferError::op(format!("argument {i} is missing"))),
    }
}

/// The i-th argument, an integer. Rejects an argument known not to be a boxed integer.
fn integer<'a>(a: &InferArgs<'a>, i: usize) -> Result<Option<&'a PrimExpr>, InferError> {
    match a.args.get(i) {
        Some(StructInfo::Object) | None => Ok(None),
        Some(_) => boxed_int(a, i),
    }
}

/// The i-th argument, the name of a storage scope.
fn scope(a: &InferArgs<'_>, i: usize) -> Result<(), InferError> {
    match (a.call.args.get(i), a.args.get(i)) {
        (Some(Expr::DataTypeImm(dtype)), _) => {
            Err(InferError::op(format!("argument {i} must be a string, it is the data type {}", dtype.value)))
        }
        (_, Some(StructInfo::Object) | None) => Ok(()),
        (_, Some(other)) => Err(InferError::op(format!("argument {i} must be a string, it is {other}"))),
    }
}

/// A new tensor with the given shape and data type.
fn infer_alloc_tensor(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    integer(a, 2)?;
    scope(a, 3)?;
    of_shape_arg(a, 0, dtype(a, 1)?)
}

/// An object. Its data type and its scope may come in either order.
fn infer_storage(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    shape(a, 0)?;
    integer(a, 1)?;
    dtype(a, 2).and_then(|_| scope(a, 3)).or_else(|_| scope(a, 2).and_then(|()| dtype(a, 3).map(drop)))?;
    Ok(StructInfo::Object)
}

/// A tensor in a storage. A shape held in a variable stays there.
fn infer_tensor_in_storage(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    match a.args.len() {
        4 | 5 => {}
        found => return Err(InferError::op(format!("expects 4 or 5 arguments, found {found}"))),
    }
    of_shape_arg(a, 2, in_storage(a)?)
}

/// As [`infer_tensor_in_storage`]. The known dimensions are those of the shape argument.
fn infer_tensor_of_machine(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<5>(a)?;
    let dtype = in_storage(a)?;
    Ok(TensorDims::of_shape(shape(a, 2)?).tensor(dtype))
}

/// Checks the arguments other than the shape. Returns the data type.
fn in_storage(a: &InferArgs<'_>) -> Result<DataType, InferError> {
    if let Some(PrimExpr::IntImm(offset @ ..0)) = integer(a, 1)? {
        return Err(InferError::op(format!("a tensor cannot begin {offset} bytes before its storage")));
    }
    integer(a, 4)?;
    dtype(a, 3)
}

/// The result is the empty tuple.
fn infer_kill(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_itself(cx, a)?;
    Ok(StructInfo::tuple([]))
}

/// The arguments are the function and a tuple. The result is the empty tuple.
fn infer_call_tir_dyn(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    match a.args.get(1) {
        Some(StructInfo::Tuple(_) | StructInfo::Object) => Ok(StructInfo::tuple([])),
        Some(other) => Err(InferError::op(format!("argument 1 must be a tuple, it is {other}"))),
        None => Err(InferError::op("argument 1 is missing")),
    }
}

// Views.

/// Whether an argument is the empty tuple, which stands for an omitted argument.
fn left_out(a: &InferArgs<'_>, i: usize) -> bool {
    matches!(a.args.get(i), Some(StructInfo::Tuple(fields)) if fields.is_empty())
}

/// The view has the shape and data type of the tensor, unless others are given.
fn infer_view(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let data = tensor(a, 0)?;
    let dims = if left_out(a, 1) { TensorDims::of(data) } else { TensorDims::of_shape(shape(a, 1)?) };
    let own = if left_out(a, 2) { data.dtype } else { dtype(a, 2)? };
    let offset = if left_out(a, 3) { Some(&PrimExpr::IntImm(0)) } else { int64(a, 3)? };
    if let Some(PrimExpr::IntImm(offset)) = offset {
        within(a, data, &dims, own, *offset)?;
    }
    Ok(dims.tensor(own))
}

fn int64<'a>(a: &InferArgs<'a>, i: usize) -> Result<Option<&'a PrimExpr>, InferError> {
    let value = boxed_int(a, i)?;
    match a.args.get(i) {
        Some(StructInfo::Prim(prim)) if prim.dtype == DataType::INT64 => Ok(value),
        Some(_) | None => Err(InferError::op(format!("argument {i} must be an int64"))),
    }
}

/// Rejects a view that certainly extends beyond the tensor's memory.
fn within(
    a: &InferArgs<'_>,
    data: &TensorStructInfo,
    dims: &TensorDims,
    dtype: DataType,
    offset: i64,
) -> Result<(), InferError> {
    if offset < 0 {
        return Err(InferError::op(format!("a view cannot begin {offset} bytes from the beginning")));
    }
    // Counts in elements if both have the same data type, known or unknown; otherwise in bytes.
    let same = left_out(a, 2) && offset == 0;
    let (of_data, of_view) = match (data.dtype.is_void() || dtype.is_void(), same) {
        (true, true) => (1, 1),
        (true, false) => return Ok(()),
        (false, _) => (data.dtype.bytes(), dtype.bytes()),
    };
    let (Some(there), Some(reached)) = (bytes(&TensorDims::of(data), of_data), bytes(dims, of_view)) else {
        return Ok(());
    };
    match reached.checked_add(offset) {
        Some(end) if end <= there => Ok(()),
        Some(_) | None => {
            Err(InferError::op(format!("a view of {reached} bytes from {offset} on reaches beyond {there} bytes")))
        }
    }
}

fn bytes(dims: &TensorDims, of_element: usize) -> Option<i64> {
    let TensorDims::Known(dims) = dims else { return None };
    let all = dim(BinaryOp::Mul, product(dims.iter()), PrimExpr::IntImm(of_element as i64));
    if let PrimExpr::IntImm(bytes) = all { Some(bytes) } else { None }
}

// Evaluation.

/// MEM.STORAGE: the number of bytes is the product of the sizes. No byte is written yet.
fn alloc_storage(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    new_storage(m, kernel::shape(a, 0)?)
}

/// A storage whose number of bytes is the product of the sizes.
pub(in crate::ops) fn new_storage(m: &mut dyn Host, sizes: &[i64]) -> Result<Value, Stop> {
    let size = i64::try_from(count(sizes)).map_err(|_| Stop::OutOfFuel)?;
    let size = m.cx().conclude(rule!("MEM.STORAGE"), size);
    let account = m.account().clone();
    Ok(Value::storage(Storage::allocate(&account, u64::try_from(size).unwrap_or(0))?))
}

/// A tensor in a new storage of exactly its size.
fn alloc_tensor(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let tensor = new_tensor(m, &kernel::out(a)?)?;
    let account = m.account().clone();
    let storage = Storage::allocate(&account, bytes_of(&tensor))?;
    place(m, tensor, &Value::storage(storage), 0)
}

fn alloc_tensor_in_storage(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let storage = a.values.first().ok_or_else(|| fail("a storage is missing"))?;
    let offset = kernel::int(a, 1)?;
    let tensor = new_tensor(m, &kernel::out(a)?)?;
    place(m, tensor, storage, offset)
}

pub(in crate::ops) fn new_tensor(m: &mut dyn Host, out: &Out) -> Result<Tensor, Stop> {
    kernel::zeros(m, out.dtype, &out.shape)
}

fn bytes_of(tensor: &Tensor) -> u64 {
    count(tensor.shape()).saturating_mul(tensor.dtype().bytes() as u64)
}

/// MEM.TENSOR: a tensor in a storage, starting at a byte offset. MEM.BOUNDS: it must not end beyond the storage.
pub(in crate::ops) fn place(m: &mut dyn Host, tensor: Tensor, storage: &Value, offset: i64) -> Result<Value, Stop> {
    let storage =
        storage.as_storage().ok_or_else(|| fail(format!("expects a storage, found {}", storage.category())))?;
    let released = storage.why_released();
    let message = || released.clone().unwrap_or_default();
    let usable = m.cx().holds(&[(rule!("MEM.RELEASED"), 1, released.is_none(), &message)]);
    usable.map_err(|(rule, message)| Stop::error(rule, message()))?;
    let offset = m.cx().conclude(rule!("MEM.TENSOR"), offset);
    let size = bytes_of(&tensor);
    let placed = u64::try_from(offset).ok().and_then(|offset| tensor.in_storage(storage, offset));
    let beyond = || {
        format!(
            "a tensor of {size} bytes at byte {offset} of the storage of {}, which has {}",
            storage.place(),
            storage.size()
        )
    };
    within_bounds(m, placed, beyond)
}

/// MEM.BOUNDS.
fn within_bounds(m: &mut dyn Host, placed: Option<Tensor>, beyond: impl FnOnce() -> String) -> Result<Value, Stop> {
    let bounds = rule!("MEM.BOUNDS");
    m.cx().premise(bounds, 1, placed.map(Value::Tensor).ok_or_else(|| Stop::error(bounds, beyond())))
}

/// MEM.RELEASED: the tensor or the storage must not be used any more. Other values are not affected.
fn kill(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if m.cx().fire(rule!("MEM.RELEASED")) {
        release(m, a.values.first());
    }
    Ok(Value::unit())
}

fn release(m: &mut dyn Host, value: Option<&Value>) {
    let at = m.account().place();
    if let Some(tensor) = value.and_then(Value::as_tensor) {
        tensor.release(at);
    } else if let Some(storage) = value.and_then(Value::as_storage) {
        storage.release();
    }
}

/// OPS.memory.view.value: omitted properties are those of the tensor.
fn view(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let offset = if a.values.get(3).is_some_and(|offset| offset.as_tuple().is_some()) { 0 } else { kernel::int(a, 3)? };
    seen(m, kernel::tensor(a, 0)?, &kernel::out(a)?, offset)
}

/// MEM.VIEW: a tensor on the bytes of another one.
pub(in crate::ops) fn seen(m: &mut dyn Host, x: &Tensor, out: &Out, offset: i64) -> Result<Value, Stop> {
    let (other, account) = (new_tensor(m, out)?, m.account().clone());
    let (size, there) = (bytes_of(&other), bytes_of(x));
    let view = match u64::try_from(offset) {
        Ok(offset) => x.seen_as(other, offset, &account)?,
        Err(_) => None,
    };
    let view =
        within_bounds(m, view, || format!("a view of {size} bytes at byte {offset} of a tensor that has {there}"))?;
    let copy = |view: &Value| view.as_tensor().map_or_else(Value::unit, |view| Value::Tensor(copied(view)));
    Ok(if m.cx().fire(rule!("MEM.VIEW")) { view } else { copy(&view) })
}

fn copied(tensor: &Tensor) -> Tensor {
    Tensor::from_elements(tensor.elements().clone())
}

/// The tensor itself if it begins at the start of its storage, otherwise a copy.
fn ensure_zero_offset(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    if x.offset() == 0 { Ok(Value::Tensor(x.clone())) } else { kernel::in_shape(m, x, x.shape()).map(Value::Tensor) }
}

fn call_tir_dyn(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    match a.values {
        [Value::PrimFunc(func), Value::Tuple(args)] => {
            run_prim_func(m, func, &with_sizes(args.fields())?, 0..0).map(|()| Value::unit())
        }
        [] | [_, ..] => Err(fail("expects a PrimFunc and a tuple of arguments")),
    }
}

/// Arguments of which the last one is a shape, with its sizes in its place.
pub(in crate::ops) fn with_sizes(args: &[Value]) -> Result<Vec<Value>, Stop> {
    let (sizes, args) = args.split_last().ok_or_else(|| fail("a shape is missing behind the arguments"))?;
    let sizes = sizes.as_shape().ok_or_else(|| fail(format!("the last argument must be a shape, it is {sizes}")))?;
    Ok(args.iter().cloned().chain(sizes.iter().copied().map(Value::int)).collect())
}
