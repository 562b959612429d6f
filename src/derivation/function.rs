//! Functions.

use std::sync::Arc;

use super::expr::takes_shape_from_outside;
use super::purity::{PurityContext, declared_purity};
use super::{Contexts, Deriver, Fit};
use crate::book::Erratum;
use crate::findings::{Complaint, Finder, TrailStep};
use crate::grammar::{Binder, FuncStructInfo, Function, Ranks, ShapeVar, StructInfo, Var};
use crate::judge::with_stack;
use crate::struct_info::{ClosedDisplay, Surroundings, binds_in_any_order, erase_to_well_defined};

impl<'m> Deriver<'_, 'm> {
    /// SI.DERIVE.FUNC.GLOBAL: the information that a function's annotations alone give, if they have no errors.
    pub(super) fn annotated_info(&mut self, function: &Function) -> Option<StructInfo> {
        let info = self.as_annotated(function);
        let info = self.without_params(function, info);
        (!self.beforehand.wrong.in_signature(function)).then(|| self.closed(&info))
    }

    pub(super) fn as_annotated(&mut self, function: &Function) -> StructInfo {
        let ranks = self.ranks(function);
        let params = self.params(function, &ranks);
        let ret = ranks.in_info(function.ret_struct_info.as_ref().unwrap_or(&StructInfo::Object));
        func_info(params, ret.into_owned(), self.said_pure(function))
    }

    /// The information of a function within its own body. If a parameter gives the shape of the result, recursive calls
    /// would take it for the parameter of the current call. The shape is erased, since the parameter is not a variable
    /// of the caller.
    ///
    /// Literal E57: the parameter of the current call is used.
    fn without_params(&mut self, function: &Function, info: StructInfo) -> StructInfo {
        let callers = NoneOf(&function.params);
        if let StructInfo::Func(func) = &info
            && takes_shape_from_outside(&func.ret, &callers)
            && !self.cx.literal(Erratum::E57)
        {
            let ret = erase_to_well_defined(self.cx, &func.ret, &callers);
            StructInfo::Func(Arc::new(FuncStructInfo { ret, ..(**func).clone() }))
        } else {
            info
        }
    }

    /// SI.DERIVE.FUNC.PARAM, SI.DERIVE.PARAM.ANNOT, SI.DERIVE.PARAM.NONE (A16).
    fn param_info(&mut self, param: &Binder) -> StructInfo {
        let (rule, conclusion) = match &param.annotation {
            Some(info) => (rule!("SI.DERIVE.PARAM.ANNOT"), info.clone()),
            None => (rule!("SI.DERIVE.PARAM.NONE"), StructInfo::Object),
        };
        let info = self.cx.by_kind(rule, conclusion);
        self.cx.conclude(rule!("SI.DERIVE.FUNC.PARAM"), info)
    }

    /// SI.DERIVE.FUNC.NESTED: variables in scope around a function literal remain in scope in it.
    pub(super) fn literal(&mut self, function: &'m Function) -> Option<StructInfo> {
        self.scope = self.cx.conclude(rule!("SI.DERIVE.FUNC.NESTED"), std::mem::take(&mut self.scope));
        self.function(function).map(|info| self.closed(&info))
    }

    /// The ranks that the parameters give to each other and to the result. Literal E25: none.
    fn ranks<'f>(&self, function: &'f Function) -> Ranks<'f> {
        let none = function.leaves_ranks_open() && self.cx.literal(Erratum::E25);
        if none { Ranks::default() } else { function.ranks() }
    }

    /// The information of the parameters.
    fn params(&mut self, function: &Function, ranks: &Ranks) -> Arc<[StructInfo]> {
        let said = |param: &Binder| ranks.in_info(&self.param_info(param)).into_owned();
        function.params.iter().map(said).collect()
    }

    /// The information of a function, in the words of its signature. Its parameters and shape variables are known only
    /// inside.
    pub(super) fn function(&mut self, function: &'m Function) -> Option<StructInfo> {
        let (delta, sigma) = (self.scope.delta.mark(), self.scope.sigma.mark());
        let ranks = self.ranks(function);
        let params = self.params(function, &ranks);
        if self.cx.fire(rule!("SI.DERIVE.FUNC.SCOPE")) {
            if binds_in_any_order(self.cx) {
                params.iter().for_each(|info| self.enter_shape_vars(info));
            }
            for (param, info) in function.params.iter().zip(params.iter()) {
                let known = self.closed(info);
                self.enter_shape_vars(info);
                let known = (!self.beforehand.wrong.touch(param.var.span)).then_some(known);
                self.enter(param, known);
            }
        }
        let outside = self.enter_body(function);
        let calls_outside = self.enter_calls();
        let body = self.at(TrailStep::Field("body"), |d| with_stack(|| d.expr(&function.body)));
        self.place = outside;
        let calls = self.leave_calls(calls_outside);
        let body = body.map(|body| self.cx.conclude(rule!("SI.DERIVE.FUNC.BODY"), body));
        // SI.ALL-EXPRS: every expression has structural information, including the body.
        let body = body.map(|body| self.cx.conclude(rule!("SI.ALL-EXPRS"), body));
        let ret = self.result(function, body, &ranks);
        if self.cx.fire(rule!("SI.DERIVE.FUNC.CLEANUP")) {
            self.scope.delta.leave(delta);
            self.scope.sigma.leave(sigma);
        }
        let pure = self.checked_purity(function, &calls);
        let ret = ret.filter(|_| !self.beforehand.wrong.in_signature(function))?;
        Some(func_info(params, ret, pure))
    }

    /// PURITY.NESTED: a function has its own purity context. Returns the context around it.
    ///
    /// Errata: N57. Read literally, a `DataflowBlock` around the function is also around its calls.
    fn enter_body(&mut self, function: &Function) -> PurityContext {
        let outside = self.place;
        if self.declares_purity() {
            let own = PurityContext::body_of(self.cx, function);
            let inside = PurityContext { in_dataflow: outside.in_dataflow, ..own };
            let own = if own != inside && self.cx.literal(Erratum::N57) { inside } else { own };
            self.place = if self.cx.fire(rule!("PURITY.NESTED")) { own } else { inside };
        }
        outside
    }

    /// The declared purity of a function, if structural information has the field (A18). Type checking has already
    /// checked it.
    pub(super) fn said_pure(&mut self, function: &Function) -> Option<bool> {
        if self.declares_purity() {
            return declared_purity(self.cx, function);
        }
        let said = (function.pure == Some(true) || function.force_pure()) && !self.cx.literal(Erratum::A18);
        said.then_some(true)
    }

    /// The information of a global function, with the purity inferred from its calls (TC.FUNC.PURE.DEFAULT).
    pub(super) fn with_purity_of(&self, name: &str, info: StructInfo) -> StructInfo {
        let info = self.as_settled(name, info);
        if self.beforehand.pure.contains(name) && !self.cx.literal(Erratum::A18) { pure(info) } else { info }
    }

    /// SI.DERIVE.FUNC.RESULT, after the body is checked against the return annotation.
    fn result(&mut self, function: &Function, body: Option<StructInfo>, ranks: &Ranks) -> Option<StructInfo> {
        if self.beforehand.wrong.in_result(function) {
            return None;
        }
        let annotation = function.ret_struct_info.as_ref();
        // SI.DERIVE.FUNC.RETANNOT: the expected result is an object by default.
        let expected = match annotation {
            Some(info) => self.closed(info),
            None => self.cx.conclude(rule!("SI.DERIVE.FUNC.RETANNOT"), StructInfo::Object),
        };
        if let Some(body) = &body {
            self.result_fits(function, body, &expected);
        }
        let (rule, conclusion) = match annotation {
            Some(info) => (rule!("SI.DERIVE.FUNC.RESULT.ANNOT"), ranks.in_info(info).into_owned()),
            None => (rule!("SI.DERIVE.FUNC.RESULT.NOANNOT"), self.inferred_result(function, &body?)),
        };
        Some(self.cx.by_kind(rule, conclusion))
    }

    /// SI.DERIVE.FUNC.RET.ERR, SI.DERIVE.FUNC.RET.WARN.
    fn result_fits(&mut self, function: &Function, body: &StructInfo, expected: &StructInfo) {
        let fits = Fit::of(self.cx, body, expected, &self.scope);
        let (body, expected) = (ClosedDisplay(body), ClosedDisplay(expected));
        self.demand_in_turn(
            function.span,
            &[
                (rule!("SI.DERIVE.FUNC.RET.ERR"), 1, fits != Fit::Never, &|| {
                    Complaint::error(format!("the body is {body}, where the function returns {expected}"))
                        .with_hint("correct the return annotation, or cast the result with a match_cast")
                }),
                (rule!("SI.DERIVE.FUNC.RET.WARN"), 1, fits != Fit::Perhaps, &|| {
                    Complaint::warning(format!("the body is {body}, and may not be {expected} as the function returns"))
                }),
            ],
        );
    }

    /// SI.DERIVE.FUNC.RESULT.NOANNOT.
    ///
    /// Errata: A22. Read literally, the parameters themselves are still in scope.
    fn inferred_result(&mut self, function: &Function, body: &StructInfo) -> StructInfo {
        let outside = WithoutParams { scope: &self.scope, params: &function.params };
        let by_letter = takes_shape_from_outside(body, &outside) && self.cx.literal(Erratum::A22);
        let scope: &dyn Surroundings = if by_letter { &self.scope } else { &outside };
        let ret = erase_to_well_defined(self.cx, body, scope);
        self.results.insert(std::ptr::from_ref(function) as usize, ret.clone());
        ret
    }
}

fn func_info(params: Arc<[StructInfo]>, ret: StructInfo, pure: Option<bool>) -> StructInfo {
    StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ret, derive_func: None, pure }))
}

/// The information with the purity true.
pub(super) fn pure(info: StructInfo) -> StructInfo {
    of_purity(info, Some(true))
}

/// The information with this purity.
pub(super) fn of_purity(info: StructInfo, pure: Option<bool>) -> StructInfo {
    if let StructInfo::Func(func) = info {
        StructInfo::Func(Arc::new(FuncStructInfo { pure, ..(*func).clone() }))
    } else {
        info
    }
}

/// All variables except these parameters.
struct NoneOf<'a>(&'a [Binder]);

impl Surroundings for NoneOf<'_> {
    fn has_var(&self, var: &Var) -> bool {
        !self.0.iter().any(|param| param.var == *var)
    }

    fn has_shape_var(&self, _: &ShapeVar) -> bool {
        true
    }
}

/// The scope of a function's result: its shape variables, but not its parameters.
struct WithoutParams<'a, 'm> {
    scope: &'a Contexts<'m>,
    params: &'a [Binder],
}

impl Surroundings for WithoutParams<'_, '_> {
    fn has_var(&self, var: &Var) -> bool {
        self.scope.has_var(var) && !self.params.iter().any(|param| param.var == *var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.scope.has_shape_var(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.scope.struct_info_of(var)
    }
}
