//! The structural information of `PrimFunc`s (chapter Information of PrimFuncs), from the edition 2023-12 on.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::prim_purity::is_pure_function;
use crate::book::Erratum;
use crate::grammar::tir::{self, Buffer, Param, PrimFunc};
use crate::grammar::{
    DataType, FuncStructInfo, IrModule, Ndim, PrimExpr, PrimStructInfo, ShapeVar, StructInfo, TensorShape,
    TensorStructInfo,
};
use crate::judge::{Cx, with_stack};

/// PRIMFUNC.SI.RESULT: the information of the `GlobalVar` that is bound to a `PrimFunc`.
pub fn info_of_prim_func(cx: &mut Cx, module: &IrModule, func: &PrimFunc) -> StructInfo {
    let given = DeterminedVars::by(cx, func);
    let params: Vec<StructInfo> = func.params.iter().map(|param| param_info(cx, param, &given)).collect();
    // PRIMFUNC.CALL.ARGS: arguments, including outputs, must satisfy the information of the parameters.
    let unknown = || vec![StructInfo::Object; func.params.len()];
    let params = if cx.fire(rule!("PRIMFUNC.CALL.ARGS")) { params } else { unknown() };
    let (ret, pure) = (result_info(cx, func), Some(purity(cx, module, func)));
    let info = FuncStructInfo { params: Some(params.into()), ret, derive_func: None, pure };
    cx.conclude(rule!("PRIMFUNC.SI.RESULT"), StructInfo::Func(Arc::new(info)))
}

/// PRIMFUNC.CALL.PURE, PRIMFUNC.CALL.IMPURE: a direct call is impure. In later editions it is pure if the function is
/// found to be pure.
fn purity(cx: &mut Cx, module: &IrModule, func: &PrimFunc) -> bool {
    let analysed = cx.has(rule!("PRIMFUNC.PURE.OTHERWISE"));
    let pure = analysed && is_pure_function(cx, module, func);
    cx.by_cases((&[(rule!("PRIMFUNC.CALL.PURE"), pure, true)], (rule!("PRIMFUNC.CALL.IMPURE"), false)))
}

/// PRIMFUNC.SI.RETTYPE: a call has no result.
///
/// Errata: M06, literally this holds even if the function is declared to return a number, which later editions allow
/// for pure functions.
fn result_info(cx: &mut Cx, func: &PrimFunc) -> StructInfo {
    match returned_datatype(cx, func) {
        Some(dtype) if dtype.code == DataType::HANDLE.code => StructInfo::Object,
        Some(dtype) => StructInfo::prim(dtype),
        None => cx.conclude(rule!("PRIMFUNC.SI.RETTYPE"), StructInfo::tuple([])),
    }
}

/// The datatype of the result of a call, if there is one.
pub(crate) fn returned_datatype(cx: &Cx, func: &PrimFunc) -> Option<DataType> {
    let counts = cx.has(rule!("PRIMFUNC.PURE.OTHERWISE")) && !cx.literal(Erratum::M06);
    func.ret.filter(|dtype| counts && !dtype.is_void())
}

/// PRIMFUNC.SI.BUFFER, PRIMFUNC.SI.HANDLE, PRIMFUNC.SI.SCALAR.
fn param_info(cx: &mut Cx, param: &Param, given: &DeterminedVars) -> StructInfo {
    match param {
        Param::Buffer(buffer) => {
            let info = given.buffer(buffer);
            cx.conclude(rule!("PRIMFUNC.SI.BUFFER"), info)
        }
        Param::Handle(_) => handle_info(cx),
        Param::Scalar(var) if var.dtype.code == DataType::HANDLE.code => handle_info(cx),
        Param::Scalar(var) => {
            let info = PrimStructInfo { dtype: var.dtype, value: given.value(var) };
            cx.conclude(rule!("PRIMFUNC.SI.SCALAR"), StructInfo::Prim(info))
        }
    }
}

/// PRIMFUNC.SI.HANDLE.
///
/// Errata: N62, in the first text it is a boxed scalar, of a datatype that no scalar has.
fn handle_info(cx: &mut Cx) -> StructInfo {
    let stated = cx.has(rule!("PRIMFUNC.PURE.OTHERWISE"));
    if !stated && cx.literal(Erratum::N62) {
        return StructInfo::prim(DataType::HANDLE);
    }
    cx.conclude(rule!("PRIMFUNC.SI.HANDLE"), StructInfo::Object)
}

/// The variables that the parameters determine, so that other parameters may mention them.
struct DeterminedVars {
    /// The scalar parameters that buffers mention.
    scalars: BTreeSet<ShapeVar>,
    all: BTreeSet<ShapeVar>,
    /// Literal N24: any variable may be mentioned, and scalars determine none.
    literally: bool,
}

impl DeterminedVars {
    /// The determined variables of a function. Errata: N24, literally a number has no value, so shapes that mention it
    /// are not tied to it.
    fn by(cx: &Cx, func: &PrimFunc) -> DeterminedVars {
        let shapes: Vec<Vec<PrimExpr>> = func.params.iter().filter_map(dims_of_param).collect();
        let mut mentioned = BTreeSet::new();
        shapes.iter().flatten().for_each(|dim| {
            dim.for_each_var(|var| {
                mentioned.insert(var.clone());
            })
        });
        let scalars: BTreeSet<ShapeVar> = func.params.iter().filter_map(|param| number(param, &mentioned)).collect();
        let alone =
            shapes.into_iter().flatten().filter_map(|dim| if let PrimExpr::Var(var) = dim { Some(var) } else { None });
        let all = alone.chain(scalars.iter().cloned()).collect();
        DeterminedVars { scalars, all, literally: cx.literal(Erratum::N24) }
    }

    /// A parameter as a scalar that buffers mention.
    fn value(&self, var: &tir::Var) -> Option<PrimExpr> {
        let var = ShapeVar::new(&var.name);
        (!self.literally && self.scalars.contains(&var)).then_some(PrimExpr::Var(var))
    }

    /// The datatype, the rank, and the shape as far as a call determines it.
    fn buffer(&self, buffer: &Buffer) -> StructInfo {
        let told = |dim: &PrimExpr| {
            let mut told = true;
            dim.for_each_var(|var| told &= self.literally || self.all.contains(var));
            told
        };
        let dims = dims_of(buffer).filter(|dims| dims.iter().all(told));
        StructInfo::Tensor(TensorStructInfo {
            shape: dims.map(|dims| TensorShape::Dims(dims.into())),
            dtype: buffer.dtype,
            ndim: Ndim::of_len(buffer.shape.len()),
            vdevice: None,
        })
    }
}

/// A parameter of type int64 that buffers mention.
fn number(param: &Param, mentioned: &BTreeSet<ShapeVar>) -> Option<ShapeVar> {
    match param {
        Param::Scalar(var) if var.dtype == DataType::INT64 => {
            Some(ShapeVar::new(&var.name)).filter(|var| mentioned.contains(var))
        }
        Param::Scalar(_) | Param::Buffer(_) | Param::Handle(_) => None,
    }
}

fn dims_of_param(param: &Param) -> Option<Vec<PrimExpr>> {
    match param {
        Param::Buffer(buffer) => dims_of(buffer),
        Param::Scalar(_) | Param::Handle(_) => None,
    }
}

/// The dimensions of a buffer, if Relax can express all of them.
fn dims_of(buffer: &Buffer) -> Option<Vec<PrimExpr>> {
    buffer.shape.iter().map(dimension).collect()
}

/// A dimension in Relax, without its width.
fn dimension(e: &tir::Expr) -> Option<PrimExpr> {
    with_stack(|| {
        let sub = |e| dimension(e).map(Arc::new);
        match e {
            tir::Expr::Var(var) => Some(PrimExpr::Var(ShapeVar::new(&var.name))),
            tir::Expr::Int(value, _) => Some(PrimExpr::IntImm(*value)),
            tir::Expr::Binary(b) => Some(PrimExpr::Binary(b.op, sub(&b.a)?, sub(&b.b)?)),
            tir::Expr::Cast(dtype, e) if dtype.is_int() => dimension(e),
            tir::Expr::Select(c) | tir::Expr::IfThenElse(c) => {
                Some(PrimExpr::Select(sub(&c.condition)?, sub(&c.then)?, sub(&c.otherwise)?))
            }
            tir::Expr::Not(e) => Some(PrimExpr::Not(sub(e)?)),
            tir::Expr::Float(..)
            | tir::Expr::Str(_)
            | tir::Expr::Cast(..)
            | tir::Expr::Load(_)
            | tir::Expr::Let(_)
            | tir::Expr::Call(_)
            | tir::Expr::Extern(_)
            | tir::Expr::Data(_)
            | tir::Expr::Ramp(_)
            | tir::Expr::Broadcast(..)
            | tir::Expr::Shuffle(_) => None,
        }
    })
}
