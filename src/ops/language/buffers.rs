//! Checks whether the inputs and outputs of a `call_tir` match the declared buffers of the `PrimFunc`.

use std::collections::BTreeMap;

use crate::grammar::tir::{Buffer, Expr as TirExpr, Param, PrimFunc};
use crate::grammar::{
    AttrValue, Expr, GlobalFunc, Name, Ndim, PrimExpr, ShapeStructInfo, StructInfo, TensorStructInfo,
};
use crate::judge::{Cx, Proof};
use crate::ops::infer::TensorDims;
use crate::ops::{CallForm, InferArgs, InferError};
use crate::shape::prove_equal;

/// The match of a `call_tir`'s arguments with the parameters of its `PrimFunc` so far.
pub(super) struct BufferMatch<'a> {
    name: &'a Name,
    /// The remaining parameters.
    params: &'a [Param],
    /// The sizes of the `PrimFunc`'s variables. A variable has the size with which it is first matched.
    sizes: BTreeMap<Name, PrimExpr>,
}

/// OP.CALLTIR.DPS: the inputs come first, so they are matched with the first parameters. An input that certainly does
/// not fit would stop every run, so the call is an error. Returns the match for the outputs with the remaining
/// parameters; `None` if these are unknown.
///
/// Outputs that are inputs are not passed again. `fresh` says which outputs are new; by default all are.
pub(super) fn inputs_fit<'a>(
    cx: &mut Cx,
    a: &InferArgs<'a>,
    fresh: Option<&[bool]>,
) -> Result<Option<BufferMatch<'a>>, InferError> {
    let Some((name, func)) = callee(a) else { return Ok(None) };
    let Some(passed) = Passed::of(a) else { return Ok(None) };
    let count = |fresh: &[bool]| Some(fresh.iter().filter(|fresh| **fresh).count());
    let passed = Passed { outputs: fresh.map_or(passed.outputs, count), ..passed };
    passed.as_many_as(name, func)?;
    let mut matched = BufferMatch { name, params: &func.params, sizes: BTreeMap::new() };
    for (i, input) in passed.inputs.iter().enumerate() {
        matched.next(cx, input, || format!("input {i}"))?;
    }
    let scalars = passed.scalars.and_then(|scalars| matched.params.get(scalars..));
    Ok(scalars.map(|params| BufferMatch { params, ..matched }))
}

/// OP.CALLTIR.DPS: the outputs follow. Each is allocated according to the information of the result (OP.CALLTIR.ALLOC).
pub(super) fn outputs_fit(
    cx: &mut Cx,
    matched: Option<BufferMatch>,
    result: &StructInfo,
    fresh: Option<&[bool]>,
) -> Result<(), InferError> {
    let Some(mut matched) = matched else { return Ok(()) };
    let outputs = outputs(result);
    let is_fresh = |i: usize| fresh.is_none_or(|fresh| fresh.get(i).copied().unwrap_or(true));
    for (i, output) in outputs.iter().enumerate().filter(|(i, _)| is_fresh(*i)) {
        matched.next(
            cx,
            output,
            || if outputs.len() == 1 { "the output".to_string() } else { format!("output {i}") },
        )?;
    }
    Ok(())
}

/// The individual outputs.
pub(super) fn outputs(result: &StructInfo) -> &[StructInfo] {
    if let StructInfo::Tuple(fields) = result { fields } else { std::slice::from_ref(result) }
}

/// The individual inputs; `None` if it is unknown which arguments they are (C14).
pub(super) fn inputs<'a>(a: &InferArgs<'a>) -> Option<&'a [StructInfo]> {
    Passed::of(a).map(|passed| passed.inputs)
}

impl BufferMatch<'_> {
    /// Matches an argument with the next parameter.
    fn next(&mut self, cx: &mut Cx, given: &StructInfo, what: impl Fn() -> String) -> Result<(), InferError> {
        let Some((param, rest)) = self.params.split_first() else { return Ok(()) };
        self.params = rest;
        let fault = match (param, given) {
            (Param::Buffer(buffer), StructInfo::Tensor(tensor)) => misfit(cx, buffer, tensor, &mut self.sizes),
            (Param::Buffer(_), StructInfo::Prim(_)) => Some("a tensor".to_string()),
            (Param::Scalar(_), StructInfo::Tensor(_)) => Some("a scalar".to_string()),
            (param, StructInfo::Shape(_) | StructInfo::Func(_) | StructInfo::Tuple(_)) => Some(kind(param).to_string()),
            (Param::Handle(_), StructInfo::Tensor(_) | StructInfo::Prim(_))
            | (Param::Scalar(_), StructInfo::Prim(_))
            | (Param::Buffer(_) | Param::Scalar(_) | Param::Handle(_), StructInfo::Object) => None,
        };
        let name = self.name;
        let message = |expected| format!("{} is {given}, where @{name} takes {expected}", what());
        fault.map_or(Ok(()), |expected| Err(InferError::op(message(expected))))
    }
}

fn kind(param: &Param) -> &'static str {
    match param {
        Param::Buffer(_) => "a tensor",
        Param::Scalar(_) => "a scalar",
        Param::Handle(_) => "a tensor or a scalar",
    }
}

/// The arguments that a call passes to its `PrimFunc`, as far as they are known.
struct Passed<'a> {
    inputs: &'a [StructInfo],
    /// The number of scalars after the inputs.
    scalars: Option<usize>,
    outputs: Option<usize>,
    /// The number of variables after the outputs.
    variables: usize,
}

impl<'a> Passed<'a> {
    /// `None` if it is unknown which arguments are inputs (C14).
    fn of(a: &InferArgs<'a>) -> Option<Passed<'a>> {
        let (_, rest) = a.args.split_first()?;
        let variables = variables(a);
        let flat = |inputs, shapes: &StructInfo| {
            Some(Passed { inputs, scalars: Some(0), outputs: number_of_shapes(shapes), variables })
        };
        match (CallForm::infer(a.args, &a.call.sinfo_args), rest) {
            (CallForm::Tupled, [StructInfo::Tuple(inputs), scalars @ ..]) => {
                let scalars = scalars.first().map_or(Some(0), size_of_shape);
                Some(Passed { inputs, scalars, outputs: Some(number_of_tensors(&a.call.sinfo_args)), variables })
            }
            (CallForm::Tupled, _) => None,
            (CallForm::Flat, [StructInfo::Object, _]) => None,
            (CallForm::Flat, [inputs @ .., shapes]) => flat(inputs, shapes),
            (CallForm::Flat, []) => None,
        }
    }

    /// Checks that a `PrimFunc` receives as many arguments as it has parameters.
    fn as_many_as(&self, name: &Name, func: &PrimFunc) -> Result<(), InferError> {
        let (inputs, taken) = (self.inputs.len(), func.params.len());
        let scalars = self.scalars.unwrap_or(0);
        let least = inputs + scalars + self.outputs.unwrap_or(0) + self.variables;
        let is_all = self.scalars.is_some() && self.outputs.is_some();
        if least > taken || is_all && least < taken {
            let outputs = self.outputs.map_or_else(String::new, |outputs| format!(" and {outputs} outputs"));
            let passed =
                format!("{}{} inputs{outputs} are passed", if is_all { "" } else { "at least " }, inputs + scalars);
            return Err(InferError::op(format!("{passed}, where @{name} has {taken} parameters")));
        }
        Ok(())
    }
}

/// The attribute `tir_vars` of TVM's dialect: the number of scalars after the outputs.
fn variables(a: &InferArgs<'_>) -> usize {
    let Some(AttrValue::List(items)) = a.call.attrs.get("tir_vars") else { return 0 };
    items.iter().filter(|item| matches!(item, AttrValue::Prim(_))).count()
}

fn number_of_shapes(shapes: &StructInfo) -> Option<usize> {
    match shapes {
        StructInfo::Shape(_) => Some(1),
        StructInfo::Tuple(fields) => Some(fields.len()),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Prim(_) | StructInfo::Func(_) => None,
    }
}

fn number_of_tensors(sinfo_args: &[StructInfo]) -> usize {
    if let [StructInfo::Tuple(fields)] = sinfo_args { fields.len() } else { sinfo_args.len() }
}

fn size_of_shape(info: &StructInfo) -> Option<usize> {
    if let StructInfo::Shape(ShapeStructInfo { ndim: Ndim::Known(size), .. }) = info {
        usize::try_from(*size).ok()
    } else {
        None
    }
}

fn callee<'a>(a: &InferArgs<'a>) -> Option<(&'a Name, &'a PrimFunc)> {
    let Some(Expr::GlobalVar(gv)) = a.call.args.first() else { return None };
    match a.module?.get(&gv.name)? {
        GlobalFunc::PrimFunc(func) => Some((&gv.name, func)),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

/// A requirement of a buffer that a tensor certainly violates. A variable of the `PrimFunc` has the size with which it
/// is first matched.
fn misfit(
    cx: &mut Cx,
    buffer: &Buffer,
    tensor: &TensorStructInfo,
    sizes: &mut BTreeMap<Name, PrimExpr>,
) -> Option<String> {
    let other_dtype = !tensor.dtype.is_void() && tensor.dtype != buffer.dtype;
    let other_rank = !tensor.ndim.is_unknown() && tensor.ndim != Ndim::of_len(buffer.shape.len());
    let expected = || {
        let dims: Vec<String> = buffer.shape.iter().map(shown).collect();
        format!("a tensor of {} and the shape ({})", buffer.dtype, dims.join(", "))
    };
    if other_dtype || other_rank {
        return Some(expected());
    }
    let TensorDims::Known(dims) = TensorDims::of(tensor) else { return None };
    for (declared, given) in buffer.shape.iter().zip(dims.iter()) {
        let size = size_of(declared, |var| sizes.entry(var.clone()).or_insert_with(|| given.clone()).clone());
        if size.is_some_and(|size| prove_equal(cx, &size, given) == Proof::Different) {
            return Some(expected());
        }
    }
    None
}

/// A dimension that is a number or a single variable. Computed dimensions are ignored.
fn size_of(dim: &TirExpr, var: impl FnOnce(&Name) -> PrimExpr) -> Option<PrimExpr> {
    if let TirExpr::Int(size, _) = dim {
        return Some(PrimExpr::IntImm(*size));
    }
    if let TirExpr::Var(known) = dim { Some(var(&known.name)) } else { None }
}

fn shown(dim: &TirExpr) -> String {
    size_of(dim, |var| PrimExpr::var(var)).map_or_else(|| "..".to_string(), |size| size.to_string())
}
