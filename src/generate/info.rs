//! Random types and structural information, alone and in pairs that are close to each other.

use std::sync::Arc;

use super::{Tape, prim_expr};
use crate::grammar::{
    DataType, DeriveFunc, DynTensorType, FuncType, Ndim, PrimExpr, ShapeStructInfo, ShapeType, ShapeVar, StructInfo,
    TensorShape, TensorStructInfo, Type,
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
                StructInfo::func(params, nearby(tape, &f.ret, vars))
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
