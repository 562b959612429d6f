//! Operators that call one of their arguments: packed functions, Python functions, `PrimFunc`s in place, and closures;
//! also `cast`.

use std::rc::Rc;

use crate::book::Erratum;
use crate::grammar::{Call, Expr, StructInfo};
use crate::judge::Cx;
use crate::ops::language::call_tir::{infer_call_tir, infer_call_tir_inplace, may_be_packed};
use crate::ops::language::dps::{call_tir, call_tir_inplace};
use crate::ops::language::in_place::{alias, inplace_indices};
use crate::ops::{Accuracy, Attr, AttrKind, Clauses, EvalArgs, InferArgs, InferError, OpDef, OpParam, demand, kernel};
use crate::value::{Applied, Closure, Host, PackedCallContract, Stop, Value};

const FUNC: OpParam = OpParam::Arg("func");
const ARGS: OpParam = OpParam::Arg("args");
const INPLACE: OpParam = OpParam::Attr(Attr::required("inplace_indices", AttrKind::Ints));

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "call_pure_packed",
        [rule!("OPS.call_pure_packed.infer"), rule!("OPS.call_pure_packed.value")],
        [FUNC, OpParam::Rest("args")],
        infer_call_packed,
        Exact,
        call_pure_packed
    ),
    operator!(
        "call_inplace_packed",
        [
            rule!("OPS.call_inplace_packed.infer"),
            rule!("OPS.call_inplace_packed.value"),
            rule!("OPS.call_inplace_packed.attrs")
        ],
        [FUNC, OpParam::Rest("args"), INPLACE],
        infer_call_inplace_packed,
        Exact,
        call_inplace_packed
    ),
    operator!(
        "call_builtin_with_ctx",
        [rule!("OPS.call_builtin_with_ctx.infer"), rule!("OPS.call_builtin_with_ctx.value")],
        [FUNC, ARGS],
        infer_call_builtin,
        Exact,
        call_on_fields
    )
    .impure(),
    operator!(
        "call_py_func",
        [rule!("OPS.call_py_func.infer"), rule!("OPS.call_py_func.value")],
        [OpParam::Arg("func_name"), ARGS],
        infer_call_py_func,
        Exact,
        call_py_func
    ),
    operator!(
        "call_tir_inplace",
        [rule!("OPS.call_tir_inplace.infer"), rule!("OPS.call_tir_inplace.value"), rule!("OPS.call_tir_inplace.attrs")],
        [OpParam::Arg("prim_func"), OpParam::Rest("args"), INPLACE, TIR_VARS],
        infer_call_tir_inplace,
        Exact,
        call_tir_inplace
    ),
    operator!(
        "call_tir_with_grad",
        [
            rule!("OPS.call_tir_with_grad.infer"),
            rule!("OPS.call_tir_with_grad.value"),
            rule!("OPS.call_tir_with_grad.attrs")
        ],
        [
            OpParam::Arg("prim_func"),
            OpParam::Rest("args"),
            OpParam::Attr(Attr::required("te_grad_name", AttrKind::Str(&[]))),
            OpParam::Attr(Attr::optional("te_grad_kwargs", AttrKind::Opaque)),
            TIR_VARS
        ],
        infer_call_tir,
        Exact,
        call_tir
    ),
    operator!(
        "make_closure",
        [rule!("OPS.make_closure.infer"), rule!("OPS.make_closure.value")],
        [FUNC, ARGS],
        infer_make_closure,
        Exact,
        make_closure
    ),
    operator!(
        "invoke_closure",
        [rule!("OPS.invoke_closure.infer"), rule!("OPS.invoke_closure.value")],
        [OpParam::Arg("closure"), ARGS],
        infer_invoke_closure,
        Exact,
        call_on_fields
    )
    .impure(),
    operator!(
        "invoke_pure_closure",
        [rule!("OPS.invoke_pure_closure.infer"), rule!("OPS.invoke_pure_closure.value")],
        [OpParam::Arg("closure"), ARGS],
        infer_invoke_closure,
        Exact,
        call_on_fields
    ),
    OpDef {
        name: "relax.cast",
        params: &[OpParam::Arg("v")],
        pure: true,
        infer: Some(infer_cast),
        inference: "infer_cast",
        eval: cast,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
        reads: false,
        excluded: None,
    },
];

/// Integers after the outputs, in TVM's dialect.
const TIR_VARS: OpParam = OpParam::Attr(Attr::optional("tir_vars", AttrKind::Any));

// Inference.

/// The result of a packed call: without `sinfo_args` an object, with one this information, with several a tuple.
fn asked(call: &Call) -> StructInfo {
    match call.sinfo_args.as_slice() {
        [] => StructInfo::Object,
        [single] => single.clone(),
        several => StructInfo::tuple(several.iter().cloned()),
    }
}

/// Checks the first argument. Rejects one that certainly cannot be called.
fn callee(a: &InferArgs<'_>) -> Result<(), InferError> {
    match a.args.first() {
        Some(StructInfo::Object | StructInfo::Func(_)) => Ok(()),
        Some(other) => Err(InferError::op(format!("what is called must be a function, it is {other}"))),
        None => Err(InferError::op("what is to be called is missing")),
    }
}

/// The second and last argument, a tuple of arguments.
fn tuple_of_args(a: &InferArgs<'_>) -> Result<(), InferError> {
    match a.args {
        [_, StructInfo::Tuple(_) | StructInfo::Object] => Ok(()),
        [_, other] => Err(InferError::op(format!("the arguments must be a tuple, it is {other}"))),
        [] | [_, ..] => Err(InferError::op(format!("expects 2 arguments, found {}", a.args.len()))),
    }
}

/// OP.CALLPURE.FUNC, OP.CALLPURE.SINFO: later editions require a packed function and information about its result.
fn infer_call_packed(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    callee(a)?;
    demand(
        cx,
        &[
            (rule!("OP.CALLPURE.FUNC"), 1, a.args.first().is_some_and(may_be_packed), &|| {
                "what is called must be a packed function".to_string()
            }),
            (rule!("OP.CALLPURE.SINFO"), 1, !a.call.sinfo_args.is_empty(), &|| {
                "at least one structural information says what comes of the call".to_string()
            }),
        ],
    )?;
    Ok(asked(a.call))
}

/// OPS.call_inplace_packed.infer: a result that is an argument has the information of that argument.
fn infer_call_inplace_packed(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    callee(a)?;
    let arguments = a.args.get(1..).unwrap_or_default();
    let (indices, result) = (inplace_indices(cx, a.call, arguments.len(), false)?, asked(a.call));
    let results = match (&result, indices.len()) {
        (_, 1) => std::slice::from_ref(&result),
        (StructInfo::Tuple(fields), count) if fields.len() == count => fields,
        (other, count) => return Err(InferError::op(format!("{count} results are asked for, the result is {other}"))),
    };
    for (index, result) in indices.into_iter().zip(results) {
        if let Some(argument) = index.and_then(|index| arguments.get(index)) {
            alias(cx, argument, result)?;
        }
    }
    Ok(result)
}

/// Without type arguments the result is the empty tuple.
fn infer_call_builtin(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    callee(a)?;
    tuple_of_args(a)?;
    match a.call.sinfo_args.as_slice() {
        [] => Ok(StructInfo::tuple([])),
        [single] => Ok(single.clone()),
        several => Err(InferError::op(format!("expects one type argument, found {}", several.len()))),
    }
}

fn infer_call_py_func(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    tuple_of_args(a)?;
    match (a.call.args.first(), a.args.first()) {
        (Some(Expr::StringImm(_)), _) | (_, Some(StructInfo::Object)) => {}
        (_, Some(other)) => return Err(InferError::op(format!("the name must be a string, it is {other}"))),
        (_, None) => return Err(InferError::op("the name of the function is missing")),
    }
    match a.call.sinfo_args.as_slice() {
        [single] => Ok(single.clone()),
        others => Err(InferError::op(format!("expects one type argument, found {}", others.len()))),
    }
}

fn infer_make_closure(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    callee(a)?;
    tuple_of_args(a)?;
    Ok(StructInfo::Object)
}

fn infer_invoke_closure(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    callee(a)?;
    tuple_of_args(a)?;
    Ok(asked(a.call))
}

// Evaluation.

/// Calls a value. A packed function also receives the required contract of its result.
fn call(m: &mut dyn Host, a: &EvalArgs<'_>, callee: &Value, args: &[Value]) -> Result<Value, Stop> {
    match callee.as_packed() {
        Some(packed) => m.call_packed(packed, args, PackedCallContract::of_type_args(&a.call.sinfo_args, true)),
        None => m.call_value(callee, args.to_vec()),
    }
}

/// Calls the first argument with the others. OP.CALLPURE.ARGS: in later editions the arguments are the members of one
/// tuple. TVM's dialect writes them individually.
///
/// Errata: N54. Read literally, the tuple itself is the argument.
fn call_first(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let [callee, args @ ..] = a.values else { return Err(kernel::fail("a callee is missing")) };
    let members = if let [Value::Tuple(fields)] = args { Some(fields.fields()) } else { None };
    let args = match members.filter(|_| !m.cx().literal(Erratum::N54)) {
        Some(members) if m.cx().fire(rule!("OP.CALLPURE.ARGS")) => members,
        Some(_) | None => args,
    };
    call(m, a, callee, args)
}

/// OP.CALLPURE: the value of the call itself.
fn call_pure_packed(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let result = call_first(m, a)?;
    Ok(m.cx().conclude(rule!("OP.CALLPURE"), result))
}

/// OP.CALLINPLACEPACKED: the same call, whatever it writes to.
fn call_inplace_packed(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let result = call_first(m, a)?;
    Ok(m.cx().conclude(rule!("OP.CALLINPLACEPACKED"), result))
}

/// Calls the first argument with the fields of the second, a tuple.
fn call_on_fields(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    match a.values {
        [callee, Value::Tuple(args)] => call(m, a, callee, args.fields()),
        [] | [_, ..] => Err(kernel::fail("expects a closure and a tuple of arguments")),
    }
}

/// Calls a function of the host by its name.
fn call_py_func(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let [Value::Str(name), Value::Tuple(args)] = a.values else {
        return Err(kernel::fail("expects a name and a tuple of arguments"));
    };
    let missing = || kernel::fail(format!("there is no function `{name}`"));
    let found = m.find_packed(name).ok_or_else(missing)?;
    call(m, a, &Value::PackedFunc(found), args.fields())
}

/// OPS.make_closure.value: the function with its last arguments.
fn make_closure(_: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let [callee, Value::Tuple(args)] = a.values else {
        return Err(kernel::fail("expects a function and a tuple of captured values"));
    };
    if matches!(callee, Value::Closure(_) | Value::PackedFunc(_) | Value::PrimFunc(_)) {
        let applied = Applied { callee: callee.clone(), last: args.fields().to_vec() };
        Ok(Value::Closure(Rc::new(Closure::of_applied(applied))))
    } else {
        Err(kernel::fail(format!("{} cannot be called", callee.category())))
    }
}

/// OP.CAST: the result has the target information.
fn infer_cast(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let _ = cx.fire(rule!("OP.CAST"));
    match (a.args, a.call.sinfo_args.as_slice()) {
        ([_], [target]) => Ok(cx.conclude(rule!("OP.CAST"), target.clone())),
        ([] | [_, ..], [] | [_, ..]) => Err(InferError::rule(rule!("OP.CAST"), "expects one argument and one type")),
    }
}

/// OP.CAST: `v` itself if it matches the target (A40).
fn cast(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let _ = m.cx().fire(rule!("OP.CAST"));
    match (a.values, a.call.sinfo_args.as_slice()) {
        ([v], [target]) => {
            m.match_without_binding(v, target)?;
            Ok(m.cx().conclude(rule!("OP.CAST"), v.clone()))
        }
        ([] | [_, ..], [] | [_, ..]) => Err(Stop::error(rule!("OP.CAST"), "expects one argument and one type")),
    }
}
