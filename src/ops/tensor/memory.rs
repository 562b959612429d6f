//! Memory: storages, tensors in them, and views. What most of these do when they are run is the virtual machine's affair.

use crate::grammar::{BinaryOp, DataType, Expr, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Dims, arity, boxed_int, dim, of_shape_arg, product, shape, tensor};
use crate::ops::kernel::elementwise::{infer_itself, infer_same, itself};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::value::{Host, Stop, Value};

const SIZE: Param = Param::ShapeArg("size");
const STORAGE: Param = Param::Arg("storage");
const OFFSET: Param = Param::Arg("offset");
const SHAPE: Param = Param::ShapeArg("shape");
const DTYPE: Param = Param::DtypeArg("dtype");
const SCOPE: Param = Param::Arg("storage_scope");
const DEVICE: Param = Param::Arg("runtime_device_index");

/// Why nothing is evaluated.
const MACHINE: &str = "storages, and tensors that lie in them, belong to the virtual machine";

macro_rules! of_machine {
    ($name:literal, $rules:tt, [$($param:expr),*], $infer:expr) => {
        operator!($name, $rules, [$($param),*], $infer, Exact, elsewhere).excluded(MACHINE)
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    of_machine!(
        "builtin.alloc_tensor",
        [rule!("OPS.builtin.alloc_tensor.infer"), rule!("OPS.builtin.alloc_tensor.value")],
        [SHAPE, DTYPE, DEVICE, SCOPE],
        infer_alloc_tensor
    ),
    of_machine!(
        "memory.alloc_storage",
        [rule!("OPS.memory.alloc_storage.infer"), rule!("OPS.memory.alloc_storage.value")],
        [SIZE, Param::Arg("virtual_device_index"), SCOPE, DTYPE],
        infer_storage
    ),
    of_machine!(
        "memory.alloc_tensor",
        [rule!("OPS.memory.alloc_tensor.infer"), rule!("OPS.memory.alloc_tensor.value")],
        [STORAGE, OFFSET, SHAPE, DTYPE, Param::OptionalArg("runtime_device_ind")],
        infer_tensor_in_storage
    ),
    of_machine!(
        "memory.kill_storage",
        [rule!("OPS.memory.kill_storage.infer"), rule!("OPS.memory.kill_storage.value")],
        [STORAGE],
        infer_kill
    )
    .impure(),
    of_machine!(
        "memory.kill_tensor",
        [rule!("OPS.memory.kill_tensor.infer"), rule!("OPS.memory.kill_tensor.value")],
        [Param::Arg("tensor")],
        infer_kill
    )
    .impure(),
    of_machine!(
        "memory.view",
        [rule!("OPS.memory.view.infer"), rule!("OPS.memory.view.value")],
        [Param::Arg("data"), SHAPE, DTYPE, Param::Arg("relative_byte_offset")],
        infer_view
    ),
    operator!(
        "memory.ensure_zero_offset",
        [rule!("OPS.memory.ensure_zero_offset.infer"), rule!("OPS.memory.ensure_zero_offset.value")],
        [Param::Arg("data")],
        infer_same,
        Exact,
        itself
    ),
    of_machine!(
        "vm.alloc_storage",
        [rule!("OPS.vm.alloc_storage.infer"), rule!("OPS.vm.alloc_storage.value")],
        [SIZE, DEVICE, DTYPE, SCOPE],
        infer_storage
    ),
    of_machine!(
        "vm.alloc_tensor",
        [rule!("OPS.vm.alloc_tensor.infer"), rule!("OPS.vm.alloc_tensor.value")],
        [STORAGE, OFFSET, SHAPE, DTYPE, DEVICE],
        infer_tensor_of_machine
    ),
    of_machine!(
        "vm.kill_object",
        [rule!("OPS.vm.kill_object.infer"), rule!("OPS.vm.kill_object.value")],
        [Param::Arg("obj")],
        infer_kill
    )
    .impure(),
    of_machine!(
        "vm.call_tir_dyn",
        [rule!("OPS.vm.call_tir_dyn.infer"), rule!("OPS.vm.call_tir_dyn.value")],
        [Param::Arg("func"), Param::Arg("args")],
        infer_call_tir_dyn
    )
    .impure(),
];

/// There is no meaning here.
fn elsewhere(_: &mut dyn Host, _: &EvalArgs<'_>) -> Result<Value, Stop> {
    Err(Stop::unspecified(MACHINE))
}

/// The i-th argument, a data type: that of a literal, and of anything that may hold one nothing is known.
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

/// The i-th argument, an integer: what is known to be no boxed one is wrong.
fn integer<'a>(a: &InferArgs<'a>, i: usize) -> Result<Option<&'a PrimExpr>, InferError> {
    match a.args.get(i) {
        Some(StructInfo::Object) | None => Ok(None),
        Some(_) => boxed_int(a, i),
    }
}

/// The i-th argument, the name of a scope of storage.
fn scope(a: &InferArgs<'_>, i: usize) -> Result<(), InferError> {
    match (a.call.args.get(i), a.args.get(i)) {
        (Some(Expr::DataTypeImm(dtype)), _) => {
            Err(InferError::op(format!("argument {i} must be a string, it is the data type {}", dtype.value)))
        }
        (_, Some(StructInfo::Object) | None) => Ok(()),
        (_, Some(other)) => Err(InferError::op(format!("argument {i} must be a string, it is {other}"))),
    }
}

/// A tensor of its own, of the shape and the data type that are given.
fn infer_alloc_tensor(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    integer(a, 2)?;
    scope(a, 3)?;
    of_shape_arg(a, 0, dtype(a, 1)?)
}

/// An object. Its data type and its scope stand in one order or in the other.
fn infer_storage(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    shape(a, 0)?;
    integer(a, 1)?;
    dtype(a, 2).and_then(|_| scope(a, 3)).or_else(|_| scope(a, 2).and_then(|()| dtype(a, 3).map(drop)))?;
    Ok(StructInfo::Object)
}

/// A tensor that lies in a storage; a shape that is held in a variable stays so.
fn infer_tensor_in_storage(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    match a.args.len() {
        4 | 5 => {}
        found => return Err(InferError::op(format!("expects 4 or 5 arguments, found {found}"))),
    }
    of_shape_arg(a, 2, in_storage(a)?)
}

/// As [`infer_tensor_in_storage`], of whose shape that is known which its argument is known to have.
fn infer_tensor_of_machine(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<5>(a)?;
    let dtype = in_storage(a)?;
    Ok(Dims::of_shape(shape(a, 2)?).tensor(dtype))
}

/// What is demanded of the arguments beside the shape; the data type.
fn in_storage(a: &InferArgs<'_>) -> Result<DataType, InferError> {
    if let Some(PrimExpr::IntImm(offset @ ..0)) = integer(a, 1)? {
        return Err(InferError::op(format!("a tensor cannot begin {offset} bytes before its storage")));
    }
    integer(a, 4)?;
    dtype(a, 3)
}

/// Nothing comes of it.
fn infer_kill(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_itself(cx, a)?;
    Ok(StructInfo::tuple([]))
}

/// The function and a tuple; nothing comes of it.
fn infer_call_tir_dyn(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    match a.args.get(1) {
        Some(StructInfo::Tuple(_) | StructInfo::Object) => Ok(StructInfo::tuple([])),
        Some(other) => Err(InferError::op(format!("argument 1 must be a tuple, it is {other}"))),
        None => Err(InferError::op("argument 1 is missing")),
    }
}

// Views.

/// Whether an argument is the empty tuple, which stands for one that is left out.
fn left_out(a: &InferArgs<'_>, i: usize) -> bool {
    matches!(a.args.get(i), Some(StructInfo::Tuple(fields)) if fields.is_empty())
}

/// As the tensor that is viewed, but for what is given.
fn infer_view(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let data = tensor(a, 0)?;
    let dims = if left_out(a, 1) { Dims::of(data) } else { Dims::of_shape(shape(a, 1)?) };
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

/// A view reaches no memory that the tensor does not: what certainly does is wrong.
fn within(
    a: &InferArgs<'_>,
    data: &TensorStructInfo,
    dims: &Dims,
    dtype: DataType,
    offset: i64,
) -> Result<(), InferError> {
    if offset < 0 {
        return Err(InferError::op(format!("a view cannot begin {offset} bytes from the beginning")));
    }
    // In elements where both are of one data type, known or not; else in bytes.
    let same = left_out(a, 2) && offset == 0;
    let (of_data, of_view) = match (data.dtype.is_void() || dtype.is_void(), same) {
        (true, true) => (1, 1),
        (true, false) => return Ok(()),
        (false, _) => (data.dtype.bytes(), dtype.bytes()),
    };
    let (Some(there), Some(reached)) = (bytes(&Dims::of(data), of_data), bytes(dims, of_view)) else { return Ok(()) };
    match reached.checked_add(offset) {
        Some(end) if end <= there => Ok(()),
        Some(_) | None => {
            Err(InferError::op(format!("a view of {reached} bytes from {offset} on reaches beyond {there} bytes")))
        }
    }
}

fn bytes(dims: &Dims, of_element: usize) -> Option<i64> {
    let Dims::Known(dims) = dims else { return None };
    let all = dim(BinaryOp::Mul, product(dims.iter()), PrimExpr::IntImm(of_element as i64));
    if let PrimExpr::IntImm(bytes) = all { Some(bytes) } else { None }
}
