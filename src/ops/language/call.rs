//! Operators that call something given to them: `call_pure_packed`, `make_closure`, `invoke_closure`, `cast`.

use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::ops::{Accuracy, Clauses, EvalArgs, InferArgs, InferError, OpDef, Param, kernel};
use crate::value::{Asked, Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    OpDef {
        name: "relax.call_pure_packed",
        params: &[Param::Arg("func"), Param::Rest("args")],
        pure: true,
        infer: Some(infer_from_sinfo_args),
        eval: call_first,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
    OpDef {
        name: "relax.invoke_closure",
        params: &[Param::Arg("closure"), Param::Arg("args")],
        pure: false,
        infer: Some(infer_from_sinfo_args),
        eval: invoke_closure,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
    OpDef {
        name: "relax.invoke_pure_closure",
        params: &[Param::Arg("closure"), Param::Arg("args")],
        pure: true,
        infer: Some(infer_from_sinfo_args),
        eval: invoke_closure,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
    OpDef {
        name: "relax.cast",
        params: &[Param::Arg("v")],
        pure: true,
        infer: Some(infer_cast),
        eval: cast,
        accuracy: Accuracy::Exact,
        clauses: Clauses::Text,
    },
];

/// As for a packed call: no `sinfo_args` give an object, one gives itself, several give a tuple.
fn infer_from_sinfo_args(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    Ok(match a.call.sinfo_args.as_slice() {
        [] => StructInfo::Object,
        [single] => single.clone(),
        several => StructInfo::tuple(several.iter().cloned()),
    })
}

/// The first argument is called with the others.
fn call_first(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let [callee, args @ ..] = a.values else { return Err(kernel::fail("a callee is missing")) };
    if let Value::PackedFunc(packed) = callee {
        return m.call_packed(packed, args, Asked::of_type_args(&a.call.sinfo_args, true));
    }
    m.call_value(callee, args.to_vec())
}

/// The first argument is called with the fields of the second, a tuple.
fn invoke_closure(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    match a.values {
        [callee, Value::Tuple(args)] => m.call_value(callee, args.fields().to_vec()),
        [] | [_, ..] => Err(kernel::fail("expects a closure and a tuple of arguments")),
    }
}

/// OP.CAST: the result has the information asked for.
fn infer_cast(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let by = cx.open(rule!("OP.CAST"));
    match (a.args, a.call.sinfo_args.as_slice()) {
        ([_], [target]) => Ok(by.conclude(target.clone())),
        ([] | [_, ..], [] | [_, ..]) => Err(InferError::rule(rule!("OP.CAST"), "expects one argument and one type")),
    }
}

/// OP.CAST: `v` itself if it matches what is asked for (A40).
fn cast(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let by = m.cx().open(rule!("OP.CAST"));
    match (a.values, a.call.sinfo_args.as_slice()) {
        ([v], [target]) => {
            m.match_without_binding(v, target)?;
            Ok(by.conclude(v.clone()))
        }
        ([] | [_, ..], [] | [_, ..]) => Err(Stop::error(rule!("OP.CAST"), "expects one argument and one type")),
    }
}
