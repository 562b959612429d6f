//! Running calls in destination-passing style: `call_tir`, `call_dps_packed`.

use std::rc::Rc;

use crate::grammar::{AttrValue, DataType, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::EvalArgs;
use crate::ops::kernel::fail;
use crate::ops::language::call_form::CallForm;
use crate::ops::language::in_place::{inplace_indices, may_all_be_fresh};
use crate::ops::language::prim_func::{may_write_param, result_misfit, run_prim_func};
use crate::value::{
    Held, Host, PackedCallContract, PackedFunc, PrimFuncObj, ResultContract, Stop, Tensor, Value, count,
};

/// The inputs and results of a call in destination-passing style.
struct DpsCall {
    inputs: Vec<Value>,
    /// Shape and data type of each result.
    results: Vec<(Vec<i64>, DataType)>,
    /// Whether the result is a tuple of tensors.
    tuple: bool,
}

/// OP.CALLTIR.ARG-ORDER: the arguments are already evaluated. Now the results are allocated, and then `f` is called.
pub(in crate::ops) fn call_tir(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    run(m, a, |_, _| Ok(Vec::new()))
}

/// OPS.call_tir_inplace.value: as `call_tir`, but some outputs are inputs, which are written in place and not passed
/// again.
pub(super) fn call_tir_inplace(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let _ = m.cx().fire(rule!("OP.CALLTIRINPLACE"));
    let may_all_be_fresh = may_all_be_fresh(m.cx());
    let result = run(m, a, |cx, inputs| Ok(inplace_indices(cx, a.call, inputs, may_all_be_fresh)?))?;
    Ok(m.cx().conclude(rule!("OP.CALLTIRINPLACE"), result))
}

/// `aliases` gives for each result the input that it is. If it is empty, all results are new tensors.
fn run(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    aliases: impl FnOnce(&Cx, usize) -> Result<Vec<Option<usize>>, Stop>,
) -> Result<Value, Stop> {
    let _ = m.cx().fire(rule!("OP.CALLTIR.ARG-ORDER"));
    let _ = m.cx().fire(rule!("R89.CALLTIR.SEM"));
    let func = match prim_func(a) {
        Ok(func) => func,
        Err(stop) => return m.cx().conclude(rule!("R89.CALLTIR.GLOBALVAR"), Err(stop)),
    };
    let call = read_call(m, a)?;
    let call = DpsCall { inputs: one_by_one(call.inputs), ..call };
    let aliases = aliases(m.cx(), call.inputs.len())?;
    let outputs = outputs_of(m, &call, &aliases)?;
    let is_alias = |i: usize| aliases.get(i).is_some_and(Option::is_some);
    let fresh: Vec<Tensor> =
        outputs.iter().enumerate().filter(|(i, _)| !is_alias(*i)).map(|(_, t)| t.clone()).collect();
    let kept: Vec<&Value> =
        call.inputs.iter().enumerate().filter(|(i, _)| !aliases.contains(&Some(*i))).map(|(_, input)| input).collect();
    let _held = paid(m, &kept)?;
    let may_change = |i: usize| !aliases.contains(&Some(i)) && may_write_param(&func.func, i);
    let watched: Vec<&Value> =
        call.inputs.iter().enumerate().filter(|(i, _)| may_change(*i)).map(|(_, input)| input).collect();
    let before: Vec<_> = watched.iter().copied().map(contents).collect();
    let inputs = m.cx().conclude(rule!("OP.CALLTIR.ARG-ORDER"), call.inputs.clone());
    let first_output = inputs.len();
    let mut args = destination_passing(m, inputs, &fresh);
    let written = first_output..args.len();
    args.extend(tir_vars(m, a)?);
    run_prim_func(m, &func, &args, written)?;
    // OP.CALLTIR.MUTATES-INPUT: if an input changes that is not an output, the behaviour is unspecified.
    let unchanged = watched.iter().copied().map(contents).eq(before);
    if !m.cx().premise(rule!("OP.CALLTIR.MUTATES-INPUT"), 1, unchanged) {
        return Err(Stop::unspecified(format!(
            "@{} mutates an input [{}]",
            func.name,
            rule!("OP.CALLTIR.MUTATES-INPUT")
        )));
    }
    let result = results(m, outputs, call.tuple);
    let checked = check_result(m, &result, &a.call.sinfo_args);
    m.cx().conclude(rule!("R89.CALLTIR.SEM"), checked)
}

fn prim_func(a: &EvalArgs<'_>) -> Result<Rc<PrimFuncObj>, Stop> {
    let func = a.values.first().and_then(Value::as_prim_func).cloned();
    let message = "the first argument of call_tir is not a PrimFunc of the module";
    func.ok_or_else(|| Stop::error(rule!("OP.CALLTIR.FUNC"), message))
}

/// The returned tensors: the inputs given in `aliases`, otherwise new ones.
fn outputs_of(m: &mut dyn Host, call: &DpsCall, aliases: &[Option<usize>]) -> Result<Vec<Tensor>, Stop> {
    if aliases.is_empty() {
        return allocate(m, &call.results);
    }
    let mut outputs = Vec::with_capacity(call.results.len());
    for (result, alias) in call.results.iter().zip(aliases) {
        match alias.map(|input| call.inputs.get(input).and_then(Value::as_tensor)) {
            Some(Some(input)) => outputs.push(input.clone()),
            Some(None) => return Err(fail("a result that is an input must be a tensor")),
            None => outputs.extend(allocate(m, std::slice::from_ref(result))?),
        }
    }
    Ok(outputs)
}

/// OP.CALLTIR.RESULT-CHECK: checks that the result has the shape and data type in the structural information.
fn check_result(m: &mut dyn Host, result: &Value, sinfo_args: &[StructInfo]) -> Result<Value, Stop> {
    let [target] = sinfo_args else { return Ok(result.clone()) };
    match m.match_without_binding(result, target) {
        Ok(()) => Ok(result.clone()),
        Err(Stop::Error(error)) => result_misfit(m, error.message).map(|()| result.clone()),
        Err(stop) => Err(stop),
    }
}

/// OP.CALLTIR.DPS, R89.DPS: the inputs, then the outputs.
fn destination_passing(m: &mut dyn Host, inputs: Vec<Value>, outputs: &[Tensor]) -> Vec<Value> {
    let outputs = outputs.iter().cloned().map(Value::Tensor).collect();
    let both = m.cx().conclude(rule!("OP.CALLTIR.DPS"), [inputs, outputs]);
    m.cx().conclude(rule!("R89.DPS"), both).concat()
}

/// The attribute `tir_vars` of TVM's dialect: integers after the outputs.
fn tir_vars(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Vec<Value>, Stop> {
    let Some(AttrValue::List(items)) = a.call.attrs.get("tir_vars") else { return Ok(Vec::new()) };
    let dims = items.iter().filter_map(AttrValue::as_prim);
    dims.map(|dim| m.eval_dim(dim).map(Value::int)).collect()
}

/// Charges the cost of the inputs, which are read before and after the call and copied.
fn paid(m: &mut dyn Host, inputs: &[&Value]) -> Result<Held, Stop> {
    let tensors = inputs.iter().filter_map(|input| input.as_tensor());
    let (elements, bytes) = tensors.fold((0u64, 0u64), |(elements, bytes), tensor| {
        let count = tensor.len() as u64;
        (elements.saturating_add(count), bytes.saturating_add(count.saturating_mul(tensor.dtype().bytes() as u64)))
    });
    m.spend(elements.saturating_mul(2))?;
    m.account().hold(bytes.saturating_mul(2))
}

fn contents(value: &Value) -> Option<crate::grammar::TensorData> {
    value.as_tensor().map(Tensor::to_data)
}

/// OP.CALLDPS: as `call_tir`, with a packed function.
pub(in crate::ops) fn call_dps_packed(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let _ = m.cx().fire(rule!("OP.CALLDPS"));
    let _ = m.cx().fire(rule!("R89.CALLDPS.SEM"));
    let Some(packed) = dps_callee(m, a.values.first())? else {
        let missing = rule!("OP.CALLDPS.MISSING");
        return m.cx().conclude(missing, Err(Stop::error(missing, "no function is registered under the symbol")));
    };
    let call = read_call(m, a)?;
    let sizes = call.results.into_iter().map(|(dims, dtype)| (m.cx().conclude(rule!("OP.CALLDPS.ALLOC"), dims), dtype));
    let sizes: Vec<_> = sizes.collect();
    let outputs = allocate(m, &sizes)?;
    // OP.CALLDPS.MUTATE-ARGS: the function may change its inputs, which the caller sees.
    let _ = m.cx().fire(rule!("OP.CALLDPS.MUTATE-ARGS"));
    let themselves = |input| m.cx().conclude(rule!("OP.CALLDPS.MUTATE-ARGS"), input);
    let inputs: Vec<Value> = call.inputs.into_iter().map(themselves).collect();
    let args = destination_passing(m, inputs, &outputs);
    let args = m.cx().conclude(rule!("OP.CALLDPS.CALL"), args);
    m.call_packed(
        &packed,
        &args,
        PackedCallContract { pure: a.call.is_marked_pure(), wanted: ResultContract::Outputs(outputs.len()) },
    )?;
    let result = results(m, outputs, call.tuple);
    let result = m.cx().conclude(rule!("OP.CALLDPS.RET"), result);
    let checked = check_result(m, &result, &a.call.sinfo_args);
    let checked = result_of_packed(m.cx(), &result, checked);
    let checked = m.cx().conclude(rule!("R89.CALLDPS.SEM"), checked);
    m.cx().conclude(rule!("OP.CALLDPS"), checked)
}

/// OP.CALLDPS.RESULT-CHECK: in later editions the check is a separate rule.
fn result_of_packed(cx: &mut Cx, result: &Value, checked: Result<Value, Stop>) -> Result<Value, Stop> {
    let rule = rule!("OP.CALLDPS.RESULT-CHECK");
    match checked {
        Err(Stop::Error(_)) if !cx.has(rule) => checked,
        Err(Stop::Error(error)) => cx.premise(rule, 1, Err(Stop::error(rule, error.message))),
        Ok(_) => cx.premise(rule, 1, Ok(result.clone())),
        other @ Err(Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_)) => other,
    }
}

/// The packed function, given directly or by its symbol (C15); `None` if nothing is registered under the symbol.
fn dps_callee(m: &mut dyn Host, callee: Option<&Value>) -> Result<Option<Rc<PackedFunc>>, Stop> {
    // OP.CALLDPS.FUNC, OP.CALLDPS.MISSING: in later editions it is an expression, not a symbol.
    let by_symbol = !(m.cx().has(rule!("OP.CALLDPS.FUNC")) && m.cx().fire(rule!("OP.CALLDPS.MISSING")));
    if let Some(symbol) = callee.and_then(Value::as_str).filter(|_| by_symbol) {
        return Ok(m.find_packed(symbol));
    }
    let packed = callee.and_then(Value::as_packed).cloned().map(Some);
    let message = "the first argument of call_dps_packed is not a packed function";
    let own = rule!("OP.CALLDPS.FUNC");
    let rule = if m.cx().has(own) { own } else { rule!("OP.CALLDPS") };
    packed.ok_or_else(|| Stop::error(rule, message))
}

fn read_call(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    match CallForm::of_values(a.values, &a.call.sinfo_args) {
        CallForm::Flat => read_flat(a),
        CallForm::Tupled => read_tupled(m, a),
    }
}

fn read_flat(a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    let ([_, inputs @ .., shape], [target]) = (a.values, a.call.sinfo_args.as_slice()) else {
        return Err(Stop::error(rule!("OP.CALLTIR.TYPEARG"), "expects a shape and one type argument"));
    };
    let wrong = |rule| Stop::error(rule, format!("the shape {shape} does not belong to the type argument {target}"));
    let (results, tuple) = if let Value::Shape(dims) = shape {
        let tensor = target.as_tensor().ok_or_else(|| wrong(rule!("OP.CALLTIR.CORR.SINGLE")))?;
        (vec![(dims.to_vec(), tensor.dtype)], false)
    } else if let Value::Tuple(shapes) = shape {
        let targets = target.as_tuple().filter(|targets| shapes.len() == targets.len());
        let results = targets.and_then(|targets| {
            let fields = shapes.fields().iter().zip(targets.iter());
            fields.map(|(shape, target)| Some((shape.as_shape()?.to_vec(), target.as_tensor()?.dtype))).collect()
        });
        (results.ok_or_else(|| wrong(rule!("OP.CALLTIR.CORR.TUPLE")))?, true)
    } else {
        return Err(wrong(rule!("OP.CALLTIR.SHAPE")));
    };
    Ok(DpsCall { inputs: inputs.to_vec(), results, tuple })
}

/// The individual inputs of a PrimFunc, if one variable holds them all (C14). A PrimFunc takes no tuples.
fn one_by_one(inputs: Vec<Value>) -> Vec<Value> {
    match inputs.as_slice() {
        [Value::Tuple(fields)] => fields.fields().to_vec(),
        _ => inputs,
    }
}

fn read_tupled(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<DpsCall, Stop> {
    let mut inputs = match a.values.get(1).and_then(Value::as_tuple) {
        Some(tuple) => tuple.fields().to_vec(),
        None => Vec::new(),
    };
    if let Some(ints) = a.values.get(2).and_then(Value::as_shape) {
        // OP.CALLTIR.PACKEDINTS: they follow the inputs.
        let ints = m.cx().conclude(rule!("OP.CALLTIR.PACKEDINTS"), ints.to_vec());
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

fn tensor_of(m: &mut dyn Host, target: &StructInfo) -> Result<(Vec<i64>, DataType), Stop> {
    if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), dtype, .. }) = target {
        let dims = dims.iter().map(|dim| m.eval_dim(dim)).collect::<Result<Vec<i64>, Stop>>()?;
        return Ok((dims, *dtype));
    }
    Err(Stop::error(rule!("OP.CALLTIR.TYPEARG"), format!("{target} does not describe a tensor of known shape")))
}

/// OP.CALLTIR.ALLOC: a new tensor for each result, with unspecified contents. OP.CALLTIR.EMPTY-TUPLE: none if there are
/// no results.
///
/// R89.DPS.SHAPE-FIRST: the shape is known before the call. R89.SHAPE.RUNTIME: it is the computed shape.
fn allocate(m: &mut dyn Host, results: &[(Vec<i64>, DataType)]) -> Result<Vec<Tensor>, Stop> {
    let rule = if results.is_empty() { rule!("OP.CALLTIR.EMPTY-TUPLE") } else { rule!("OP.CALLTIR.ALLOC") };
    let _ = m.cx().fire(rule);
    let mut outputs = Vec::with_capacity(results.len());
    for (dims, dtype) in results {
        // OP.CALLTIR.DTYPE: the data type of the type argument. With the data type Void nothing can be allocated.
        let dtype = m.cx().conclude(rule!("OP.CALLTIR.DTYPE"), *dtype);
        if dtype.is_void() {
            return Err(Stop::error(rule!("OP.CALLTIR.DTYPE"), "the type argument gives no data type"));
        }
        let dims = m.cx().conclude(rule!("R89.DPS.SHAPE-FIRST"), dims.clone());
        let dims = m.cx().conclude(rule!("R89.SHAPE.RUNTIME"), dims);
        let dims = m.cx().conclude(rule, dims);
        m.spend(count(&dims))?;
        let allocated = m.account().zeros(dtype, &dims)?;
        let allocated = allocated.map_err(|error| Stop::error(rule!("OP.CALLTIR.ALLOC"), error.to_string()))?;
        outputs.push(allocated.without_values());
    }
    Ok(outputs)
}

/// OP.CALLTIR.RET: the written tensors themselves.
fn results(m: &mut dyn Host, outputs: Vec<Tensor>, tuple: bool) -> Value {
    let outputs: Vec<Value> = outputs.into_iter().map(Value::Tensor).collect();
    let result = match <[Value; 1]>::try_from(outputs) {
        Ok([single]) if !tuple => single,
        Ok([single]) => Value::tuple(vec![single]),
        Err(outputs) if outputs.is_empty() => m.cx().conclude(rule!("OP.CALLTIR.EMPTY-TUPLE"), Value::unit()),
        Err(outputs) => Value::tuple(outputs),
    };
    m.cx().conclude(rule!("OP.CALLTIR.RET"), result)
}
