//! Random types and structural information, alone and in pairs that are close to each other.
//!
//! Details of later editions are added to structural information of the first one, so that its tapes still give the
//! same.

use std::sync::Arc;

use super::{Tape, prim_expr};
use relax_spec::book::Edition;
use relax_spec::grammar::{
    BinaryOp, DataType, DeriveFunc, DynTensorType, FuncStructInfo, FuncType, Ndim, PrimExpr, PrimStructInfo,
    ShapeStructInfo, ShapeType, ShapeVar, StructInfo, Target, TensorShape, TensorStructInfo, Type, VDevice,
};

const DTYPES: [DataType; 4] = [DataType::FLOAT32, DataType::INT32, DataType::VOID, DataType::FLOAT16];
const NDIMS: [Ndim; 4] = [Ndim::Known(1), Ndim::Known(2), Ndim::Known(0), Ndim::Unknown];

/// A type whose nesting is at most `depth`.
pub fn ty(tape: &mut Tape, depth: usize) -> Type {
    match tape.choose(if depth == 0 { 4 } else { 6 }) {
        0 => Type::Tensor(DynTensorType { ndim: ndim(tape), dtype: dtype(tape) }),
        1 => Type::Shape(ShapeType { ndim: ndim(tape) }),
        2 => Type::Object,
        3 => Type::PackedFunc,
        4 => Type::tuple(several(tape, 4, |tape| ty(tape, depth - 1))),
        _ => {
            let params = several(tape, 3, |tape| ty(tape, depth - 1));
            Type::func(params, ty(tape, depth - 1), tape.one_in(2))
        }
    }
}

/// Two types, the second often a small change of the first.
pub fn type_pair(tape: &mut Tape, depth: usize) -> (Type, Type) {
    let first = ty(tape, depth);
    let second = if tape.one_in(3) { ty(tape, depth) } else { nearby_type(tape, &first) };
    (first, second)
}

/// Structural information whose nesting is at most `depth`, with dimensions over `vars`.
pub fn struct_info(tape: &mut Tape, depth: usize, vars: &[ShapeVar]) -> StructInfo {
    match tape.choose(if depth == 0 { 3 } else { 6 }) {
        0 => tensor(tape, vars),
        1 => shape(tape, vars),
        2 => StructInfo::Object,
        3 => StructInfo::tuple(several(tape, 4, |tape| struct_info(tape, depth - 1, vars))),
        4 => closure(tape, depth - 1, vars),
        _ => packed(tape),
    }
}

/// Two structural informations, the second often a small change of the first.
pub fn struct_info_pair(tape: &mut Tape, depth: usize, vars: &[ShapeVar]) -> (StructInfo, StructInfo) {
    let first = struct_info(tape, depth, vars);
    let second = if tape.one_in(3) { struct_info(tape, depth, vars) } else { nearby(tape, &first, vars) };
    (first, second)
}

/// As [`struct_info_pair`], with the additions of an edition: devices of tensors, boxed scalars and their values,
/// purity of functions.
pub fn struct_info_pair_of(
    edition: Edition,
    tape: &mut Tape,
    depth: usize,
    vars: &[ShapeVar],
) -> (StructInfo, StructInfo) {
    if edition == Edition::E2023_02 {
        return struct_info_pair(tape, depth, vars);
    }
    let first = struct_info(tape, depth, vars);
    let first = detailed(tape, &first, vars, 3);
    let second = if tape.one_in(3) { struct_info(tape, depth, vars) } else { nearby(tape, &first, vars) };
    (first, detailed(tape, &second, vars, 6))
}

/// The information with details added, in one of `few` of the places that can have them.
fn detailed(tape: &mut Tape, s: &StructInfo, vars: &[ShapeVar], few: usize) -> StructInfo {
    match s {
        StructInfo::Object | StructInfo::Shape(_) if tape.one_in(few) => scalar(tape, vars),
        StructInfo::Prim(_) if tape.one_in(few) => scalar(tape, vars),
        StructInfo::Tensor(t) if tape.one_in(few) => {
            StructInfo::Tensor(TensorStructInfo { vdevice: device(tape), ..t.clone() })
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Tensor(_) => s.clone(),
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| detailed(tape, field, vars, few))),
        StructInfo::Func(f) => {
            let params =
                f.params.as_ref().map(|params| params.iter().map(|param| detailed(tape, param, vars, few)).collect());
            let ret = if f.params.is_some() { detailed(tape, &f.ret, vars, few) } else { f.ret.clone() };
            let pure = if f.params.is_some() { [f.pure, Some(true), Some(false)][tape.choose(3)] } else { f.pure };
            StructInfo::Func(Arc::new(FuncStructInfo { params, ret, pure, ..(**f).clone() }))
        }
    }
}

fn device(tape: &mut Tape) -> Option<Arc<VDevice>> {
    let tag = [None, Some("llvm"), Some("cuda")][tape.choose(3)]?;
    Some(Arc::new(VDevice { target: Target::Tag(tag.into()), dev_id: 0, mem_scope: "global".into() }))
}

/// A boxed scalar; often its value is known.
fn scalar(tape: &mut Tape, vars: &[ShapeVar]) -> StructInfo {
    let dim = prim_expr(tape, vars);
    let (dtype, value) = match tape.choose(4) {
        0 => (DataType::INT64, None),
        1 => (DataType::BOOL, Some(PrimExpr::binary(BinaryOp::Lt, dim, PrimExpr::IntImm(3)))),
        _ => (DataType::INT64, Some(dim)),
    };
    StructInfo::Prim(PrimStructInfo { dtype, value })
}

fn ndim(tape: &mut Tape) -> Ndim {
    NDIMS[tape.choose(NDIMS.len())]
}

fn dtype(tape: &mut Tape) -> DataType {
    DTYPES[tape.choose(DTYPES.len())]
}

/// Fewer than `bound` items.
fn several<T>(tape: &mut Tape, bound: usize, mut item: impl FnMut(&mut Tape) -> T) -> Vec<T> {
    (0..tape.choose(bound)).map(|_| item(tape)).collect()
}

fn dims(tape: &mut Tape, vars: &[ShapeVar]) -> Vec<PrimExpr> {
    several(tape, 4, |tape| prim_expr(tape, vars))
}

fn tensor(tape: &mut Tape, vars: &[ShapeVar]) -> StructInfo {
    if tape.one_in(3) {
        return StructInfo::Tensor(TensorStructInfo {
            shape: None,
            dtype: dtype(tape),
            ndim: ndim(tape),
            vdevice: None,
        });
    }
    StructInfo::tensor(dims(tape, vars), dtype(tape))
}

fn shape(tape: &mut Tape, vars: &[ShapeVar]) -> StructInfo {
    if tape.one_in(3) {
        return StructInfo::Shape(ShapeStructInfo { values: None, ndim: ndim(tape) });
    }
    StructInfo::shape(dims(tape, vars))
}

fn packed(tape: &mut Tape) -> StructInfo {
    StructInfo::packed([DeriveFunc::DefaultDerive, DeriveFunc::EmptyDerive][tape.choose(2)].clone())
}

/// A closure's information. It is closed, or its first parameter binds variables that the rest may use.
fn closure(tape: &mut Tape, depth: usize, vars: &[ShapeVar]) -> StructInfo {
    let own = [ShapeVar::new("a"), ShapeVar::new("b")];
    let mut params = Vec::new();
    let in_scope = if tape.one_in(2) {
        params.push(StructInfo::tensor(own.iter().cloned().map(PrimExpr::Var), dtype(tape)));
        &own[..]
    } else {
        vars
    };
    params.extend(several(tape, 3, |tape| struct_info(tape, depth, in_scope)));
    StructInfo::func(params, struct_info(tape, depth, in_scope))
}

/// A small change: something forgotten, changed or replaced somewhere.
fn nearby(tape: &mut Tape, s: &StructInfo, vars: &[ShapeVar]) -> StructInfo {
    if tape.one_in(8) {
        return struct_info(tape, 1, vars);
    }
    match s {
        StructInfo::Object | StructInfo::Prim(_) => s.clone(),
        StructInfo::Tensor(t) => StructInfo::Tensor(nearby_tensor(tape, t, vars)),
        StructInfo::Shape(t) => nearby_shape(tape, t, vars),
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|f| nearby(tape, f, vars))),
        StructInfo::Func(f) => match &f.params {
            None => packed(tape),
            Some(params) => {
                let params: Vec<StructInfo> =
                    params.iter().map(|p| if tape.one_in(3) { nearby(tape, p, vars) } else { p.clone() }).collect();
                let ret = nearby(tape, &f.ret, vars);
                StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params.into()), ret, ..(**f).clone() }))
            }
        },
    }
}

fn nearby_tensor(tape: &mut Tape, t: &TensorStructInfo, vars: &[ShapeVar]) -> TensorStructInfo {
    match tape.choose(5) {
        0 => t.clone(),
        1 => TensorStructInfo { shape: None, ..t.clone() },
        2 => TensorStructInfo { dtype: dtype(tape), ..t.clone() },
        3 => TensorStructInfo { shape: None, ndim: Ndim::Unknown, ..t.clone() },
        _ => match &t.shape {
            Some(TensorShape::Dims(dims)) => {
                let dims: Arc<[PrimExpr]> = dims.iter().map(|d| nearby_dim(tape, d, vars)).collect();
                TensorStructInfo { shape: Some(TensorShape::Dims(dims)), ..t.clone() }
            }
            None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => t.clone(),
        },
    }
}

fn nearby_shape(tape: &mut Tape, s: &ShapeStructInfo, vars: &[ShapeVar]) -> StructInfo {
    match (tape.choose(3), &s.values) {
        (0, Some(values)) => StructInfo::shape(values.iter().map(|d| nearby_dim(tape, d, vars))),
        (1, _) => StructInfo::Shape(ShapeStructInfo { values: None, ndim: s.ndim }),
        (_, _) => StructInfo::Shape(s.clone()),
    }
}

fn nearby_dim(tape: &mut Tape, d: &PrimExpr, vars: &[ShapeVar]) -> PrimExpr {
    if tape.one_in(3) { prim_expr(tape, vars) } else { d.clone() }
}

fn nearby_type(tape: &mut Tape, t: &Type) -> Type {
    if tape.one_in(8) {
        return ty(tape, 1);
    }
    match t {
        Type::Object | Type::Prim(_) | Type::PackedFunc => t.clone(),
        Type::Tensor(tensor) => match tape.choose(3) {
            0 => t.clone(),
            1 => Type::Tensor(DynTensorType { ndim: ndim(tape), ..*tensor }),
            _ => Type::Tensor(DynTensorType { dtype: dtype(tape), ..*tensor }),
        },
        Type::Shape(_) => Type::Shape(ShapeType { ndim: ndim(tape) }),
        Type::Tuple(fields) => Type::tuple(fields.iter().map(|f| nearby_type(tape, f)).collect::<Vec<_>>()),
        Type::Func(f) => Type::Func(Arc::new(FuncType {
            arg_types: f.arg_types.iter().map(|a| nearby_type(tape, a)).collect(),
            ret_type: nearby_type(tape, &f.ret_type),
            pure: f.pure != tape.one_in(4),
        })),
    }
}
