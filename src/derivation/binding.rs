//! Variable bindings and match casts.

use std::sync::Arc;

use super::function::pure;
use super::purity::declared_purity;
use super::{Deriver, Fit, InfoEntry};
use crate::book::Erratum;
use crate::findings::{Complaint, Demand, Finder, TrailStep};
use crate::grammar::{
    Binder, Binding, Expr, FuncStructInfo, Function, MatchCast, Span, StructInfo, VarBinding, VarKind,
};
use crate::struct_info::annotation::shape_var_faults;
use crate::struct_info::{ClosedDisplay, ShapeRelation, introduced_shape_vars, is_more_specific_in, may_overlap};

/// Whether the bound value is a function literal, which has its own rule.
#[derive(Clone, Copy)]
enum ValueKind {
    Literal,
    Other,
}

impl<'m> Deriver<'_, 'm> {
    pub(super) fn binding(&mut self, binding: &'m Binding) {
        self.name_bound(binding);
        match binding {
            Binding::VarBinding(binding) => self.var_binding(binding),
            Binding::MatchCast(cast) => self.match_cast(cast),
        }
    }

    /// Adds a variable to Δ.
    pub(super) fn enter(&mut self, binder: &'m Binder, info: Option<StructInfo>) {
        let info = info.map(|info| self.located(binder, info));
        if let Some(info) = &info {
            self.report.vars.push((binder.var.clone(), info.clone()));
        }
        if let Some(annotation) = &binder.annotation {
            for (rule, fault) in shape_var_faults(self.cx, annotation, &self.scope) {
                self.error(rule, binder.var.span, fault);
            }
        }
        self.enter_silently(binder, info);
    }

    fn enter_silently(&mut self, binder: &'m Binder, info: Option<StructInfo>) {
        let dataflow = binder.kind == VarKind::DataflowVar;
        self.scope.delta.enter(&binder.var, InfoEntry { info, dataflow });
    }

    /// Adds the shape variables that an annotation introduces to Σ.
    pub(super) fn enter_shape_vars(&mut self, info: &StructInfo) {
        if !matches!(info, StructInfo::Object) {
            for var in introduced_shape_vars(info) {
                if !self.scope.sigma.contains(&var) {
                    self.scope.sigma.enter(var, ());
                }
            }
        }
    }

    /// Derives the information of a bound value, within the bounds on the work.
    fn bound(&mut self, value: &'m Expr) -> Option<StructInfo> {
        let info = self.at(TrailStep::Field("value"), |d| d.expr(value));
        // A tuple has already been counted.
        if matches!(value, Expr::Tuple(_)) { info } else { self.within_bounds(info, value.span()) }
    }

    fn var_binding(&mut self, binding: &'m VarBinding) {
        let binder = &binding.var;
        match &binding.value {
            Expr::Function(function) => self.bound_function(binder, function),
            value => {
                let info = self.bound(value);
                let info = self.cx.conclude(rule!("SI.DERIVE.VB.VALUE"), info);
                if self.beforehand.wrong.touch(binding.span) {
                    return self.enter_silently(binder, None);
                }
                let annotation = binder.annotation.as_ref().map(|annotation| self.closed(annotation));
                if let (Some(info), Some(annotation)) = (&info, &annotation) {
                    self.fits_annotation(binder, info, annotation, ValueKind::Other, binding.span);
                }
                self.enter_derived(binder, info, annotation.as_ref());
            }
        }
    }

    /// SI.DERIVE.VB.ANNOT.OK, SI.DERIVE.PIPE.PRESERVE: an annotation replaces the derived information.
    fn enter_derived(&mut self, binder: &'m Binder, derived: Option<StructInfo>, annotation: Option<&StructInfo>) {
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

    /// SI.DERIVE.VB.ANNOT.ERR, for a function literal SI.DERIVE.VB.FUNC.ERR; SI.DERIVE.VB.ANNOT.WARN.
    ///
    /// Errata: A02. Read literally, the annotation is checked against the derived information. A41: the warning does
    /// not lead to a check at run time.
    fn fits_annotation(
        &mut self,
        binder: &Binder,
        derived: &StructInfo,
        annotation: &StructInfo,
        of: ValueKind,
        span: Span,
    ) {
        let (given, expected) =
            if self.cx.literal(Erratum::A02) { (annotation, derived) } else { (derived, annotation) };
        let fits = Fit::of(self.cx, given, expected, &self.scope);
        let fits = self.strongly(fits);
        let (derived, annotation) = (ClosedDisplay(derived), ClosedDisplay(annotation));
        let name = &binder.var;
        let never = || {
            Complaint::error(format!("`{name}` is annotated as {annotation}, but its value is {derived}"))
                .with_hint("correct the annotation, or use a match_cast to check the value at run time")
        };
        let possible: Demand = match of {
            ValueKind::Literal => (rule!("SI.DERIVE.VB.FUNC.ERR"), 1, fits != Fit::Never, &never),
            ValueKind::Other => (rule!("SI.DERIVE.VB.ANNOT.ERR"), 1, fits != Fit::Never, &never),
        };
        self.demand_in_turn(
            span,
            &[
                possible,
                (rule!("SI.DERIVE.VB.ANNOT.WARN"), 1, fits != Fit::Perhaps, &|| {
                    Complaint::warning(format!(
                        "`{name}` is annotated as {annotation}, its value is only known to be {derived}"
                    ))
                }),
            ],
        );
    }

    /// TYPE.STRONG: a mismatch with the expectation is an error. In the first edition this rule is about types only.
    fn strongly(&mut self, fits: Fit) -> Fit {
        match fits {
            Fit::Never if self.declares_purity() => self.cx.conclude(rule!("TYPE.STRONG"), fits),
            Fit::Certainly | Fit::Perhaps | Fit::Never => fits,
        }
    }

    /// SI.DERIVE.VB.FUNC: a function literal is derived with its variable in Δ, as annotated (A29).
    ///
    /// Errata: A30. Read literally, the variable leaves Δ permanently.
    fn bound_function(&mut self, binder: &'m Binder, function: &'m Function) {
        let span = binder.var.span;
        self.demand(
            span,
            &[(rule!("SI.DERIVE.VB.FUNC.ANNOT"), 1, binder.annotation.is_some(), &|| {
                Complaint::error(format!("`{}` is bound to a function literal and has no annotation", binder.var))
                    .with_hint("annotate the variable with the function's structural information")
            })],
        );
        let Some(annotation) = binder.annotation.as_ref().map(|annotation| self.closed(annotation)) else {
            let info = self.at(TrailStep::Field("value"), |d| d.literal(function));
            return self.enter(binder, info);
        };
        if self.beforehand.wrong.in_signature(function) || self.beforehand.wrong.touch(span) {
            self.enter_silently(binder, None);
            let _ = self.at(TrailStep::Field("value"), |d| d.literal(function));
            return;
        }
        let annotation = self.with_purity_declared(annotation, function);
        let mark = self.scope.delta.mark();
        if self.cx.fire(rule!("SI.DERIVE.VB.FUNC.REC")) {
            self.enter_silently(binder, Some(annotation.clone()));
        }
        let info = self.at(TrailStep::Field("value"), |d| d.literal(function));
        if self.cx.fire(rule!("SI.DERIVE.VB.FUNC.REMOVE")) {
            self.scope.delta.leave(mark);
        }
        if let Some(info) = info.clone() {
            // A literal without a declared purity has the purity that type checking found.
            let unsaid = function.pure.is_none() && !self.cx.literal(Erratum::A18);
            let info = if unsaid && says_pure(&annotation) { pure(info) } else { info };
            self.fits_annotation(binder, &info, &annotation, ValueKind::Literal, span);
        }
        if !self.cx.literal(Erratum::A30) {
            self.enter_derived(binder, info, Some(&annotation));
        }
    }

    /// Whether an omitted purity in an annotation is not a value of its own (PURITY3.FIELD).
    fn leaves_purity_to_literals(&self) -> bool {
        self.declares_purity() && !self.cx.has(rule!("PURITY3.FIELD"))
    }

    /// GRAM.SI.FUNC: an annotation that omits the purity takes that of the literal.
    fn with_purity_declared(&mut self, annotation: StructInfo, function: &Function) -> StructInfo {
        if let StructInfo::Func(func) = &annotation
            && func.pure.is_none()
            && self.leaves_purity_to_literals()
        {
            let pure = declared_purity(self.cx, function);
            StructInfo::Func(Arc::new(FuncStructInfo { pure, ..(**func).clone() }))
        } else {
            annotation
        }
    }

    fn match_cast(&mut self, cast: &'m MatchCast) {
        let value = self.bound(&cast.value);
        let value = self.cx.conclude(rule!("SI.DERIVE.MC.VALUE"), value);
        let target = self.closed(&cast.struct_info);
        // SI.DERIVE.MC.SHAPEVARS.
        if self.cx.fire(rule!("SI.DERIVE.MC.SHAPEVARS")) {
            self.enter_shape_vars(&cast.struct_info);
        }
        if self.beforehand.wrong.touch(cast.span) {
            return cast.var.iter().for_each(|binder| self.enter_silently(binder, None));
        }
        if let Some(value) = &value {
            self.cast_may_succeed(cast, value, &target);
        }
        match &cast.var {
            None => {}
            Some(binder) => self.cast_var(binder, cast, target),
        }
    }

    /// SI.DERIVE.MC.WARN: warns if no value can have both informations.
    ///
    /// Errata: A07. Read literally, it warns unless each is below the other. N38: it warns unless one of them
    /// definitely is.
    fn cast_may_succeed(&mut self, cast: &MatchCast, value: &StructInfo, target: &StructInfo) {
        let down = is_more_specific_in(self.cx, ShapeRelation::Possible, target, value, &self.scope);
        let up = is_more_specific_in(self.cx, ShapeRelation::Possible, value, target, &self.scope);
        let expected = if self.cx.literal(Erratum::A07) {
            down && up
        } else if self.cx.literal(Erratum::N38) {
            is_more_specific_in(self.cx, ShapeRelation::Definite, target, value, &self.scope)
                || is_more_specific_in(self.cx, ShapeRelation::Definite, value, target, &self.scope)
        } else {
            down || up || may_overlap(self.cx, value, target, &self.scope)
        };
        let (value, target) = (ClosedDisplay(value), ClosedDisplay(target));
        self.demand(
            cast.span,
            &[(rule!("SI.DERIVE.MC.WARN"), 1, expected, &|| {
                Complaint::warning(format!("the cast of {value} to {target} cannot succeed"))
            })],
        );
    }

    /// SI.DERIVE.MC.NOANNOT, SI.DERIVE.MC.ANNOT.OK and SI.DERIVE.MC.ANNOT.ERR.
    ///
    /// Errata: A49. If the two are possibly compatible, the cast is accepted with a warning.
    fn cast_var(&mut self, binder: &'m Binder, cast: &'m MatchCast, target: StructInfo) {
        // SI.DYNAMIC-FALLBACK: from here on the target of the cast is known, whatever was known before.
        let target = self.cx.conclude(rule!("SI.DYNAMIC-FALLBACK"), target);
        let target = self.rematched(target);
        let annotation = binder.annotation.as_ref().map(|annotation| self.closed(annotation));
        let annotation = annotation.as_ref();
        if let Some(annotation) = annotation {
            self.target_fits(binder, cast, &target, annotation);
        }
        let entered = self.cx.by_cases((
            &[(rule!("SI.DERIVE.MC.ANNOT.OK"), annotation.is_some(), annotation.unwrap_or(&StructInfo::Object))],
            (rule!("SI.DERIVE.MC.NOANNOT"), &target),
        ));
        let entered = entered.clone();
        self.enter(binder, Some(entered));
    }

    /// R89.SAFETY.REMATCH: after a match of shapes the sizes of the pattern are known.
    fn rematched(&mut self, target: StructInfo) -> StructInfo {
        if let StructInfo::Tensor(t) = &target
            && t.shape.is_some()
        {
            self.cx.conclude(rule!("R89.SAFETY.REMATCH"), target)
        } else {
            target
        }
    }

    fn target_fits(&mut self, binder: &Binder, cast: &MatchCast, target: &StructInfo, annotation: &StructInfo) {
        let fits = Fit::by_subtyping(self.cx, target, annotation, &self.scope);
        let (target, annotation) = (ClosedDisplay(target), ClosedDisplay(annotation));
        let possible = self.demand(
            cast.span,
            &[(rule!("SI.DERIVE.MC.ANNOT.ERR"), 1, fits != Fit::Never, &|| {
                Complaint::error(format!("`{}` is annotated as {annotation}, but the cast is to {target}", binder.var))
                    .with_hint("leave out the annotation of the variable")
            })],
        );
        if possible && fits == Fit::Perhaps && !self.cx.literal(Erratum::A49) {
            let message = format!("`{}` is annotated as {annotation}, the cast is to {target}", binder.var);
            self.warning(rule!("SI.DERIVE.MC.ANNOT.OK"), cast.span, message);
        }
    }
}

fn says_pure(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Func(func) if func.pure == Some(true))
}
