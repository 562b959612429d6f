//! `call_tir` and `call_dps_packed`: calls in destination-passing style.
//!
//! Two forms of the call are read (C14): the inputs as arguments of their own followed by the shape, with one
//! structural information that gives the data types; and the inputs as one tuple, with the shapes in the structural
//! information itself.

use std::rc::Rc;

use super::infer::Dims;
use super::{Accuracy, EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::cx::Cx;
use crate::erratum::Erratum;
use crate::eval::tensor::Tensor;
use crate::eval::{Machine, PackedFunc, PrimFuncObj, Stop, Value};
use crate::grammar::{DataType, Expr, GlobalFunc, Ndim, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::rule::Rule;

pub(super) const OPS: &[OpDef] = &[
    OpDef {
        name: "relax.call_tir",
        params: &[Param::Arg("prim_func"), Param::Rest("args")],
        pure: true,
        infer: Some(infer_call_tir),
        eval: call_tir,
        accuracy: Accuracy::Exact,
    },
    OpDef {
        name: "relax.call_dps_packed",
        params: &[Param::Arg("func"), Param::Rest("args")],
        pure: false,
        infer: Some(infer_call_dps_packed),
        eval: call_dps_packed,
        accuracy: Accuracy::Exact,
    },
];

/// How the call gives its inputs and the shapes of its results (C14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallForm {
    /// `[f, a1, .., an, shape]` with one structural information, whose data types count.
    Flat,
    /// `[f, (a1, .., an)]`, or `[f, (a1, .., an), ints]`, with shapes and data types in the structural information.
    Tupled,
}

impl CallForm {
    /// `inputs` says of the second argument that it is a tuple, and not one of shapes.
    fn of(args: usize, tuple_of_inputs: bool, sinfo_args: &[StructInfo]) -> CallForm {
        if matches!(args, 2 | 3) && tuple_of_inputs && sinfo_args.iter().all(has_dims) {
            CallForm::Tupled
        } else {
            CallForm::Flat
        }
    }

    /// The form of a call whose arguments have the given structural information.
    pub fn infer(args: &[StructInfo], sinfo_args: &[StructInfo]) -> CallForm {
        let tupled = match args.get(1) {
            Some(StructInfo::Tuple(fields)) => {
                fields.is_empty() || !fields.iter().all(|f| matches!(f, StructInfo::Shape(_)))
            }
            None
            | Some(
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Func(_),
            ) => false,
        };
        CallForm::of(args.len(), tupled, sinfo_args)
    }

    fn of_values(values: &[Value], sinfo_args: &[StructInfo]) -> CallForm {
        let tuple = values.get(1).and_then(Value::as_tuple);
        let tupled = tuple.is_some_and(|t| t.is_empty() || !t.fields().iter().all(|f| f.as_shape().is_some()));
        CallForm::of(values.len(), tupled, sinfo_args)
    }
}

/// Whether structural information says every size of the tensors it describes.
fn has_dims(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(t) => matches!(t.shape, Some(TensorShape::Dims(_))),
        StructInfo::Tuple(fields) => fields.iter().all(has_dims),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

// Inference.

fn infer_call_tir(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    // OP.CALLTIR.FUNC: the first argument is a GlobalVar bound to a PrimFunc of the module.
    if !cx.premise(Rule::OpCalltirFunc, 1, names_prim_func(a)) {
        let message = "the first argument of call_tir must be a PrimFunc of the module";
        return Err(InferError::rule(Rule::OpCalltirFunc, message));
    }
    match CallForm::infer(a.args, &a.call.sinfo_args) {
        CallForm::Tupled => infer_tupled(cx, a),
        CallForm::Flat => {
            cx.apply(Rule::OpCalltirArgs)?;
            infer_flat(cx, a, Rule::OpCalltirTypearg)
        }
    }
}

fn infer_call_dps_packed(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    match CallForm::infer(a.args, &a.call.sinfo_args) {
        CallForm::Tupled => infer_tupled(cx, a),
        CallForm::Flat => infer_flat(cx, a, Rule::OpCalldpsTypearg),
    }
}

fn names_prim_func(a: &InferArgs<'_>) -> bool {
    let Some(Expr::GlobalVar(gv)) = a.call.args.first() else { return false };
    match a.module.map(|module| module.get(&gv.name)) {
        None | Some(Some(GlobalFunc::PrimFunc(_))) => true,
        Some(None | Some(GlobalFunc::Function(_))) => false,
    }
}

/// The result is what the structural information says.
fn infer_tupled(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    cx.apply(Rule::OpCalltirInfer)?;
    Ok(match a.call.sinfo_args.as_slice() {
        [single] => single.clone(),
        several => StructInfo::tuple(several.iter().cloned()),
    })
}

fn infer_flat(cx: &mut Cx, a: &InferArgs<'_>, type_arg: Rule) -> Result<StructInfo, InferError> {
    // OP.CALLTIR.TYPEARG, OP.CALLDPS.TYPEARG: exactly one type argument.
    let single = if let [single] = a.call.sinfo_args.as_slice() { Some(single) } else { None };
    if !cx.premise(type_arg, 1, single.is_some()) {
        let message = format!("expects one type argument, found {}", a.call.sinfo_args.len());
        return Err(InferError::rule(type_arg, message));
    }
    let target = single.unwrap_or(&StructInfo::Object);
    let (shape, expr) = match (a.args.split_first(), a.call.args.last()) {
        (Some((_, [.., shape])), Some(expr)) => (shape, expr),
        (Some((_, [])) | None, _) | (Some((_, [_, ..])), None) => {
            return Err(InferError::rule(Rule::OpCalltirShape, "the shape of the result is missing"));
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
    if cx.premise(Rule::OpCalltirShape, 1, false) {
        return Ok(StructInfo::Object);
    }
    let message = format!("the last argument must be a shape or a tuple of shapes, it is {found}");
    Err(InferError::rule(Rule::OpCalltirShape, message))
}

/// OP.CALLTIR.CORR.SINGLE: to a single shape belongs a single tensor type.
fn infer_single(
    cx: &mut Cx,
    expr: &Expr,
    shape: &ShapeStructInfo,
    target: &StructInfo,
) -> Result<StructInfo, InferError> {
    let tensor = if let StructInfo::Tensor(t) = target { Some(t) } else { None };
    if !cx.premise(Rule::OpCalltirCorrSingle, 1, tensor.is_some()) {
        let message = format!("the type argument must be a tensor type, it is {target}");
        return Err(InferError::rule(Rule::OpCalltirCorrSingle, message));
    }
    let Some(tensor) = tensor else { return Ok(StructInfo::Object) };
    infer_result(cx, Some(expr), shape, tensor)
}

/// OP.CALLTIR.CORR.TUPLE: to a tuple of shapes belongs a tuple of as many tensor types (A26).
fn infer_tuple(cx: &mut Cx, expr: &Expr, shapes: &[StructInfo], target: &StructInfo) -> Result<StructInfo, InferError> {
    let mut results = Vec::with_capacity(shapes.len());
    let targets = match target {
        StructInfo::Tuple(targets) if targets.len() == shapes.len() => Some(targets),
        StructInfo::Tuple(_)
        | StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Func(_) => None,
    };
    if !cx.premise(Rule::OpCalltirCorrTuple, 1, targets.is_some()) {
        let message = format!("the type argument must be a tuple of {} tensor types, it is {target}", shapes.len());
        return Err(InferError::rule(Rule::OpCalltirCorrTuple, message));
    }
    if shapes.is_empty() {
        cx.apply(Rule::OpCalltirEmptyTuple)?;
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
    let wrong = || {
        let message = format!("the fields of the type argument must be tensor types, one is {target}");
        InferError::rule(Rule::OpCalltirCorrTuple, message)
    };
    if cx.literal(Erratum::A26) {
        // As the text has it the fields are ShapeTypes, so nothing gives the data type of the result.
        let is_shape = matches!(target, StructInfo::Shape(_));
        let object = Dims::of_shape(shape).tensor(DataType::VOID);
        return if cx.premise(Rule::OpCalltirCorrTuple, 2, is_shape) { Ok(object) } else { Err(wrong()) };
    }
    let tensor = if let StructInfo::Tensor(t) = target { Some(t) } else { None };
    if !cx.premise(Rule::OpCalltirCorrTuple, 2, tensor.is_some()) {
        return Err(wrong());
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
    if !cx.premise(Rule::OpCalltirNdim, 1, agree) {
        let message = format!("the shape has rank {}, the type argument {}", shape.ndim, target.ndim);
        return Err(InferError::rule(Rule::OpCalltirNdim, message));
    }
    cx.apply(Rule::OpCalltirInfer)?;
    let variable = match expr {
        Some(Expr::Var(v)) => Some(TensorShape::Var(v.clone())),
        Some(Expr::DataflowVar(v)) => Some(TensorShape::DataflowVar(v.clone())),
        None
        | Some(
            Expr::Constant(_)
            | Expr::GlobalVar(_)
            | Expr::Tuple(_)
            | Expr::SeqExpr(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::Function(_)
            | Expr::If(_)
            | Expr::ExternFunc(_)
            | Expr::Call(_)
            | Expr::ShapeExpr(_)
            | Expr::TupleGetItem(_)
            | Expr::Op(_),
        ) => None,
    };
    let literal = shape.values.clone().map(TensorShape::Dims);
    let ndim = if shape.ndim == Ndim::Unknown { target.ndim } else { shape.ndim };
    Ok(StructInfo::Tensor(TensorStructInfo { shape: variable.or(literal), dtype: target.dtype, ndim }))
}

// Evaluation.

/// What a call in destination-passing style comes down to.
struct DpsCall {
    inputs: Vec<Value>,
    /// Shape and data type of each result.
    results: Vec<(Vec<i64>, DataType)>,
    /// Whether the result is a tuple of tensors.
    tuple: bool,
}

/// OP.CALLTIR.ARG-ORDER: the arguments have been evaluated; now the results are allocated, then `f` is called.
fn call_tir(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    m.cx.apply(Rule::OpCalltirArgOrder)?;
    let func = match a.values.first() {
        Some(Value::PrimFunc(func)) => func.clone(),
        None
        | Some(
            Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Shape(_)
            | Value::Closure(_)
            | Value::PackedFunc(_)
            | Value::Prim(_)
            | Value::Str(_)
            | Value::DataType(_)
            | Value::Object(_),
        ) => {
            let message = "the first argument of call_tir is not a PrimFunc of the module";
            return Err(Stop::error(Rule::OpCalltirFunc, message));
        }
    };
    let call = read_call(m, a)?;
    let outputs = allocate(m, &call.results)?;
    let before: Vec<_> = call.inputs.iter().map(contents).collect();
    let mut args = call.inputs.clone();
    m.cx.apply(Rule::OpCalltirDps)?;
    args.extend(outputs.iter().cloned().map(Value::Tensor));
    run_with_outputs(m, &func, &args, outputs.len())?;
    // OP.CALLTIR.MUTATES-INPUT: no behaviour is promised if an input has changed.
    let unchanged = call.inputs.iter().map(contents).eq(before);
    if !m.cx.premise(Rule::OpCalltirMutatesInput, 1, unchanged) {
        return Err(Stop::unspecified(format!("@{} mutates an input [{}]", func.name, Rule::OpCalltirMutatesInput)));
    }
    results(m, outputs, call.tuple)
}

fn contents(value: &Value) -> Option<crate::grammar::TensorData> {
    value.as_tensor().map(Tensor::to_data)
}

/// OP.CALLDPS: as `call_tir`, with a packed function.
fn call_dps_packed(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    m.cx.apply(Rule::OpCalldps)?;
    let packed = dps_callee(m, a.values.first())?;
    let call = read_call(m, a)?;
    let outputs = allocate(m, &call.results)?;
    // OP.CALLDPS.MUTATE-ARGS: the function may change its inputs, which the caller sees.
    let shared = m.cx.fire(Rule::OpCalldpsMutateArgs);
    let mut args = if shared { call.inputs } else { copies(call.inputs)? };
    m.cx.apply(Rule::OpCalltirDps)?;
    args.extend(outputs.iter().cloned().map(Value::Tensor));
    m.call_packed(&packed, &args)?;
    results(m, outputs, call.tuple)
}

fn copies(values: Vec<Value>) -> Result<Vec<Value>, Stop> {
    values.into_iter().map(Value::deep_copy).collect()
}

/// The packed function, given as such or by its symbol (C15).
fn dps_callee(m: &mut Machine<'_>, callee: Option<&Value>) -> Result<Rc<PackedFunc>, Stop> {
    match callee {
        Some(Value::PackedFunc(packed)) => Ok(packed.clone()),
        Some(Value::Str(symbol)) => match m.find_packed(symbol) {
            Some(packed) => Ok(packed),
            None => {
                m.cx.apply(Rule::OpCalldpsMissing)?;
                let message = format!("no function is registered under the symbol {symbol}");
                Err(Stop::error(Rule::OpCalldpsMissing, message))
            }
        },
        None
        | Some(
            Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Shape(_)
            | Value::Closure(_)
            | Value::PrimFunc(_)
            | Value::Prim(_)
            | Value::DataType(_)
            | Value::Object(_),
        ) => Err(Stop::error(Rule::OpCalldps, "the first argument of call_dps_packed is not a packed function")),
    }
}

fn read_call(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    match CallForm::of_values(a.values, &a.call.sinfo_args) {
        CallForm::Flat => read_flat(a),
        CallForm::Tupled => read_tupled(m, a),
    }
}

fn read_flat(a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    let ([_, inputs @ .., shape], [target]) = (a.values, a.call.sinfo_args.as_slice()) else {
        return Err(Stop::error(Rule::OpCalltirTypearg, "expects a shape and one type argument"));
    };
    let wrong = |rule| Stop::error(rule, format!("the shape {shape} does not belong to the type argument {target}"));
    let (results, tuple) = match (shape, target) {
        (Value::Shape(dims), StructInfo::Tensor(t)) => (vec![(dims.to_vec(), t.dtype)], false),
        (Value::Shape(_), StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Tuple(_))
        | (Value::Shape(_), StructInfo::Func(_)) => return Err(wrong(Rule::OpCalltirCorrSingle)),
        (Value::Tuple(shapes), StructInfo::Tuple(targets)) if shapes.len() == targets.len() => {
            let fields = shapes.fields().iter().zip(targets.iter());
            let results = fields.map(|(shape, target)| match (shape, target) {
                (Value::Shape(dims), StructInfo::Tensor(t)) => Some((dims.to_vec(), t.dtype)),
                (
                    Value::Tensor(_)
                    | Value::Tuple(_)
                    | Value::Shape(_)
                    | Value::Closure(_)
                    | Value::PackedFunc(_)
                    | Value::PrimFunc(_)
                    | Value::Prim(_)
                    | Value::Str(_)
                    | Value::DataType(_)
                    | Value::Object(_),
                    _,
                ) => None,
            });
            (results.collect::<Option<Vec<_>>>().ok_or_else(|| wrong(Rule::OpCalltirCorrTuple))?, true)
        }
        (Value::Tuple(_), _) => return Err(wrong(Rule::OpCalltirCorrTuple)),
        (
            Value::Tensor(_)
            | Value::Closure(_)
            | Value::PackedFunc(_)
            | Value::PrimFunc(_)
            | Value::Prim(_)
            | Value::Str(_)
            | Value::DataType(_)
            | Value::Object(_),
            _,
        ) => return Err(wrong(Rule::OpCalltirShape)),
    };
    Ok(DpsCall { inputs: inputs.to_vec(), results, tuple })
}

fn read_tupled(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    let mut inputs = match a.values.get(1).and_then(Value::as_tuple) {
        Some(tuple) => tuple.fields().to_vec(),
        None => Vec::new(),
    };
    if let Some(ints) = a.values.get(2).and_then(Value::as_shape) {
        inputs.extend(ints.iter().map(|i| Value::int(*i)));
    }
    let (targets, tuple): (&[StructInfo], bool) = match a.call.sinfo_args.as_slice() {
        [StructInfo::Tuple(fields)] => (fields, true),
        single @ [_] => (single, false),
        several => (several, true),
    };
    let results = targets.iter().map(|target| tensor_of(m, target)).collect::<Result<Vec<_>, Stop>>()?;
    Ok(DpsCall { inputs, results, tuple })
}

fn tensor_of(m: &mut Machine<'_>, target: &StructInfo) -> Result<(Vec<i64>, DataType), Stop> {
    if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), dtype, .. }) = target {
        let dims = dims.iter().map(|dim| m.eval_dim(dim)).collect::<Result<Vec<i64>, Stop>>()?;
        return Ok((dims, *dtype));
    }
    Err(Stop::error(Rule::OpCalltirTypearg, format!("{target} does not describe a tensor of known shape")))
}

/// OP.CALLTIR.ALLOC: a new tensor for each result. OP.CALLTIR.EMPTY-TUPLE: none if there are no results.
fn allocate(m: &mut Machine<'_>, results: &[(Vec<i64>, DataType)]) -> Result<Vec<Tensor>, Stop> {
    let alloc = if results.is_empty() { Rule::OpCalltirEmptyTuple } else { Rule::OpCalltirAlloc };
    m.cx.apply(alloc)?;
    let mut outputs = Vec::with_capacity(results.len());
    for (dims, dtype) in results {
        // OP.CALLTIR.DTYPE: with the data type Void there is nothing to allocate.
        if !m.cx.premise(Rule::OpCalltirDtype, 1, !dtype.is_void()) {
            return Err(Stop::error(Rule::OpCalltirDtype, "the type argument gives no data type"));
        }
        let allocated = Tensor::zeros(*dtype, dims);
        outputs.push(allocated.map_err(|error| Stop::error(Rule::OpCalltirAlloc, error.to_string()))?);
    }
    Ok(outputs)
}

/// OP.CALLTIR.RET: the very tensors that were written.
fn results(m: &mut Machine<'_>, outputs: Vec<Tensor>, tuple: bool) -> Result<Value, Stop> {
    m.cx.apply(Rule::OpCalltirRet)?;
    let mut outputs: Vec<Value> = outputs.into_iter().map(Value::Tensor).collect();
    match outputs.pop() {
        Some(single) if !tuple => Ok(single),
        Some(last) => {
            outputs.push(last);
            Ok(Value::tuple(outputs))
        }
        None => Ok(Value::unit()),
    }
}

/// Runs a `PrimFunc` on inputs followed by the given number of outputs.
fn run_with_outputs(m: &mut Machine<'_>, func: &PrimFuncObj, args: &[Value], _outputs: usize) -> Result<(), Stop> {
    run_prim_func(m, func, args)
}

/// Runs a `PrimFunc` on all of its arguments, the destination buffers among them.
pub fn run_prim_func(_m: &mut Machine<'_>, func: &PrimFuncObj, _args: &[Value]) -> Result<(), Stop> {
    Err(Stop::unspecified(format!("@{} cannot be run", func.name)))
}
