//! Purity as the checker sees it (chapter Purity and Dataflow Blocks): a flag of operators, calls and functions.

use crate::book::Erratum;
use crate::grammar::{Call, Expr, Function};
use crate::judge::Cx;
use crate::ops::{self, OpDef};

/// The kind of callee, as far as purity is concerned.
#[derive(Clone, Copy, Debug)]
pub enum PurityCallee {
    /// An operator, with its definition if the registry knows it.
    Op(Option<&'static OpDef>),
    /// An `ExternFunc`, or any value of `PackedFuncType` (A31).
    Packed,
    /// A value of a `FuncType`.
    Closure {
        /// The purity in its annotation.
        pure: bool,
    },
}

/// PURE.CALL-EFFECT: whether a call is marked pure. Each call is decided separately.
pub fn call_is_pure(cx: &mut Cx, callee: PurityCallee, call: &Call) -> bool {
    let attributed = call.is_marked_pure() && cx.conclude(rule!("PURE.ATTR.REPR"), true);
    match callee {
        PurityCallee::Op(def) => {
            let registered = match def {
                // The possibility of a runtime error does not make an operator impure (PURE.ERR.OP).
                Some(def) => def.is_pure(cx) && cx.conclude(rule!("PURE.ERR.OP"), true),
                None => cx.conclude(rule!("PURE.DEFAULT-IMPURE"), false),
            };
            registered || attributed
        }
        PurityCallee::Packed => packed_call_is_pure(cx, attributed),
        PurityCallee::Closure { pure } => pure,
    }
}

/// PURE.EXTERN-ATTR: the attribute of the call asserts that this call has no effect. Without it PURE.DEFAULT-IMPURE.
fn packed_call_is_pure(cx: &mut Cx, attributed: bool) -> bool {
    let asserted = cx.conclude(rule!("PURE.EXTERN-ATTR"), attributed);
    let pure = cx.by_cases((&[(rule!("PURE.CALL-EFFECT"), asserted, true)], (rule!("PURE.DEFAULT-IMPURE"), false)));
    // R89.PURE.DEF: a callee without a declaration may have any effect.
    cx.conclude(rule!("R89.PURE.DEF"), pure)
}

/// The purity of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionPurity {
    /// Whether calls of it are pure.
    pub pure: bool,
    /// Whether the function is declared pure although its body is not (TC.FUNC.PURE.ANNOT-ERR).
    pub broken_promise: bool,
}

/// TC.FUNC.PURE: the purity of a function. `all_pure` says whether its body makes only pure calls.
///
/// Errata: A32. Read literally, the error comes before `force_pure` is considered.
pub fn function_is_pure(cx: &mut Cx, function: &Function, all_pure: bool) -> FunctionPurity {
    let inferred = inferred_purity(cx, all_pure);
    let forced = cx.by_cases(&[(rule!("TC.FUNC.PURE.FORCE"), function.force_pure(), true)]).is_some();
    let forced = forced && cx.conclude(rule!("PURE.FORCE"), true);
    let excused = forced && !cx.literal(Erratum::A32);
    let kept = function.pure != Some(true) || inferred || excused;
    let kept = cx.holds(&[(rule!("TC.FUNC.PURE.ANNOT-ERR"), 1, kept)]);
    let declared = cx.by_cases(&[
        (rule!("TC.FUNC.PURE.DEFAULT"), function.pure.is_none(), inferred),
        (rule!("TC.FUNC.PURE.ANNOT-FALSE"), function.pure == Some(false) && inferred, false),
    ]);
    let declared = declared.unwrap_or(function.pure.is_some_and(|promised| promised || inferred));
    FunctionPurity { pure: forced || declared, broken_promise: !kept }
}

/// TC.FUNC.PURE.INFER, PURE.CONSERVATIVE: one impure call makes the function impure, whatever happens at run time.
/// Casts do not count (PURE.ERR-EXEMPT), and neither does nontermination (PURE.NONTERM-UNTRACKED).
fn inferred_purity(cx: &mut Cx, all_pure: bool) -> bool {
    let inferred = cx.conclude(rule!("TC.FUNC.PURE.INFER"), all_pure);
    cx.by_cases((&[(rule!("PURE.NONTERM-UNTRACKED"), inferred, true)], (rule!("PURE.CONSERVATIVE"), false)))
}

/// Whether a callee is an operator that is registered as pure.
pub fn callee_is_pure_operator(callee: &Expr) -> bool {
    match callee {
        Expr::Op(op) => ops::lookup(&op.op_name).is_some_and(|def| def.pure),
        _ => false,
    }
}
