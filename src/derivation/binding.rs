//! Variable bindings and match casts.

use super::{Deriver, Entry, Fit};
use crate::book::{Erratum, Rule};
use crate::findings::{Finder, Step};
use crate::grammar::{Binder, Binding, Expr, Function, MatchCast, Span, StructInfo, VarBinding, VarKind};
use crate::struct_info::annotation::shape_var_faults;
use crate::struct_info::{Relation, introduced_shape_vars, is_more_specific_in};

impl<'m> Deriver<'_, 'm> {
    pub(super) fn binding(&mut self, binding: &'m Binding) {
        match binding {
            Binding::VarBinding(binding) => self.var_binding(binding),
            Binding::MatchCast(cast) => self.match_cast(cast),
        }
    }

    /// A variable enters Δ.
    pub(super) fn enter(&mut self, binder: &'m Binder, info: Option<StructInfo>) {
        if let Some(info) = &info {
            self.report.vars.push((binder.var.clone(), info.clone()));
        }
        if let Some(annotation) = &binder.annotation {
            for fault in shape_var_faults(self.cx, annotation, &self.scope) {
                self.error(rule!("SI.DEF.TENSOR.SHAPE-TYPE"), binder.var.span, fault);
            }
        }
        self.enter_silently(binder, info);
    }

    fn enter_silently(&mut self, binder: &'m Binder, info: Option<StructInfo>) {
        let own = self.own_of(info.as_ref());
        let dataflow = binder.kind == VarKind::DataflowVar;
        self.scope.delta.enter(&binder.var, Entry { info, dataflow, own });
    }

    /// The shape variables that an annotation introduces enter Σ.
    pub(super) fn enter_shape_vars(&mut self, info: &StructInfo) {
        match info {
            StructInfo::Object => {}
            StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_) => {
                for var in introduced_shape_vars(info) {
                    if !self.scope.sigma.contains(&var) {
                        self.scope.sigma.enter(var, ());
                    }
                }
            }
        }
    }

    fn var_binding(&mut self, binding: &'m VarBinding) {
        let binder = &binding.var;
        match &binding.value {
            Expr::Function(function) => self.bound_function(binder, function),
            value => {
                let info = self.at(Step::Field("value"), |d| d.expr(value));
                let info = self.cx.conclude(rule!("SI.DERIVE.VB.VALUE"), info);
                if let (Some(info), Some(annotation)) = (&info, &binder.annotation) {
                    let rule = rule!("SI.DERIVE.VB.ANNOT.ERR");
                    self.fits_annotation(binder, info, annotation, binding.span, rule);
                }
                self.enter_derived(binder, info);
            }
        }
    }

    /// SI.DERIVE.VB.ANNOT.OK, SI.DERIVE.PIPE.PRESERVE: an annotation replaces what was derived.
    fn enter_derived(&mut self, binder: &'m Binder, derived: Option<StructInfo>) {
        let annotation = binder.annotation.as_ref();
        let entered = self.cx.by_cases(&[
            (rule!("SI.DERIVE.VB.ANNOT.OK"), annotation.is_some(), annotation.unwrap_or(&StructInfo::Object)),
            (rule!("SI.DERIVE.VB.NOANNOT"), derived.is_some(), derived.as_ref().unwrap_or(&StructInfo::Object)),
        ]);
        let mut entered = entered.cloned();
        if annotation.is_some() {
            entered = entered.map(|info| self.cx.conclude(rule!("SI.DERIVE.PIPE.PRESERVE"), info));
        }
        self.enter(binder, entered);
    }

    /// SI.DERIVE.VB.ANNOT.ERR, SI.DERIVE.VB.ANNOT.WARN.
    ///
    /// Errata: A02, literally the annotation is checked against what is derived. A41, no check at run time follows
    /// from the warning.
    fn fits_annotation(
        &mut self,
        binder: &Binder,
        derived: &StructInfo,
        annotation: &StructInfo,
        span: Span,
        rule: Rule,
    ) {
        let (given, expected) =
            if self.cx.literal(Erratum::A02) { (annotation, derived) } else { (derived, annotation) };
        let fits = Fit::of(self.cx, given, expected, &self.scope);
        if !self.cx.premise(rule, 1, fits != Fit::Never) {
            let message = format!("`{}` is annotated as {annotation}, but its value is {derived}", binder.var);
            let hint = "correct the annotation, or use a match_cast to check the value at run time";
            self.error_with_hint(rule, span, message, hint);
        } else if !self.cx.premise(rule!("SI.DERIVE.VB.ANNOT.WARN"), 1, fits != Fit::Perhaps) {
            let message =
                format!("`{}` is annotated as {annotation}, its value is only known to be {derived}", binder.var);
            self.warning(rule!("SI.DERIVE.VB.ANNOT.WARN"), span, message);
        }
    }

    /// SI.DERIVE.VB.FUNC: a literal is derived with its variable in Δ, as annotated (A29).
    ///
    /// Errata: A30, literally the variable leaves Δ for good.
    fn bound_function(&mut self, binder: &'m Binder, function: &'m Function) {
        let span = binder.var.span;
        if !self.cx.premise(rule!("SI.DERIVE.VB.FUNC.ANNOT"), 1, binder.annotation.is_some()) {
            let message = format!("`{}` is bound to a function literal and has no annotation", binder.var);
            let hint = "annotate the variable with the function's structural information";
            self.error_with_hint(rule!("SI.DERIVE.VB.FUNC.ANNOT"), span, message, hint);
        }
        let Some(annotation) = &binder.annotation else {
            let info = self.at(Step::Field("value"), |d| d.function(function));
            return self.enter(binder, info);
        };
        let mark = self.scope.delta.mark();
        if self.cx.fire(rule!("SI.DERIVE.VB.FUNC.REC")) {
            self.enter_silently(binder, Some(annotation.clone()));
        }
        let info = self.at(Step::Field("value"), |d| d.function(function));
        if self.cx.fire(rule!("SI.DERIVE.VB.FUNC.REMOVE")) {
            self.scope.delta.leave(mark);
        }
        if let Some(info) = &info {
            self.fits_annotation(binder, info, annotation, span, rule!("SI.DERIVE.VB.FUNC.ERR"));
        }
        if !self.cx.literal(Erratum::A30) {
            self.enter_derived(binder, info);
        }
    }

    fn match_cast(&mut self, cast: &'m MatchCast) {
        let value = self.at(Step::Field("value"), |d| d.expr(&cast.value));
        let value = self.cx.conclude(rule!("SI.DERIVE.MC.VALUE"), value);
        // SI.DERIVE.MC.SHAPEVARS.
        if self.cx.fire(rule!("SI.DERIVE.MC.SHAPEVARS")) {
            self.enter_shape_vars(&cast.struct_info);
        }
        if let Some(value) = &value {
            self.cast_may_succeed(cast, value);
        }
        match &cast.var {
            None => {}
            Some(binder) => self.cast_var(binder, cast),
        }
    }

    /// SI.DERIVE.MC.WARN: a warning if neither information is below the other.
    ///
    /// Errata: A07, literally a warning unless each is below the other.
    fn cast_may_succeed(&mut self, cast: &MatchCast, value: &StructInfo) {
        let target = &cast.struct_info;
        let down = is_more_specific_in(self.cx, Relation::Possible, target, value, &self.scope);
        let up = is_more_specific_in(self.cx, Relation::Possible, value, target, &self.scope);
        let expected = if self.cx.literal(Erratum::A07) { down && up } else { down || up };
        if !self.cx.premise(rule!("SI.DERIVE.MC.WARN"), 1, expected) {
            let message = format!("the cast of {value} to {target} cannot succeed");
            self.warning(rule!("SI.DERIVE.MC.WARN"), cast.span, message);
        }
    }

    /// SI.DERIVE.MC.NOANNOT, SI.DERIVE.MC.ANNOT.OK and SI.DERIVE.MC.ANNOT.ERR.
    ///
    /// Errata: A49, the possibly compatible case is accepted with a warning.
    fn cast_var(&mut self, binder: &'m Binder, cast: &'m MatchCast) {
        // SI.DYNAMIC-FALLBACK: what the cast has checked is known from here on, whatever was known before.
        let target = self.cx.conclude(rule!("SI.DYNAMIC-FALLBACK"), cast.struct_info.clone());
        if let Some(annotation) = &binder.annotation {
            self.target_fits(binder, cast, &target, annotation);
        }
        let annotation = binder.annotation.as_ref();
        let entered = self.cx.by_cases_or(
            &[(rule!("SI.DERIVE.MC.ANNOT.OK"), annotation.is_some(), annotation.unwrap_or(&StructInfo::Object))],
            (rule!("SI.DERIVE.MC.NOANNOT"), &target),
        );
        let entered = entered.clone();
        self.enter(binder, Some(entered));
    }

    fn target_fits(&mut self, binder: &Binder, cast: &MatchCast, target: &StructInfo, annotation: &StructInfo) {
        let fits = Fit::of(self.cx, target, annotation, &self.scope);
        if !self.cx.premise(rule!("SI.DERIVE.MC.ANNOT.ERR"), 1, fits != Fit::Never) {
            let message = format!("`{}` is annotated as {annotation}, but the cast is to {target}", binder.var);
            let hint = "leave out the annotation of the variable";
            self.error_with_hint(rule!("SI.DERIVE.MC.ANNOT.ERR"), cast.span, message, hint);
        } else if fits == Fit::Perhaps && !self.cx.literal(Erratum::A49) {
            let message = format!("`{}` is annotated as {annotation}, the cast is to {target}", binder.var);
            self.warning(rule!("SI.DERIVE.MC.ANNOT.OK"), cast.span, message);
        }
    }
}
