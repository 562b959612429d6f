//! Calls.

use std::collections::BTreeSet;

use super::{Deriver, Entry, Fit, Own};
use crate::book::{Erratum, Rule};
use crate::findings::{Finder, Step};
use crate::grammar::{Call, DeriveFunc, Expr, FuncStructInfo, Op, PrimExpr, ShapeVar, StructInfo};
use crate::judge::{Check, Cx, with_stack};
use crate::ops::{self, InferArgs, InferError};
use crate::struct_info::mapping::{all_shape_vars, united_mapping};
use crate::struct_info::{
    InScope, Mapping, Surroundings, default_derive, empty_derive, erase_to_well_defined, introduced_shape_vars,
    substitute,
};

/// Why a call has no structural information.
#[derive(Clone, PartialEq, Debug)]
pub struct CallError {
    /// The rule that the call breaks.
    pub rule: Rule,
    /// What is wrong, for people.
    pub message: String,
    /// The argument at fault, if one is.
    pub arg: Option<usize>,
}

/// SI.DERIVE.CALL: the structural information of a call to something of the given information, or the rule that rejects
/// it. In scope is what the arguments mention, without which there would be no such arguments (SI.DERIVE.CONTEXT).
pub fn derive_call(
    cx: &mut Cx,
    callee: &StructInfo,
    args: &[StructInfo],
    sinfo_args: &[StructInfo],
) -> Result<StructInfo, Rule> {
    let mut warnings = Vec::new();
    let caller = InScope::mentioned_by(args);
    let shared = if cx.literal(Erratum::E56) { BTreeSet::new() } else { own_shape_vars(cx, callee) };
    let shared = shared.into_iter().filter(|var| caller.has_shape_var(var));
    let renaming = shared.zip(1..).map(|(var, i)| fresh_name(var, i)).collect();
    let site = Site { scope: &caller, renaming: &renaming };
    call_of(cx, &site, callee, args, sinfo_args, &mut warnings).map_err(|error| error.rule)
}

/// A part of a call that is derived by itself.
enum Part {
    Callee,
    Args,
}

/// Where a call stands.
struct Site<'a> {
    scope: &'a dyn Surroundings,
    /// Fresh names for those variables of the callee that are in scope here by accident (E56).
    renaming: &'a Mapping,
}

impl<'m> Deriver<'_, 'm> {
    pub(super) fn call(&mut self, call: &'m Call) -> Option<StructInfo> {
        if let Expr::Op(op) = &call.op {
            return self.call_op(call, op);
        }
        // SI.DERIVE.CALL.ORDER: the callee, then the arguments from left to right.
        let (mut callee, mut args) = (None, Vec::new());
        for part in self.cx.conclude(rule!("SI.DERIVE.CALL.ORDER"), [Part::Callee, Part::Args]) {
            match part {
                Part::Callee => callee = self.callee(call),
                Part::Args => args = self.args(call),
            }
        }
        let args: Option<Vec<StructInfo>> = args.into_iter().collect();
        let (callee, args) = (callee?, args?);
        let renaming = self.fresh_names(&call.op, &callee);
        let mut warnings = Vec::new();
        let site = Site { scope: &self.scope, renaming: &renaming };
        let result = call_of(self.cx, &site, &callee, &args, &call.sinfo_args, &mut warnings);
        for (arg, message) in warnings {
            let span = call.args.get(arg).map_or(call.span, Expr::span);
            self.at(Step::Item("args", arg), |d| d.warning(rule!("SI.DERIVE.CALL.ARGS.WARN"), span, message));
        }
        result.map_err(|error| self.call_error(call, error)).ok()
    }

    fn callee(&mut self, call: &'m Call) -> Option<StructInfo> {
        self.at(Step::Field("op"), |d| d.expr(&call.op))
    }

    fn args(&mut self, call: &'m Call) -> Vec<Option<StructInfo>> {
        call.args.iter().enumerate().map(|(i, arg)| self.at(Step::Item("args", i), |d| d.expr(arg))).collect()
    }

    fn call_error(&mut self, call: &Call, error: CallError) {
        let CallError { rule, message, arg } = error;
        match arg {
            Some(i) => {
                let span = call.args.get(i).map_or(call.span, Expr::span);
                let hint = "cast the argument with a match_cast if it can have the expected form at run time";
                self.at(Step::Item("args", i), |d| d.error_with_hint(rule, span, message, hint));
            }
            None => self.error(rule, call.span, message),
        }
    }

    /// SI.DERIVE.CALL.OP, SI.DERIVE.CALL.OP-DEFAULT.
    fn call_op(&mut self, call: &'m Call, op: &Op) -> Option<StructInfo> {
        let args: Option<Vec<StructInfo>> = self.args(call).into_iter().collect();
        let args = args?;
        let Some(def) = ops::lookup(&op.op_name).filter(|def| def.infer.is_some()) else {
            let info = self.cx.conclude(rule!("SI.DERIVE.CALL.OP-DEFAULT"), StructInfo::Object);
            return Some(self.cx.conclude(rule!("OP.NO-TYPEREL"), info));
        };
        let known = InferArgs { call, args: &args, module: Some(self.module) };
        match self.cx.clause(rule!("SI.DERIVE.CALL.OP"), |cx| def.infer(cx, &known)) {
            Ok(info) => Some(info),
            Err(InferError { rule, message }) => {
                self.error(rule, call.span, format!("`{}`: {message}", op.op_name));
                None
            }
        }
    }

    /// The callee's own shape variables that happen to be in scope, as in a recursive call, with fresh names.
    ///
    /// Errata: E56, literally they count as bound and are not matched.
    fn fresh_names(&mut self, op: &Expr, callee: &StructInfo) -> Mapping {
        let mut renaming = Mapping::new();
        if self.cx.literal(Erratum::E56) {
            return renaming;
        }
        for var in self.own_shape_vars(op, callee) {
            if self.scope.sigma.contains(&var) {
                self.fresh += 1;
                renaming.extend([fresh_name(var, self.fresh)]);
            }
        }
        renaming
    }

    /// A global function shares no shape variable with its callers, whether its parameters introduce it or a function
    /// type in its signature; of a local one, those that were new where it was entered.
    fn own_shape_vars(&self, op: &Expr, callee: &StructInfo) -> BTreeSet<ShapeVar> {
        match op {
            Expr::GlobalVar(_) => own_shape_vars(self.cx, callee),
            Expr::Var(var) | Expr::DataflowVar(var) => match self.scope.delta.get(var) {
                Some(Entry { own: Own(Some(own)), .. }) => own.iter().cloned().collect(),
                Some(Entry { own: Own(None), .. }) | None => BTreeSet::new(),
            },
            Expr::Constant(_)
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
            | Expr::Op(_) => BTreeSet::new(),
        }
    }

    /// The shape variables of a function type that are not those of the place where it is entered.
    pub(super) fn own_of(&self, info: Option<&StructInfo>) -> Own {
        let own: Vec<ShapeVar> = match info {
            Some(func @ StructInfo::Func(_)) => all_shape_vars(func).into_iter().collect(),
            Some(
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_),
            )
            | None => Vec::new(),
        };
        let own: Vec<ShapeVar> = own.into_iter().filter(|var| !self.scope.sigma.contains(var)).collect();
        Own(if own.is_empty() { None } else { Some(own.into()) })
    }
}

fn fresh_name(var: ShapeVar, i: u32) -> (ShapeVar, PrimExpr) {
    let fresh = ShapeVar::numbered(var.name.clone(), u32::MAX - i);
    (var, PrimExpr::Var(fresh))
}

/// The shape variables of a function that stands by itself: all of them, also those that a function type in its
/// signature introduces.
///
/// Errata: E80, literally only those of its parameters are told apart from others of the same name.
fn own_shape_vars(cx: &Cx, callee: &StructInfo) -> BTreeSet<ShapeVar> {
    match callee {
        StructInfo::Func(func) if cx.literal(Erratum::E80) => {
            func.params.iter().flat_map(|params| params.iter()).flat_map(introduced_shape_vars).collect()
        }
        StructInfo::Func(_)
        | StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_) => all_shape_vars(callee),
    }
}

type Warnings = Vec<(usize, String)>;

/// Conditions that a call must meet one and all, or the argument at fault; the error names the first that it does not.
fn demand(cx: &mut Cx, arg: Option<usize>, demands: &[Check]) -> Result<(), CallError> {
    cx.check(demands).map_err(|(rule, message)| CallError { rule, message, arg })
}

/// The rules for a callee that is not an operator.
fn call_of(
    cx: &mut Cx,
    site: &Site,
    callee: &StructInfo,
    args: &[StructInfo],
    sinfo_args: &[StructInfo],
    warnings: &mut Warnings,
) -> Result<StructInfo, CallError> {
    let func = if let StructInfo::Func(func) = callee { Some(func) } else { None };
    demand(
        cx,
        None,
        &[(rule!("SI.DERIVE.CALL.NOTFUNC"), 1, func.is_some(), &|| {
            format!("something of {callee} is called, which is not known to be a function")
        })],
    )?;
    let Some(func) = func else { return Ok(StructInfo::Object) };
    match &func.derive_func {
        Some(derive) => cx.clause(rule!("SI.DERIVE.CALL.DERIVE"), |cx| Ok(derived(cx, derive, sinfo_args))),
        None => call_by_signature(cx, site, func, args, warnings),
    }
}

/// SI.DERIVE.CALL.DERIVE: what the macro returns; `ret` is ignored.
///
/// GRAM.DERIVE_FUNC: a macro is consulted here, and nowhere at run time.
fn derived(cx: &mut Cx, derive: &DeriveFunc, sinfo_args: &[StructInfo]) -> StructInfo {
    cx.clause(rule!("GRAM.DERIVE_FUNC"), |cx| match derive {
        DeriveFunc::DefaultDerive => default_derive(cx, sinfo_args),
        DeriveFunc::EmptyDerive => empty_derive(cx),
        // A macro that only some implementation knows: anything may come of it.
        DeriveFunc::Named(_) => StructInfo::Object,
    })
}

/// SI.DERIVE.CALL.ARITY, then SI.DERIVE.CALL.MAP, the arguments, and SI.DERIVE.CALL.RESULT.
fn call_by_signature(
    cx: &mut Cx,
    site: &Site,
    func: &FuncStructInfo,
    args: &[StructInfo],
    warnings: &mut Warnings,
) -> Result<StructInfo, CallError> {
    let params = func.params.as_deref().unwrap_or_default();
    demand(
        cx,
        None,
        &[(rule!("SI.DERIVE.CALL.ARITY"), 1, params.len() == args.len(), &|| {
            format!("a function of {} parameters is called with {} arguments", params.len(), args.len())
        })],
    )?;
    let params: Vec<StructInfo> = params.iter().map(|param| renamed(cx, site, param)).collect();
    let ret = renamed(cx, site, &func.ret);
    let mapping = call_map(cx, site, &params, args);
    for (i, (param, arg)) in params.iter().zip(args).enumerate() {
        let param = substitute(cx, param, &mapping, site.scope);
        if let Some(message) = argument(cx, site, i, arg, &param)? {
            warnings.push((i, message));
        }
    }
    let ret = substitute(cx, &ret, &mapping, site.scope);
    let ret = if cx.literal(Erratum::E57) { without_renaming(cx, site, &ret) } else { ret };
    Ok(cx.clause(rule!("SI.DERIVE.CALL.RESULT"), |cx| erase_to_well_defined(cx, &ret, site.scope)))
}

fn renamed(cx: &mut Cx, site: &Site, info: &StructInfo) -> StructInfo {
    if site.renaming.is_empty() { info.clone() } else { with_stack(|| substitute(cx, info, site.renaming, site.scope)) }
}

/// Literal E57: a variable of the callee that no argument determines is the variable of that name which is in scope.
fn without_renaming(cx: &mut Cx, site: &Site, ret: &StructInfo) -> StructInfo {
    let back = site.renaming.iter().filter_map(|(own, fresh)| match fresh {
        PrimExpr::Var(fresh) => Some((fresh.clone(), PrimExpr::Var(own.clone()))),
        PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => None,
    });
    substitute(cx, ret, &back.collect(), site.scope)
}

/// SI.DERIVE.CALL.MAP: the union of the matches of the parameters with the arguments (A10: the leftmost counts).
fn call_map(cx: &mut Cx, site: &Site, params: &[StructInfo], args: &[StructInfo]) -> Mapping {
    let mapping = cx.clause(rule!("SI.DERIVE.CALL.MAP"), |cx| united_mapping(cx, params.iter().zip(args), site.scope));
    cx.conclude(rule!("SI.MAPPING.FREEVARS"), mapping)
}

/// SI.DERIVE.CALL.ARGS.ERR, SI.DERIVE.CALL.ARGS.WARN: the message of a warning, or the error.
///
/// Errata: A28, literally the parameter is checked against the argument.
fn argument(
    cx: &mut Cx,
    site: &Site,
    i: usize,
    arg: &StructInfo,
    param: &StructInfo,
) -> Result<Option<String>, CallError> {
    let (given, expected) = if cx.literal(Erratum::A28) { (param, arg) } else { (arg, param) };
    let fits = Fit::of(cx, given, expected, site.scope);
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
