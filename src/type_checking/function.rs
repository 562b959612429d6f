//! Functions: signature, purity, result.

use super::{PurityFrame, TypeChecker};
use crate::book::Erratum;
use crate::findings::{Complaint, Finder, TrailStep};
use crate::grammar::{AttrValue, Function, Name, Ranks, StructInfo, Type};
use crate::judge::with_stack;
use crate::purity;
use crate::types::{Conversion, conversion, is_subtype};

use super::derive_func_of;

/// The fault of the type of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyTypeFault {
    MoreGeneral,
    Unrelated,
}

impl<'m> TypeChecker<'_, 'm> {
    /// Checks a global function, with its name in Γ during the check of its body (TC.FUNC.REC-BIND).
    ///
    /// Errata: A29, for a `GlobalVar` the annotations of the literal count. Without a return annotation there is no
    /// entry. A30, the final type stays in Γ afterwards.
    pub(super) fn recursive_function(
        &mut self,
        name: &'m Name,
        function: &'m Function,
        recursive: bool,
    ) -> Option<Type> {
        let annotated = self.annotated_type(function).filter(|_| !self.wrong.in_signature(function));
        match self.cx.conclude(rule!("TC.FUNC.REC-BIND"), annotated) {
            Some(ty) => {
                self.globals.insert(name, Some(ty));
            }
            None if recursive => {
                // A reference to it has no type either. That is not a second error.
                self.globals.insert(name, None);
            }
            None => {}
        }
        self.function(function, recursive)
    }

    /// The function type in the annotations, if the result is annotated (A29).
    ///
    /// TC.FUNC.REC-PURE: the type is pure exactly if the function is declared pure.
    pub(super) fn annotated_type(&mut self, function: &Function) -> Option<Type> {
        let ranks = self.ranks(function);
        let said = function.params.iter().map(|param| param.annotation.as_ref().unwrap_or(&StructInfo::Object));
        let params: Vec<Type> = said.map(|info| self.erase(&ranks.in_info(info))).collect();
        let ret = self.erase(&ranks.in_info(function.ret_struct_info.as_ref()?));
        let pure = self.cx.conclude(rule!("TC.FUNC.REC-PURE"), function.pure == Some(true));
        Some(Type::func(params, ret, pure))
    }

    /// The ranks that the parameters determine for each other and for the result. Literal E25: none.
    fn ranks<'f>(&self, function: &'f Function) -> Ranks<'f> {
        let none = function.leaves_ranks_open() && self.cx.literal(Erratum::E25);
        if none { Ranks::default() } else { function.ranks() }
    }

    fn param_type(&mut self, param: &crate::grammar::Binder) -> Type {
        param.annotation.as_ref().map_or(Type::Object, |info| self.erase(info))
    }

    /// The type of a function literal. `recursive` says whether it can reach itself by its global name.
    pub(super) fn function(&mut self, function: &'m Function, recursive: bool) -> Option<Type> {
        let mark = self.gamma.mark();
        self.frames.push(PurityFrame { pure: true, in_dataflow: 0 });
        let params: Vec<Type> = self.params(function);
        let body = self.at(TrailStep::Field("body"), |c| with_stack(|| c.expr(&function.body)));
        // TC.FUNC.POP.
        if self.cx.fire(rule!("TC.FUNC.POP")) {
            self.gamma.leave(mark);
        }
        let all_pure = self.frames.pop().is_none_or(|frame| frame.pure);
        let pure = self.pure(function, all_pure);
        let ret = self.ret(function, body, recursive)?;
        if self.wrong.in_signature(function) {
            return None;
        }
        Some(Type::func(params, ret, pure))
    }

    /// TC.FUNC.PARAMS, TC.FUNC.PARAM-ANNOT.
    fn params(&mut self, function: &'m Function) -> Vec<Type> {
        let mut types = Vec::with_capacity(function.params.len());
        for (i, param) in function.params.iter().enumerate() {
            // Literal A16: the grammar and the survey make the annotation optional.
            let annotated = param.annotation.is_some() || self.cx.literal(Erratum::A16);
            self.at(TrailStep::Item("params", i), |c| {
                c.demand(
                    param.var.span,
                    &[(rule!("TC.FUNC.PARAM-ANNOT"), 1, annotated, &|| {
                        Complaint::error(format!("the parameter `{}` has no annotation", param.var))
                            .with_hint("annotate it, with R.Object if nothing is known")
                    })],
                )
            });
            let ty = self.param_type(param);
            if self.cx.fire(rule!("TC.FUNC.PARAMS")) {
                let known = (!self.wrong.touch(param.var.span)).then(|| ty.clone());
                self.enter(param, known, param.annotation.as_ref().and_then(derive_func_of));
            }
            types.push(ty);
        }
        types
    }

    /// TC.FUNC.PURE: the purity of the function's type.
    fn pure(&mut self, function: &Function, all_pure: bool) -> bool {
        self.force_pure_is_boolean(function);
        let verdict = purity::function_is_pure(self.cx, function, all_pure);
        if verdict.broken_promise {
            let message = "a function declared pure makes a call that is not known to be pure".to_string();
            let hint = "mark the call pure, or give the function the attribute force_pure";
            self.error_with_hint(rule!("TC.FUNC.PURE.ANNOT-ERR"), function.span, message, hint);
        }
        verdict.pure
    }

    /// PURE.ATTR.REPR.
    fn force_pure_is_boolean(&mut self, function: &Function) {
        let Some(value) = function.force_pure_attr() else { return };
        self.demand(
            function.span,
            &[(rule!("PURE.ATTR.REPR"), 1, matches!(value, AttrValue::Bool(_)), &|| {
                Complaint::error("the attribute force_pure is not a Boolean")
            })],
        );
    }

    /// TC.FUNC.RET: the result type that callers see.
    fn ret(&mut self, function: &'m Function, body: Option<Type>, recursive: bool) -> Option<Type> {
        let Some(info) = &function.ret_struct_info else { return self.ret_of_body(function, body, recursive) };
        if self.wrong.in_result(function) {
            return None;
        }
        let annotated = self.erase(&self.ranks(function).in_info(info));
        let Some(body) = body else { return Some(annotated) };
        // Literal E42: equal types are subtypes of each other, and the marked sentence demands a cast.
        let same = self.cx.literal(Erratum::E42) && is_subtype(self.cx, &annotated, &body);
        let step = if same { Conversion::MatchCast } else { conversion(self.cx, &body, &annotated) };
        let fault = self.cx.by_cases((
            &[
                (rule!("TC.FUNC.RET.OK"), step == Conversion::None, None),
                (rule!("TC.FUNC.RET.DOWN"), step == Conversion::MatchCast, Some(BodyTypeFault::MoreGeneral)),
            ],
            (rule!("TC.FUNC.RET.UNRELATED"), Some(BodyTypeFault::Unrelated)),
        ));
        match fault {
            None => {}
            Some(BodyTypeFault::MoreGeneral) => {
                let message = format!("the body has the type {body}, the return annotation is {annotated}");
                let hint = "cast the result with a match_cast before returning it";
                self.error_with_hint(rule!("TC.FUNC.RET.DOWN"), function.span, message, hint);
            }
            Some(BodyTypeFault::Unrelated) => {
                let message = format!("the body has the type {body}, unrelated to the return annotation {annotated}");
                self.error(rule!("TC.FUNC.RET.UNRELATED"), function.span, message);
            }
        }
        Some(annotated)
    }

    /// TC.FUNC.RET.NONE; TC.FUNC.RET.REC-NONE if the function is recursive.
    fn ret_of_body(&mut self, function: &Function, body: Option<Type>, recursive: bool) -> Option<Type> {
        let told = self.demand(
            function.span,
            &[(rule!("TC.FUNC.RET.REC-NONE"), 1, !recursive, &|| {
                Complaint::error("a recursive function has no return annotation")
                    .with_hint("annotate the result of the function")
            })],
        );
        body.filter(|_| told).map(|body| self.cx.conclude(rule!("TC.FUNC.RET.NONE"), body))
    }
}
