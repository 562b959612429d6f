//! What programs of later editions have besides: boxed scalars, strings and datatypes, packed calls that are said to be pure, functions that
//! are said to be so, direct calls of `PrimFunc`s, devices, and conditions that are no tensors.

use std::sync::Arc;

use super::{FunctionScope, ModuleGenerator, ScopeVariable, dims_of};
use relax_spec::book::Edition;
use relax_spec::grammar::tir::{self, PrimFunc};
use relax_spec::grammar::{
    AttrValue, Attrs, BinaryOp, Call, DataType, DataTypeImm, Expr, FloatBits, GlobalFunc, GlobalVar, PrimExpr,
    PrimStructInfo, PrimValue, Span, StringImm, StructInfo, Target, TensorStructInfo, VDevice,
};

/// The device that modules list, if they list any.
const DEVICE: &str = "llvm:0";

/// Takes a number, does nothing with it, and gives nothing.
const UNUSED: &str = "unused";
/// Takes a number and gives its double.
const TWICE: &str = "twice";
/// Writes the first element of a vector.
const SET_FIRST: &str = "set_first";

/// Whether a direct call of a `PrimFunc` may be pure, and a condition be something else than a tensor.
fn judges_prim_funcs(edition: Edition) -> bool {
    edition >= Edition::E2024_04
}

fn device() -> VDevice {
    let config = Attrs::from([("kind".into(), AttrValue::Str("llvm".into()))]);
    VDevice { target: Target::Config(config), dev_id: 0, mem_scope: "global".into() }
}

/// The devices that a module lists.
pub(super) fn global_infos() -> Attrs {
    Attrs::from([("vdevice".into(), AttrValue::List(vec![device().to_attr()]))])
}

/// The call that moves a tensor to the device.
fn transfer(tensor: Expr) -> Expr {
    let attrs = Attrs::from([("dst_vdevice".into(), AttrValue::Str(DEVICE.into()))]);
    let (op, args, sinfo_args) = (Expr::op("relax.to_vdevice"), vec![tensor], Vec::new());
    Expr::Call(Arc::new(Call { op, args, sinfo_args, attrs, span: Span::NONE }))
}

/// The call of a packed function that gives its argument back, said to be pure, with what is said of the result.
pub(in crate::generate) fn pure_packed(arg: Expr, result: StructInfo) -> Expr {
    let (op, args) = (Expr::op("relax.call_pure_packed"), vec![Expr::extern_func("relax_spec.identity"), arg]);
    Expr::Call(Arc::new(Call { op, args, sinfo_args: vec![result], attrs: Attrs::new(), span: Span::NONE }))
}

/// A boxed scalar over shape variables, and what is known of it.
pub(in crate::generate) fn boxed(dtype: DataType, value: PrimExpr) -> (Expr, StructInfo) {
    let info = StructInfo::Prim(PrimStructInfo { dtype, value: Some(value.clone()) });
    (Expr::PrimValue(PrimValue { value, dtype, float: None, span: Span::NONE }), info)
}

/// Whether it is a boxed scalar of the datatype.
pub(in crate::generate) fn is_box(info: &StructInfo, of: DataType) -> bool {
    matches!(info, StructInfo::Prim(prim) if prim.dtype == of)
}

/// `prim < 3`.
pub(in crate::generate) fn is_small(dim: PrimExpr) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Lt, dim, PrimExpr::IntImm(3))
}

/// The `PrimFunc`s that every module of an edition has.
pub(super) fn prim_funcs(edition: Edition) -> Vec<(GlobalVar, GlobalFunc)> {
    let number = tir::Var::new("n", DataType::INT64);
    let int = |value| tir::Expr::Int(value, DataType::INT64);
    let unused = prim_func(tir::Param::Scalar(number.clone()), tir::Stmt::Evaluate(int(0)), None);
    let vector = tir::Buffer::new("a", vec![tir::Expr::Var(number.clone())], DataType::FLOAT32);
    let one = tir::Expr::Float(FloatBits::new(1.0), DataType::FLOAT32);
    let buffer = tir::BufferVar { name: vector.name.clone(), dtype: vector.dtype, span: Span::NONE };
    let store = tir::Store { buffer, indices: vec![int(0)], value: one, span: Span::NONE };
    let set_first = prim_func(tir::Param::Buffer(vector), tir::Stmt::Store(store), None);
    let (op, a) = (BinaryOp::Mul, tir::Expr::Var(number.clone()));
    let double = tir::Expr::Binary(Box::new(tir::Binary { op, a, b: int(2), span: Span::NONE }));
    let result = tir::Extern {
        op: "ret".into(),
        of_module: false,
        dtype: DataType::INT64,
        args: vec![double],
        span: Span::NONE,
    };
    let result = tir::Stmt::Evaluate(tir::Expr::Extern(result));
    let twice = prim_func(tir::Param::Scalar(number), result, Some(DataType::INT64));
    match edition {
        Edition::E2023_02 => Vec::new(),
        Edition::E2023_12 => vec![named(UNUSED, unused), named(SET_FIRST, set_first)],
        Edition::E2024_04 => vec![named(UNUSED, unused), named(SET_FIRST, set_first), named(TWICE, twice)],
    }
}

fn named(name: &str, func: PrimFunc) -> (GlobalVar, GlobalFunc) {
    (GlobalVar::new(name), GlobalFunc::PrimFunc(Arc::new(func)))
}

fn prim_func(param: tir::Param, body: tir::Stmt, ret: Option<DataType>) -> PrimFunc {
    let (params, allocs, body) = (vec![param], Vec::new(), vec![body]);
    PrimFunc { params, attrs: Attrs::new(), ret, private: true, s_tir: false, allocs, body, span: Span::NONE }
}

impl ModuleGenerator<'_> {
    /// A value that the first edition does not have.
    pub(super) fn later_value(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        match self.tape.choose(8) {
            0 => Some(boxed(DataType::INT64, self.dim(&scope.dims))),
            1 => {
                let dim = self.dim(&scope.dims);
                Some(boxed(DataType::BOOL, is_small(dim)))
            }
            2 => Some(self.literal()),
            3 => self.said_to_be_pure(scope),
            4 => self.moved(scope),
            5 => self.set_first(scope),
            _ => self.call_of_prim_func(scope),
        }
    }

    fn literal(&mut self) -> (Expr, StructInfo) {
        let literal = if self.tape.one_in(2) {
            Expr::DataTypeImm(DataTypeImm { value: DataType::FLOAT32, span: Span::NONE })
        } else {
            Expr::StringImm(StringImm { value: "text".into(), span: Span::NONE })
        };
        (literal, StructInfo::Object)
    }

    fn said_to_be_pure(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(scope, super::is_float)?;
        let (dims, dtype) = dims_of(&known.info)?;
        let result = self.placed(StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, dtype));
        Some((pure_packed(known.expr, result.clone()), result))
    }

    fn moved(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        if !self.devices {
            return None;
        }
        let known = self.pick(scope, super::is_float)?;
        Some((transfer(known.expr), known.info))
    }

    /// What is known of a tensor with the place where all of them lie, if the module says where.
    pub(super) fn placed(&self, info: StructInfo) -> StructInfo {
        match info {
            StructInfo::Tensor(tensor) if self.devices => {
                StructInfo::Tensor(TensorStructInfo { vdevice: Some(Arc::new(device())), ..tensor })
            }
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_) => info,
        }
    }

    /// A scalar constant, which lies nowhere before it is moved.
    pub(super) fn number(&self, constant: Expr, dtype: DataType) -> (Expr, StructInfo) {
        let value = if self.devices { transfer(constant) } else { constant };
        (value, self.placed(StructInfo::tensor([], dtype)))
    }

    /// An effect that is seen in the argument.
    fn set_first(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        if !scope.effects || scope.dataflow {
            return None;
        }
        let known = self.pick(scope, |known| {
            dims_of(&known.info).is_some_and(|(dims, dtype)| dims.len() == 1 && dtype == DataType::FLOAT32)
        })?;
        Some((Expr::call(Expr::GlobalVar(GlobalVar::new(SET_FIRST)), vec![known.expr]), StructInfo::tuple([])))
    }

    fn call_of_prim_func(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let may_be_pure = judges_prim_funcs(self.options.edition);
        if !may_be_pure && (!scope.effects || scope.dataflow) {
            return None;
        }
        let number = self.pick(scope, |known| is_box(&known.info, DataType::INT64))?;
        let call = |name: &str| Expr::call(Expr::GlobalVar(GlobalVar::new(name)), vec![number.expr.clone()]);
        if may_be_pure && self.tape.one_in(2) {
            return Some((call(TWICE), StructInfo::prim(DataType::INT64)));
        }
        Some((call(UNUSED), StructInfo::tuple([])))
    }

    /// What decides an `If`, besides tensors: a boxed truth value, or something that is said of shape variables.
    pub(super) fn later_condition(&mut self, scope: &FunctionScope) -> Option<Expr> {
        if !judges_prim_funcs(self.options.edition) || !self.tape.one_in(2) {
            return None;
        }
        let boxed_truth =
            self.pick(scope, |known| is_box(&known.info, DataType::BOOL)).map(|ScopeVariable { expr, .. }| expr);
        let over_variables = self.tape.pick(&scope.dims).cloned().map(|var| {
            let (condition, _) = boxed(DataType::BOOL, is_small(PrimExpr::Var(var)));
            condition
        });
        if self.tape.one_in(2) { boxed_truth.or(over_variables) } else { over_variables.or(boxed_truth) }
    }

    /// A parameter that is no tensor, at times.
    pub(super) fn later_param(&mut self) -> Option<StructInfo> {
        let is_later = self.options.edition >= Edition::E2023_12;
        (is_later && self.tape.one_in(5)).then(|| match self.tape.choose(2) {
            0 => StructInfo::prim(DataType::BOOL),
            _ => StructInfo::prim(DataType::INT64),
        })
    }
}
