//! `call_tir` and `call_dps_packed`: calls in destination-passing style.
//!
//! There are two forms of the call (C14). In one the inputs are separate arguments followed by the shape, and one
//! structural information gives the data types. In the other the inputs are one tuple, and the structural information
//! has the shapes. This file defines the operators and their inference; `dps` runs them.

use crate::book::{Erratum, Rule};
use crate::grammar::{DataType, Expr, GlobalFunc, Ndim, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::TensorDims;
use crate::ops::language::buffers::{inputs, inputs_fit, outputs, outputs_fit};
use crate::ops::language::call_form::CallForm;
use crate::ops::language::dps::{call_dps_packed, call_tir};
use crate::ops::language::in_place::{alias, inplace_indices, may_all_be_fresh};
use crate::ops::{Accuracy, Clauses, InferArgs, InferError, OpDef, OpParam, demand};

pub(in crate::ops) const OPS: &[OpDef] = &[
    OpDef {
        name: "relax.call_tir",
        params: &[OpParam::Arg("prim_func"), OpParam::Rest("args")],
        pure: true,
        infer: Some(infer_call_tir),
        inference: "infer_call_tir",
        eval: call_tir,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
        reads: false,
        excluded: None,
    },
    OpDef {
        name: "relax.call_dps_packed",
        params: &[OpParam::Arg("func"), OpParam::Rest("args")],
        pure: false,
        infer: Some(infer_call_dps_packed),
        inference: "infer_call_dps_packed",
        eval: call_dps_packed,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
        reads: false,
        excluded: None,
    },
];

// Inference.

pub(super) fn infer_call_tir(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_call(cx, a, None)
}

/// OPS.call_tir_inplace.infer: as `call_tir`, but outputs that are inputs are not passed again.
pub(super) fn infer_call_tir_inplace(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let Some(inputs) = inputs(a) else { return infer_call(cx, a, None) };
    let indices = inplace_indices(cx, a.call, inputs.len(), may_all_be_fresh(cx));
    let Some(indices) = by_rule(cx, rule!("OP.CALLTIRINPLACE.INDEX"), indices.map(Some))? else {
        return infer_call(cx, a, None);
    };
    let fresh: Vec<bool> = indices.iter().map(Option::is_none).collect();
    let result = infer_call(cx, a, Some(&fresh))?;
    let results = outputs(&result);
    if results.len() != indices.len() {
        let message = format!("{} results, where it is said of {} which inputs they are", results.len(), indices.len());
        return Err(InferError::op(message));
    }
    for (index, result) in indices.into_iter().zip(results) {
        if let Some(input) = index.and_then(|index| inputs.get(index)) {
            let fits = alias(cx, input, result);
            by_rule(cx, rule!("OP.CALLTIRINPLACE.INFO"), fits)?;
        }
    }
    Ok(result)
}

/// A check that later editions have as a separate rule. If the rule is switched off, the answer is the default.
pub(super) fn by_rule<T: Default>(cx: &mut Cx, rule: Rule, found: Result<T, InferError>) -> Result<T, InferError> {
    if !cx.has(rule) {
        return found;
    }
    match (cx.holds(&[(rule, 1, found.is_ok())]), found) {
        (false, Err(error)) => Err(InferError { rule, ..error }),
        (true, Err(_)) => Ok(T::default()),
        (true | false, Ok(found)) => Ok(found),
    }
}

/// OPS.dist.call_tir_local_view.infer: as `call_tir`, on the local part of this worker.
pub(in crate::ops) fn infer_call_tir_local_view(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_call(cx, a, None)
}

fn infer_call(cx: &mut Cx, a: &InferArgs<'_>, fresh: Option<&[bool]>) -> Result<StructInfo, InferError> {
    // OP.CALLTIR.FUNC: the first argument is a GlobalVar bound to a PrimFunc of the module.
    demand(
        cx,
        &[(rule!("OP.CALLTIR.FUNC"), 1, names_prim_func(a), &|| {
            "the first argument of call_tir must be a PrimFunc of the module".to_string()
        })],
    )?;
    as_later_editions_have_it(cx, a)?;
    // OP.CALLTIR.PRIMSIG: the arguments match the parameters of the PrimFunc. OP.CALLTIRINPLACE.PRIMFUNC: outputs that
    // are inputs are not counted.
    let signature = if fresh.is_some() { rule!("OP.CALLTIRINPLACE.PRIMFUNC") } else { rule!("OP.CALLTIR.PRIMSIG") };
    let matched = inputs_fit(cx, a, fresh);
    let matched = by_rule(cx, signature, matched)?;
    let result = match CallForm::infer(a.args, &a.call.sinfo_args) {
        CallForm::Tupled => infer_tupled(cx, a),
        CallForm::Flat => {
            let args = cx.conclude(rule!("OP.CALLTIR.ARGS"), a.args.to_vec());
            let a = InferArgs { args: &args, ..*a };
            demand(cx, &[(rule!("OP.CALLTIR.TYPEARG"), 1, has_one_type(&a), &|| expects_one_type(&a))])?;
            let result = infer_flat(cx, &a)?;
            Ok(cx.conclude(rule!("OP.CALLTIR.RESULT-INFO"), result))
        }
    }?;
    let fits = outputs_fit(cx, matched, &result, fresh);
    by_rule(cx, signature, fits)?;
    Ok(result)
}

/// OP.CALLTIR.ARGS, OP.CALLTIR.PACKEDINTS, OP.CALLTIR.SINFO, OP.CALLTIR.DTYPE, as worded from 2023-12 on: a tuple of
/// tensors, optional integers, and complete information for allocating each result.
fn as_later_editions_have_it(cx: &mut Cx, a: &InferArgs<'_>) -> Result<(), InferError> {
    if !cx.has(rule!("OP.CALLTIR.SINFO")) {
        return Ok(());
    }
    let given = CallTirSignature::of(a);
    let inputs_are_tensors = given.as_ref().is_some_and(|given| given.inputs.iter().all(may_be_passed));
    let ints = given.as_ref().and_then(|given| given.ints);
    let results = given.and_then(|given| given.results);
    let has_dtype = |info: &StructInfo| info.as_tensor().is_some_and(|tensor| !tensor.dtype.is_void());
    demand(
        cx,
        &[
            (rule!("OP.CALLTIR.ARGS"), 1, inputs_are_tensors, &|| "the inputs are one tuple of tensors".to_string()),
            (rule!("OP.CALLTIR.PACKEDINTS"), 1, ints.is_none_or(is_shape_of_known_rank), &|| {
                "the integers are one shape of known rank".to_string()
            }),
            (rule!("OP.CALLTIR.SINFO"), 1, results.is_some(), &|| {
                "each result is a tensor of which all sizes are given".to_string()
            }),
            (rule!("OP.CALLTIR.DTYPE"), 1, results.iter().flatten().all(has_dtype), &|| {
                "the data type of each result is given".to_string()
            }),
        ],
    )
}

/// The inputs and results of a call in either form.
struct CallTirSignature<'a> {
    inputs: &'a [StructInfo],
    ints: Option<&'a StructInfo>,
    /// The results, if they are tensors with all sizes stated.
    results: Option<Vec<StructInfo>>,
}

impl<'a> CallTirSignature<'a> {
    /// `None` if the inputs are neither a tuple nor listed individually before the shape.
    fn of(a: &InferArgs<'a>) -> Option<CallTirSignature<'a>> {
        let sinfo_args = &a.call.sinfo_args;
        match (CallForm::infer(a.args, sinfo_args), a.args) {
            (CallForm::Tupled, [_, StructInfo::Tuple(inputs), ints @ ..]) => {
                let asked = match sinfo_args.as_slice() {
                    [StructInfo::Tuple(fields)] => &**fields,
                    several => several,
                };
                let tensors = asked.iter().all(|info| info.as_tensor().is_some());
                Some(CallTirSignature { inputs, ints: ints.first(), results: tensors.then(|| asked.to_vec()) })
            }
            (CallForm::Flat, [_, inputs @ .., StructInfo::Shape(_) | StructInfo::Tuple(_)]) => {
                let inputs = if let [StructInfo::Tuple(fields)] = inputs { fields } else { inputs };
                let results = match (a.call.args.last(), sinfo_args.as_slice()) {
                    (Some(shapes), [target]) => with_sizes(shapes, target),
                    (Some(_) | None, [] | [_, ..]) => None,
                };
                Some(CallTirSignature { inputs, ints: None, results })
            }
            (CallForm::Tupled | CallForm::Flat, _) => None,
        }
    }
}

/// Pairs each tensor with the literal shape that gives its sizes.
fn with_sizes(shapes: &Expr, target: &StructInfo) -> Option<Vec<StructInfo>> {
    let sized = |shape: &Expr, target: &StructInfo| {
        let (Expr::ShapeExpr(shape), Some(tensor)) = (shape, target.as_tensor()) else { return None };
        let fits = tensor.ndim.is_unknown() || tensor.ndim == Ndim::of_len(shape.values.len());
        fits.then(|| StructInfo::tensor(shape.values.iter().cloned(), tensor.dtype))
    };
    match (shapes, target) {
        (Expr::Tuple(shapes), StructInfo::Tuple(targets)) if shapes.fields.len() == targets.len() => {
            shapes.fields.iter().zip(targets.iter()).map(|(shape, target)| sized(shape, target)).collect()
        }
        (shape, target) => Some(vec![sized(shape, target)?]),
    }
}

/// Whether it can be passed to a `PrimFunc`.
fn may_be_passed(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(_) | StructInfo::Prim(_) | StructInfo::Object => true,
        StructInfo::Shape(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => false,
    }
}

fn is_shape_of_known_rank(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Shape(shape) if !shape.ndim.is_unknown())
}

fn infer_call_dps_packed(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    if cx.has(rule!("OP.CALLDPS.ARGS")) {
        return infer_call_dps_packed_as_later_editions_have_it(cx, a);
    }
    match CallForm::infer(a.args, &a.call.sinfo_args) {
        CallForm::Tupled => infer_tupled(cx, a),
        CallForm::Flat => {
            demand(cx, &[(rule!("OP.CALLDPS.TYPEARG"), 1, has_one_type(a), &|| expects_one_type(a))])?;
            infer_flat(cx, a)
        }
    }
}

/// OP.CALLDPS.FUNC, OP.CALLDPS.ARGS, OP.CALLDPS.TYPEARG: a packed function, a tuple, and one piece of information that
/// describes the results completely.
fn infer_call_dps_packed_as_later_editions_have_it(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let given = CallTirSignature::of(a);
    let is_tuple = given.is_some();
    let results = given.filter(|_| has_one_type(a)).and_then(|given| given.results);
    let has_dtype = |info: &StructInfo| info.as_tensor().is_some_and(|tensor| !tensor.dtype.is_void());
    // Literal N52: a result may have any data type.
    let says_all = results.as_ref().is_some_and(|results| cx.literal(Erratum::N52) || results.iter().all(has_dtype));
    demand(
        cx,
        &[
            (rule!("OP.CALLDPS.FUNC"), 1, a.args.first().is_some_and(may_be_packed), &|| {
                "what is called must be a packed function".to_string()
            }),
            (rule!("OP.CALLDPS.ARGS"), 1, is_tuple, &|| "the inputs are one tuple".to_string()),
            (rule!("OP.CALLDPS.TYPEARG"), 1, says_all, &|| {
                "one type argument gives data type and all sizes of each result".to_string()
            }),
        ],
    )?;
    let is_tuple = matches!(a.call.sinfo_args.as_slice(), [StructInfo::Tuple(_)]);
    Ok(match results.as_deref() {
        Some([result]) if !is_tuple => result.clone(),
        results => StructInfo::tuple(results.unwrap_or_default().iter().cloned()),
    })
}

fn names_prim_func(a: &InferArgs<'_>) -> bool {
    let Some(Expr::GlobalVar(gv)) = a.call.args.first() else { return false };
    match a.module.map(|module| module.get(&gv.name)) {
        None | Some(Some(GlobalFunc::PrimFunc(_))) => true,
        Some(None | Some(GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_))) => false,
    }
}

/// The result has the stated structural information.
fn infer_tupled(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let result = match a.call.sinfo_args.as_slice() {
        [single] => single.clone(),
        several => StructInfo::tuple(several.iter().cloned()),
    };
    // OP.CALLTIR.EMPTY-TUPLE: in later editions a call without `sinfo_args` states this.
    let says_so = a.call.sinfo_args.is_empty() && cx.has(rule!("OP.CALLTIR.SINFO"));
    let result = if says_so { cx.conclude(rule!("OP.CALLTIR.EMPTY-TUPLE"), result) } else { result };
    let result = cx.conclude(rule!("OP.CALLTIR.RESULT-INFO"), result);
    Ok(cx.conclude(rule!("OP.CALLTIR.INFER"), result))
}

/// Whether it may be a packed function.
pub(super) fn may_be_packed(info: &StructInfo) -> bool {
    match info {
        StructInfo::Func(func) => func.params.is_none(),
        StructInfo::Object => true,
        StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Tuple(_) => false,
    }
}

fn has_one_type(a: &InferArgs<'_>) -> bool {
    matches!(a.call.sinfo_args.as_slice(), [_])
}

fn expects_one_type(a: &InferArgs<'_>) -> String {
    format!("expects one type argument, found {}", a.call.sinfo_args.len())
}

fn infer_flat(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let target = a.call.sinfo_args.first().filter(|_| has_one_type(a)).unwrap_or(&StructInfo::Object);
    let (shape, expr) = match (a.args.split_first(), a.call.args.last()) {
        (Some((_, [.., shape])), Some(expr)) => (shape, expr),
        (Some((_, [])) | None, _) | (Some((_, [_, ..])), None) => {
            return Err(InferError::rule(rule!("OP.CALLTIR.SHAPE"), "the shape of the result is missing"));
        }
    };
    match shape {
        StructInfo::Shape(s) => infer_single(cx, expr, s, target),
        StructInfo::Tuple(fields) => infer_tuple(cx, expr, fields, target),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Prim(_) | StructInfo::Func(_) => {
            not_a_shape(cx, shape)
        }
    }
}

/// OP.CALLTIR.SHAPE: the last argument must be known to be a shape or a tuple of shapes.
fn not_a_shape(cx: &mut Cx, found: &StructInfo) -> Result<StructInfo, InferError> {
    let message = format!("the last argument must be a shape or a tuple of shapes, it is {found}");
    let rule = rule!("OP.CALLTIR.SHAPE");
    cx.premise(rule, 1, Err(InferError::rule(rule, message)))
}

/// OP.CALLTIR.CORR.SINGLE: a single shape requires a single tensor type.
fn infer_single(
    cx: &mut Cx,
    expr: &Expr,
    shape: &ShapeStructInfo,
    target: &StructInfo,
) -> Result<StructInfo, InferError> {
    let tensor = target.as_tensor();
    demand(
        cx,
        &[(rule!("OP.CALLTIR.CORR.SINGLE"), 1, tensor.is_some(), &|| {
            format!("the type argument must be a tensor type, it is {target}")
        })],
    )?;
    let Some(tensor) = tensor else { return Ok(StructInfo::Object) };
    infer_result(cx, Some(expr), shape, tensor)
}

/// OP.CALLTIR.CORR.TUPLE: a tuple of shapes requires a tuple of the same number of tensor types (A26).
fn infer_tuple(cx: &mut Cx, expr: &Expr, shapes: &[StructInfo], target: &StructInfo) -> Result<StructInfo, InferError> {
    let mut results = Vec::with_capacity(shapes.len());
    let targets = if let StructInfo::Tuple(targets) = target
        && targets.len() == shapes.len()
    {
        Some(targets)
    } else {
        None
    };
    demand(
        cx,
        &[(rule!("OP.CALLTIR.CORR.TUPLE"), 1, targets.is_some(), &|| {
            format!("the type argument must be a tuple of {} tensor types, it is {target}", shapes.len())
        })],
    )?;
    if shapes.is_empty() {
        return Ok(cx.conclude(rule!("OP.CALLTIR.EMPTY-TUPLE"), StructInfo::tuple([])));
    }
    for (i, (shape, target)) in shapes.iter().zip(targets.iter().flat_map(|t| t.iter())).enumerate() {
        let StructInfo::Shape(shape) = shape else { return not_a_shape(cx, shape) };
        results.push(infer_field(cx, field_expr(expr, i), shape, target)?);
    }
    Ok(StructInfo::tuple(results))
}

fn infer_field(
    cx: &mut Cx,
    expr: Option<&Expr>,
    shape: &ShapeStructInfo,
    target: &StructInfo,
) -> Result<StructInfo, InferError> {
    // In the literal text the fields are ShapeTypes, so that nothing gives the data type of the result.
    let literal = cx.literal(Erratum::A26);
    let tensor = target.as_tensor();
    let corresponds = if literal { matches!(target, StructInfo::Shape(_)) } else { tensor.is_some() };
    demand(
        cx,
        &[(rule!("OP.CALLTIR.CORR.TUPLE"), 2, corresponds, &|| {
            format!("the fields of the type argument must be tensor types, one is {target}")
        })],
    )?;
    if literal {
        return Ok(TensorDims::of_shape(shape).tensor(DataType::VOID));
    }
    let Some(tensor) = tensor else { return Ok(StructInfo::Object) };
    infer_result(cx, expr, shape, tensor)
}

fn field_expr(expr: &Expr, i: usize) -> Option<&Expr> {
    if let Expr::Tuple(t) = expr { t.fields.get(i) } else { None }
}

/// OP.CALLTIR.INFER: the shape from the shape argument (as the variable if it is one), the data type from `aT`.
fn infer_result(
    cx: &mut Cx,
    expr: Option<&Expr>,
    shape: &ShapeStructInfo,
    target: &TensorStructInfo,
) -> Result<StructInfo, InferError> {
    // OP.CALLTIR.NDIM: the ranks agree where both are known.
    let agree = shape.ndim.is_unknown() || target.ndim.is_unknown() || shape.ndim == target.ndim;
    demand(
        cx,
        &[(rule!("OP.CALLTIR.NDIM"), 1, agree, &|| {
            format!("the shape has rank {}, the type argument {}", shape.ndim, target.ndim)
        })],
    )?;
    let variable = if let Some(Expr::Var(v)) = expr {
        Some(TensorShape::Var(v.clone().into()))
    } else if let Some(Expr::DataflowVar(v)) = expr {
        Some(TensorShape::DataflowVar(v.clone().into()))
    } else {
        None
    };
    let literal = shape.values.clone().map(TensorShape::Dims);
    let ndim = if shape.ndim == Ndim::Unknown { target.ndim } else { shape.ndim };
    let result =
        TensorStructInfo { shape: variable.or(literal), dtype: target.dtype, ndim, vdevice: target.vdevice.clone() };
    Ok(cx.conclude(rule!("OP.CALLTIR.INFER"), StructInfo::Tensor(result)))
}
