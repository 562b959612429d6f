//! Variable bindings and match casts.

use super::{TypeChecker, TypeEntry, derive_func_of};
use crate::book::Erratum;
use crate::findings::{Complaint, Finder, Severity, TrailStep};
use crate::grammar::{
    Binder, Binding, DeriveFunc, Expr, Function, MatchCast, Span, StructInfo, Type, VarBinding, VarKind,
};
use crate::types::{Conversion, Generation, TwoFields, conversion, erase_struct_info, is_subtype};

impl<'m> TypeChecker<'_, 'm> {
    pub(super) fn binding(&mut self, binding: &'m Binding) {
        let before = self.frames.last_mut().map(|frame| std::mem::replace(&mut frame.pure, true));
        match binding {
            Binding::VarBinding(binding) => self.var_binding(binding),
            Binding::MatchCast(cast) => self.match_cast(cast),
        }
        if let (Some(before), Some(frame)) = (before, self.frames.last_mut()) {
            if !frame.pure {
                self.report.impure.extend(binding.binder().map(|binder| binder.var.clone()));
            }
            frame.pure &= before;
        }
    }

    /// Enters a variable in Γ.
    pub(super) fn enter(&mut self, binder: &'m Binder, ty: Option<Type>, derive: Option<DeriveFunc>) {
        if let Some(ty) = &ty {
            self.report.vars.push((binder.var.clone(), ty.clone()));
        }
        self.enter_silently(binder, ty, derive);
    }

    fn enter_silently(&mut self, binder: &'m Binder, ty: Option<Type>, derive: Option<DeriveFunc>) {
        let dataflow = binder.kind == VarKind::DataflowVar;
        self.gamma.enter(&binder.var, TypeEntry { ty, derive, dataflow, depth: self.frames.len() });
    }

    /// The type of a bound value. Its size is checked here.
    fn bound(&mut self, value: &'m Expr) -> Option<Type> {
        let ty = self.at(TrailStep::Field("value"), |c| c.expr(value));
        // The size of a tuple has been checked already.
        if matches!(value, Expr::Tuple(_)) { ty } else { self.within_bounds(ty, value.span()) }
    }

    /// TC.VB.VALUE: the value is checked first, with or without an annotation.
    fn var_binding(&mut self, binding: &'m VarBinding) {
        let binder = &binding.var;
        match &binding.value {
            Expr::Function(function) => self.bound_function(binder, function),
            value => {
                let ty = self.bound(value);
                let ty = self.cx.conclude(rule!("TC.VB.VALUE"), ty);
                let derive = self.derive_func_of_value(value);
                if self.wrong.touch(binding.span) {
                    return self.enter(binder, None, None);
                }
                self.after_value(binder, ty, derive, binding.span);
            }
        }
    }

    /// R89.SHAPE.ANNOT-SUGAR: an annotation with a shape states both fields at once. The type among them has no
    /// dimensions.
    fn type_of_annotation(&mut self, info: &StructInfo) -> Type {
        let info = self.ranked(info);
        let fields = TwoFields::of(self.cx, &info);
        match fields.shape {
            Some(Generation::V0(_) | Generation::V1(_)) => {
                self.cx.conclude(rule!("R89.SHAPE.ANNOT-SUGAR"), fields.checked_type)
            }
            Some(Generation::V2) | None => fields.checked_type,
        }
    }

    fn after_value(&mut self, binder: &'m Binder, ty: Option<Type>, derive: Option<DeriveFunc>, span: Span) {
        let annotated = binder.annotation.as_ref().map(|info| self.type_of_annotation(info));
        if let (Some(ty), Some(annotated)) = (&ty, &annotated) {
            self.fits_annotation(binder, ty, annotated, span);
        }
        // The type of the annotation, even if it is less precise.
        let entered = self.cx.by_cases(&[
            (rule!("TC.VB.ANNOT.OK"), annotated.is_some(), annotated.as_ref().unwrap_or(&Type::Object)),
            (rule!("TC.VB.NOANNOT"), ty.is_some(), ty.as_ref().unwrap_or(&Type::Object)),
        ]);
        let entered = entered.cloned();
        let derive = binder.annotation.as_ref().map_or(derive, derive_func_of);
        self.enter(binder, entered, derive);
    }

    /// TC.VB.ANNOT.ERR; TC.VB.ANNOT.DOWN if a cast would help.
    fn fits_annotation(&mut self, binder: &Binder, ty: &Type, annotated: &Type, span: Span) {
        // Literal E41: a type is a supertype of itself.
        let same = self.cx.literal(Erratum::E41) && is_subtype(self.cx, annotated, ty);
        let step = if same { Conversion::MatchCast } else { conversion(self.cx, ty, annotated) };
        if self.cx.holds(&[(rule!("TC.VB.ANNOT.ERR"), 1, step == Conversion::None)]) {
            return;
        }
        let message = format!("`{}` is annotated as {annotated}, but its value has the type {ty}", binder.var);
        let hint = "use a match_cast to check at run time that the value is as annotated";
        match self.cx.by_cases(&[(rule!("TC.VB.ANNOT.DOWN"), step == Conversion::MatchCast, hint)]) {
            Some(hint) => self.error_with_hint(rule!("TC.VB.ANNOT.DOWN"), span, message, hint),
            None => self.error(rule!("TC.VB.ANNOT.ERR"), span, message),
        }
    }

    /// TC.VB.FUNC.ANNOT, TC.VB.FUNC.PRE: a function literal is checked with its annotated variable in Γ.
    ///
    /// Errata: A29, literally the rule for functions then enters the variable with the annotations of the literal. A30,
    /// literally the variable leaves Γ for good (TC.FUNC.REC-DROP).
    fn bound_function(&mut self, binder: &'m Binder, function: &'m Function) {
        self.demand(
            binder.var.span,
            &[(rule!("TC.VB.FUNC.ANNOT"), 1, binder.annotation.is_some(), &|| {
                Complaint::error(format!("`{}` is bound to a function literal and has no annotation", binder.var))
                    .with_hint("annotate the variable with the function's type")
            })],
        );
        let Some(info) = &binder.annotation else {
            let ty = self.at(TrailStep::Field("value"), |c| c.function(function, false));
            return self.enter(binder, ty, None);
        };
        if self.wrong.in_signature(function) || self.wrong.touch(binder.var.span) {
            self.enter_silently(binder, None, None);
            let _ = self.at(TrailStep::Field("value"), |c| c.function(function, false));
            return;
        }
        let annotated = self.erase(info);
        let mark = self.gamma.mark();
        if self.cx.fire(rule!("TC.VB.FUNC.PRE")) {
            self.enter_silently(binder, Some(annotated.clone()), derive_func_of(info));
        }
        if self.cx.literal(Erratum::A29)
            && let Some(own) = self.annotated_type(function)
        {
            self.enter_silently(binder, Some(own), None);
        }
        let ty = self.at(TrailStep::Field("value"), |c| c.function(function, false));
        if self.cx.fire(rule!("TC.FUNC.REC-DROP")) {
            self.gamma.leave(mark);
        }
        if let Some(ty) = ty {
            self.fits_annotation(binder, &ty, &annotated, binder.var.span);
        }
        if !self.cx.literal(Erratum::A30) {
            let ty = self.cx.conclude(rule!("TC.VB.ANNOT.OK"), annotated);
            self.enter(binder, Some(ty), derive_func_of(info));
        }
    }

    fn match_cast(&mut self, cast: &'m MatchCast) {
        let value = self.bound(&cast.value);
        let value = self.cx.conclude(rule!("TC.MC.VALUE"), value);
        self.cast_is_pure();
        if let Some(binder) = cast.var.as_ref().filter(|_| self.wrong.touch(cast.span)) {
            return self.enter(binder, None, None);
        }
        let target = self.ranked(&cast.struct_info);
        let target = erase_struct_info(self.cx, &target);
        let target = self.cx.conclude(rule!("TC.MC.TARGET"), target);
        if let Some(value) = value {
            self.cast_may_succeed(cast, &value, &target);
        }
        match &cast.var {
            // TC.MC.NOVAR: Γ does not change.
            None => {
                let _stays = self.cx.fire(rule!("TC.MC.NOVAR"));
            }
            Some(binder) => self.cast_var(binder, cast, target),
        }
    }

    /// PURE.ERR.CAST: a cast that may fail has no effect.
    fn cast_is_pure(&mut self) {
        let pure = self.cx.conclude(rule!("PURE.ERR-EXEMPT"), true) && self.cx.conclude(rule!("PURE.ERR.CAST"), true);
        if let Some(frame) = self.frames.last_mut() {
            frame.pure &= pure;
        }
    }

    /// TC.MC.WARN: a warning for unrelated types, never an error (TC.MC.NOERR).
    ///
    /// Errata: A25, literally every such cast is certain to fail.
    fn cast_may_succeed(&mut self, cast: &MatchCast, value: &Type, target: &Type) {
        let step = conversion(self.cx, value, target);
        let unrelated = match step {
            Conversion::None | Conversion::MatchCast => None,
            Conversion::Unrelated { disjoint } => Some(disjoint),
        };
        let severity = self.cx.conclude(rule!("TC.MC.NOERR"), Severity::Warning);
        self.demand(
            cast.span,
            &[(rule!("TC.MC.WARN"), 1, unrelated.is_none(), &|| {
                let outlook = if unrelated == Some(true) { "must fail" } else { "may fail" };
                let message = format!("the cast of a value of type {value} to {target} {outlook}");
                Complaint { severity, ..Complaint::warning(message) }
            })],
        );
    }

    /// TC.MC.BIND, TC.MC.BIND-ANNOT, with TC.MC.ANNOT.
    fn cast_var(&mut self, binder: &'m Binder, cast: &'m MatchCast, target: Type) {
        let annotated = binder.annotation.as_ref().map(|info| self.erase(info));
        if let Some(annotated) = &annotated {
            let step = conversion(self.cx, &target, annotated);
            self.demand(
                cast.span,
                &[(rule!("TC.MC.ANNOT"), 1, step == Conversion::None, &|| {
                    let message = format!("`{}` is annotated as {annotated}, but the cast is to {target}", binder.var);
                    Complaint::error(message).with_hint("leave out the annotation of the variable")
                })],
            );
        }
        let entered = self.cx.by_cases((
            &[(rule!("TC.MC.BIND-ANNOT"), annotated.is_some(), annotated.as_ref().unwrap_or(&Type::Object))],
            (rule!("TC.MC.BIND"), &target),
        ));
        let mut entered = entered.clone();
        if annotated.is_none() {
            // CONV.MATCHCAST-IS-CAST: from here on the value may be used at the type of the target.
            entered = self.cx.conclude(rule!("CONV.DOWN.CHECKED"), entered);
            entered = self.cx.conclude(rule!("CONV.MATCHCAST-IS-CAST"), entered);
        }
        self.enter(binder, Some(entered), derive_func_of(binder.annotation.as_ref().unwrap_or(&cast.struct_info)));
    }
}
