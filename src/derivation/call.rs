//! Calls.

use std::collections::BTreeSet;

use super::purity::{DerivedCallee, callee_is_pure};
use super::{Deriver, Fit};
use crate::book::{Erratum, Rule};
use crate::findings::{Complaint, Demand, Finder, TrailStep};
use crate::grammar::{
    Call, DeriveFunc, Expr, FuncStructInfo, GlobalFunc, Op, PrimExpr, ShapeVar, Span, StructInfo, Var,
};
use crate::judge::{Cx, ReportedCondition};
use crate::ops::{self, InferArgs, InferError};
use crate::struct_info::closed::{is_chosen, original};
use crate::struct_info::mapping::{all_shape_vars, united_mapping};
use crate::struct_info::substitute::replace_everywhere;
use crate::struct_info::{
    ClosedDisplay, InScope, Mapping, Nowhere, Surroundings, chosen_anew, closed, default_derive, empty_derive,
    erase_to_well_defined, purity_of, seen_through, shown, substitute,
};

/// Why a call has no structural information.
#[derive(Clone, PartialEq, Debug)]
pub struct CallError {
    /// The rule that the call breaks.
    pub rule: Rule,
    /// The message for the user.
    pub message: String,
    /// The argument that causes the error, if one does.
    pub arg: Option<usize>,
}

/// SI.DERIVE.CALL: the structural information of a call to a callee with the given information, or the rule that
/// rejects the call. The variables in the arguments are in scope, since otherwise the arguments would be invalid
/// (SI.DERIVE.CONTEXT). The variables of the callee are separate.
pub fn derive_call(
    cx: &mut Cx,
    callee: &StructInfo,
    args: &[StructInfo],
    sinfo_args: &[StructInfo],
) -> Result<StructInfo, Rule> {
    let mut warnings = Vec::new();
    let caller = InScope::mentioned_by(args);
    let callee = closed(cx, callee, &Nowhere);
    let args: Vec<StructInfo> = args.iter().map(|arg| closed(cx, arg, &caller)).collect();
    let result = call_of(cx, &caller, &callee, &args, sinfo_args, &mut warnings);
    result.map(|info| shown(&info, &caller)).map_err(|error| error.rule)
}

/// The place of an argument. One that normalization has made is in the place of its call.
fn place_of(call: &Call, arg: usize) -> Span {
    call.args.get(arg).map(Expr::span).filter(|span| !span.is_none()).unwrap_or(call.span)
}

/// The parts of a call that are derived separately.
enum DerivedCallPart {
    Callee,
    Args,
}

impl<'m> Deriver<'_, 'm> {
    pub(super) fn call(&mut self, call: &'m Call) -> Option<StructInfo> {
        if let Expr::Op(op) = &call.op {
            return self.call_op(call, op);
        }
        // SI.DERIVE.CALL.ORDER: the callee, then the arguments from left to right.
        let (mut callee, mut args) = (None, Vec::new());
        for part in self.cx.conclude(rule!("SI.DERIVE.CALL.ORDER"), [DerivedCallPart::Callee, DerivedCallPart::Args]) {
            match part {
                DerivedCallPart::Callee => callee = self.callee(call),
                DerivedCallPart::Args => args = self.args(call),
            }
        }
        let args: Option<Vec<StructInfo>> = args.into_iter().collect();
        let (callee, args) = (callee?, args?);
        self.purity_of_callee(call, &callee);
        if self.is_prim_func(&call.op) {
            self.lies_somewhere(call, &args);
        }
        let sinfo_args: Vec<StructInfo> = call.sinfo_args.iter().map(|info| self.closed(info)).collect();
        let mut warnings = Vec::new();
        let result = call_of(self.cx, &self.scope, &callee, &args, &sinfo_args, &mut warnings);
        for (arg, message) in warnings {
            let span = place_of(call, arg);
            self.at(TrailStep::Item("args", arg), |d| d.warning(rule!("SI.DERIVE.CALL.ARGS.WARN"), span, message));
        }
        result.map_err(|error| self.call_error(call, error)).ok()
    }

    /// SI.DERIVE.CALL.EXTERN.PURITY, SI.DERIVE.CALL.FUNC.PURITY. PURE.CALL-EFFECT: the check applies to each call.
    ///
    /// Errata: U05. Read literally, a callee of unknown purity is rejected wherever an impure callee is.
    fn purity_of_callee(&mut self, call: &'m Call, callee: &StructInfo) {
        let StructInfo::Func(func) = callee else { return };
        if !self.declares_purity() {
            return;
        }
        let (is_packed, remedy) = (func.derive_func.is_some(), self.place.remedy());
        let pure = purity_of(self.cx, func).map(|pure| pure && !self.sent_to_call_tir(call));
        let callee = if is_packed { DerivedCallee::Packed } else { DerivedCallee::Closure { pure } };
        self.count_call(&call.op, if is_packed { Some(false) } else { pure });
        let deferred = !is_packed && pure.is_none() && !self.cx.literal(Erratum::U05);
        let deferred = self.cx.by_cases(&[(rule!("PURITY3.CALL.UNKNOWN"), deferred, true)]).unwrap_or(false);
        let allowed = deferred || callee_is_pure(self.cx, callee) || !self.place.bars_effects(self.cx);
        let allowed = self.cx.conclude(rule!("PURE.CALL-EFFECT"), allowed);
        let demand: Demand = if is_packed {
            (rule!("SI.DERIVE.CALL.EXTERN.PURITY"), 1, allowed, &|| {
                impure("a packed function").with_hint("call it by `call_pure_packed` if it has no effect")
            })
        } else {
            (rule!("SI.DERIVE.CALL.FUNC.PURITY"), 1, allowed, &|| {
                impure("a function that is not declared pure").with_hint(remedy)
            })
        };
        self.demand(call.span, &[demand]);
    }

    /// Errata: M10. Read literally, no `PrimFunc`, pure or impure, is called directly in a `DataflowBlock`.
    fn sent_to_call_tir(&self, call: &Call) -> bool {
        self.is_prim_func(&call.op) && self.place.in_dataflow && self.cx.literal(Erratum::M10)
    }

    /// SI.DERIVE.CALL.OP.PURITY.
    fn purity_of_op(&mut self, call: &'m Call, op: &Op) {
        if !self.declares_purity() {
            return;
        }
        let pure = callee_is_pure(self.cx, DerivedCallee::Op(ops::lookup(&op.op_name)));
        self.count_call(&call.op, Some(pure));
        let allowed = pure || !self.place.bars_effects(self.cx);
        let (name, remedy) = (&op.op_name, self.place.remedy());
        self.demand(
            call.span,
            &[(rule!("SI.DERIVE.CALL.OP.PURITY"), 1, allowed, &|| {
                impure(&format!("`{name}`, which is not pure,")).with_hint(remedy)
            })],
        );
    }

    pub(super) fn is_prim_func(&self, callee: &Expr) -> bool {
        let Expr::GlobalVar(gv) = callee else { return false };
        matches!(self.module.get(&gv.name), Some(GlobalFunc::PrimFunc(_)))
    }

    fn callee(&mut self, call: &'m Call) -> Option<StructInfo> {
        self.at(TrailStep::Field("op"), |d| d.expr(&call.op))
    }

    fn args(&mut self, call: &'m Call) -> Vec<Option<StructInfo>> {
        let args = call.args.iter().enumerate();
        args.map(|(i, arg)| {
            let info = self.at(TrailStep::Item("args", i), |d| d.expr(arg));
            self.within_bounds(info, arg.span())
        })
        .collect()
    }

    fn call_error(&mut self, call: &Call, error: CallError) {
        let CallError { rule, message, arg } = error;
        match arg {
            Some(i) => {
                let span = place_of(call, i);
                let hint = "cast the argument with a match_cast if it can have the expected form at run time";
                self.at(TrailStep::Item("args", i), |d| d.error_with_hint(rule, span, message, hint));
            }
            None => self.error(rule, call.span, message),
        }
    }

    /// SI.DERIVE.CALL.OP, SI.DERIVE.CALL.OP-DEFAULT.
    fn call_op(&mut self, call: &'m Call, op: &Op) -> Option<StructInfo> {
        let args: Option<Vec<StructInfo>> = self.args(call).into_iter().collect();
        self.purity_of_op(call, op);
        let args = args?;
        let Some(def) = ops::lookup(&op.op_name).filter(|def| def.infer.is_some()) else {
            let info = self.cx.conclude(rule!("SI.DERIVE.CALL.OP-DEFAULT"), StructInfo::Object);
            return Some(self.cx.conclude(rule!("OP.NO-TYPEREL"), info));
        };
        // If a variable gives a tensor's shape, the tensor has the dimensions that are known for the variable.
        let args: Vec<StructInfo> = args.into_iter().map(|info| seen_through(info, &self.scope)).collect();
        self.lies_somewhere(call, &args);
        let known = InferArgs { call, args: &args, module: Some(self.module) };
        let inferred = def.infer(self.cx, &known);
        match self.cx.conclude(rule!("SI.DERIVE.CALL.OP"), inferred) {
            Ok(info) => {
                let info = self.placed(call, &args, info);
                Some(self.closed_info(info))
            }
            Err(InferError { rule, message, limit, .. }) => {
                let message = format!("`{}`: {message}", op.op_name);
                if limit {
                    self.complain(rule!("SI.DERIVE.CALL.OP"), call.span, &|| Complaint::limit(&message));
                } else {
                    // TC.CALL.OP.ERR exists only in the edition with types. Operators use it where the text does not
                    // name a rule. In the other editions such a call breaks SI.DERIVE.CALL.OP, which promises
                    // information.
                    let rule = if self.cx.has(rule) { rule } else { rule!("SI.DERIVE.CALL.OP") };
                    self.error(rule, call.span, message);
                }
                None
            }
        }
    }
}

fn impure(what: &str) -> Complaint {
    Complaint::error(format!("{what} is called in a DataflowBlock or in a function that is declared pure"))
}

type Warnings = Vec<(usize, String)>;

/// Checks that a call meets all conditions. The error names the first one that fails, and the argument that causes it.
fn demand(cx: &mut Cx, arg: Option<usize>, demands: &[ReportedCondition]) -> Result<(), CallError> {
    cx.holds(demands).map_err(|(rule, message)| CallError { rule, message: message(), arg })
}

/// The rules for a callee that is not an operator.
fn call_of(
    cx: &mut Cx,
    scope: &dyn Surroundings,
    callee: &StructInfo,
    args: &[StructInfo],
    sinfo_args: &[StructInfo],
    warnings: &mut Warnings,
) -> Result<StructInfo, CallError> {
    let func = callee.as_func();
    demand(
        cx,
        None,
        &[(rule!("SI.DERIVE.CALL.NOTFUNC"), 1, func.is_some(), &|| {
            format!("something of {} is called, which is not known to be a function", ClosedDisplay(callee))
        })],
    )?;
    let Some(func) = func else { return Ok(StructInfo::Object) };
    match &func.derive_func {
        Some(derive) => {
            let derived = derived(cx, derive, sinfo_args);
            cx.conclude(rule!("SI.DERIVE.CALL.DERIVE"), Ok(derived))
        }
        None => call_by_signature(cx, scope, func, args, warnings),
    }
}

/// SI.DERIVE.CALL.DERIVE: the result of the macro; `ret` is ignored.
///
/// GRAM.DERIVE_FUNC: macros are called only here, never at run time.
fn derived(cx: &mut Cx, derive: &DeriveFunc, sinfo_args: &[StructInfo]) -> StructInfo {
    let derived = match derive {
        DeriveFunc::DefaultDerive => default_derive(cx, sinfo_args),
        DeriveFunc::EmptyDerive => empty_derive(cx),
        // Only some implementation knows this macro, so its result can be anything.
        DeriveFunc::Named(_) => StructInfo::Object,
    };
    cx.conclude(rule!("GRAM.DERIVE_FUNC"), derived)
}

/// SI.DERIVE.CALL.ARITY, SI.DERIVE.CALL.MAP, the checks of the arguments, and SI.DERIVE.CALL.RESULT, in this order.
fn call_by_signature(
    cx: &mut Cx,
    scope: &dyn Surroundings,
    func: &FuncStructInfo,
    args: &[StructInfo],
    warnings: &mut Warnings,
) -> Result<StructInfo, CallError> {
    let params = func.params.as_deref().unwrap_or_default();
    let arity = demand(
        cx,
        None,
        &[(rule!("SI.DERIVE.CALL.ARITY"), 1, params.len() == args.len(), &|| {
            format!("a function of {} parameters is called with {} arguments", params.len(), args.len())
        })],
    );
    if arity.is_err() {
        // SI.DERIVE.CALL.ORDER-OF-CHECKS: the number of arguments is checked before any of them is compared.
        cx.conclude(rule!("SI.DERIVE.CALL.ORDER-OF-CHECKS"), arity)?;
    }
    let own = chosen_anew(cx, func, scope);
    let params = own.params.as_deref().unwrap_or_default();
    let mapping = call_map(cx, scope, params, args);
    let params: Vec<StructInfo> = params.iter().map(|param| substitute(cx, param, &mapping, scope)).collect();
    let left_open = LeftOpen::of(cx, scope, &params);
    for (i, (param, arg)) in params.iter().zip(args).enumerate() {
        if let Some(message) = argument(cx, &left_open, i, arg, param)? {
            warnings.push((i, message));
        }
    }
    let ret = substitute(cx, &own.ret, &mapping, scope);
    let ret = if cx.literal(Erratum::E57) { under_its_name(&ret) } else { ret };
    let result = erase_to_well_defined(cx, &ret, scope);
    let result = cx.conclude(rule!("SI.DERIVE.CALL.RESULT"), result);
    Ok(closed(cx, &result, scope))
}

/// The scope of a call together with the callee's variables that no argument determines. Each stands for one size.
struct LeftOpen<'a> {
    scope: &'a dyn Surroundings,
    vars: BTreeSet<ShapeVar>,
}

impl LeftOpen<'_> {
    /// Literal E55: a function among the arguments may still determine them.
    fn of<'a>(cx: &Cx, scope: &'a dyn Surroundings, params: &[StructInfo]) -> LeftOpen<'a> {
        let vars = if cx.literal(Erratum::E55) {
            BTreeSet::new()
        } else {
            params.iter().flat_map(all_shape_vars).filter(is_chosen).collect()
        };
        LeftOpen { scope, vars }
    }
}

impl Surroundings for LeftOpen<'_> {
    fn has_var(&self, var: &Var) -> bool {
        self.scope.has_var(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.vars.contains(var) || self.scope.has_shape_var(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.scope.struct_info_of(var)
    }
}

/// Literal E57: a variable of the callee that no argument determines denotes the variable of the same name in scope.
fn under_its_name(ret: &StructInfo) -> StructInfo {
    let chosen = all_shape_vars(ret).into_iter().filter(is_chosen);
    let names = chosen.map(|var| (var.clone(), PrimExpr::Var(original(&var)))).collect();
    replace_everywhere(ret, &names)
}

/// SI.DERIVE.CALL.MAP: the union of the matches of parameters with arguments (A10: the leftmost match counts).
fn call_map(cx: &mut Cx, scope: &dyn Surroundings, params: &[StructInfo], args: &[StructInfo]) -> Mapping {
    let mapping = united_mapping(cx, params.iter().zip(args), scope);
    let mapping = cx.conclude(rule!("SI.DERIVE.CALL.MAP"), mapping);
    cx.conclude(rule!("SI.MAPPING.FREEVARS"), mapping)
}

/// SI.DERIVE.CALL.ARGS.ERR, SI.DERIVE.CALL.ARGS.WARN: returns the message of a warning, or the error.
///
/// Errata: A28. Read literally, the parameter is checked against the argument.
fn argument(
    cx: &mut Cx,
    scope: &dyn Surroundings,
    i: usize,
    arg: &StructInfo,
    param: &StructInfo,
) -> Result<Option<String>, CallError> {
    let (given, expected) = if cx.literal(Erratum::A28) { (param, arg) } else { (arg, param) };
    let fits = Fit::by_subtyping(cx, given, expected, scope);
    let (arg, param) = (ClosedDisplay(arg), ClosedDisplay(param));
    demand(
        cx,
        Some(i),
        &[(rule!("SI.DERIVE.CALL.ARGS.ERR"), 1, fits != Fit::Never, &|| {
            format!("argument {i} is {arg}, where {param} is expected")
        })],
    )?;
    let certain = cx.holds(&[(rule!("SI.DERIVE.CALL.ARGS.WARN"), 1, fits != Fit::Perhaps)]);
    Ok((!certain).then(|| format!("argument {i} is {arg}, and may not be {param} as expected")))
}
