//! Criteria 4 and 5, and the scope conditions of 13 and 14: where shape variables are bound and used.

use std::collections::BTreeSet;

use super::WellFormedChecker;
use crate::book::Erratum;
use crate::findings::{Complaint, Demand, Finder};
use crate::grammar::{Function, PrimExpr, ShapeVar, Span, StructInfo, TensorShape};
use crate::struct_info::introduced_shape_vars;
use crate::struct_info::mapping::shape_vars_outside_functions;

/// The position of an annotation, as far as shape variables are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The annotation of a parameter.
    Parameter,
    /// The `struct_info` of a `MatchCast`.
    Cast,
    /// The parameters of a `FuncStructInfo`.
    FuncParams,
    /// A return annotation.
    Return,
    /// Any other annotation, and the `sinfo_args` of a call.
    Other,
}

/// The kind of annotation that dimensions belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Tensor,
    Shape,
    Scalar,
}

/// The annotation that contains dimensions.
#[derive(Clone, Copy)]
pub(super) struct AnnotationSite {
    pub(super) owner: Owner,
    pub(super) position: Position,
    pub(super) span: Span,
}

impl<'m> WellFormedChecker<'_, 'm> {
    /// WF.5.BEFORE: the variables of an expression (not an annotation) are bound.
    pub(super) fn dims_of_expr(&mut self, dims: &'m [PrimExpr], span: Span) {
        for dim in dims {
            for (var, in_scope) in self.vars_of(dim) {
                self.bound_before(var, in_scope, span);
            }
        }
    }

    /// The dimensions of an annotation, from left to right.
    pub(super) fn dims_of_annotation(&mut self, dims: &'m [PrimExpr], place: AnnotationSite) {
        for dim in dims {
            match dim {
                PrimExpr::IntImm(_) => {}
                PrimExpr::Var(var) => self.alone(var, place),
                PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                    for (var, in_scope) in self.vars_of(dim) {
                        self.in_compound(var, in_scope, dim, place);
                    }
                }
            }
        }
    }

    /// PR14148.SI.PRIM.VALUE: the value of a boxed scalar is a dimension.
    ///
    /// Errata: A74, literally it is an expression, and nothing is bound in it.
    pub(super) fn value_of_annotation(&mut self, value: &'m PrimExpr, position: Position, span: Span) {
        let dims = std::slice::from_ref(value);
        let counts = self.cx.has(rule!("WF23-12.16")) || !self.cx.literal(Erratum::A74);
        if counts && self.cx.fire(rule!("PR14148.SI.PRIM.VALUE")) {
            self.dims_of_annotation(dims, AnnotationSite { owner: Owner::Scalar, position, span });
        } else {
            self.dims_of_expr(dims, span);
        }
    }

    /// The variables of a dimension, each once, and whether they are in scope.
    fn vars_of(&self, dim: &'m PrimExpr) -> Vec<(&'m ShapeVar, bool)> {
        let mut vars: Vec<(&ShapeVar, bool)> = Vec::new();
        if matches!(dim, PrimExpr::IntImm(_)) {
            return vars;
        }
        dim.for_each_var(|var| {
            // With very many variables some may be repeated. That costs time, but adds no findings.
            if vars.len() > 32 || !vars.iter().any(|(seen, _)| *seen == var) {
                vars.push((var, self.shapes.contains(&var)));
            }
        });
        vars
    }

    /// WF.5.ALONE: a variable that is a whole dimension is bound here if it is new and the annotation binds.
    ///
    /// Errata: A09, literally only a `MatchCast` may introduce variables under criteria 13 and 14. N12, literally the
    /// same holds for criterion 16 of later editions.
    fn alone(&mut self, var: &'m ShapeVar, place: AnnotationSite) {
        let new = !self.shapes.contains(&var);
        let introduced = new || (place.position == Position::Parameter && self.of_signature.contains(var));
        if introduced && self.binds(place.position) && self.cx.premise(rule!("WF.5.ALONE"), 1, true) {
            if new {
                self.bind_shape_var(var);
            }
            let by_letter = match place.owner {
                Owner::Tensor | Owner::Shape => self.cx.literal(Erratum::A09),
                Owner::Scalar => self.cx.literal(Erratum::N12),
            };
            let excepted = place.position != Position::Parameter || !by_letter;
            self.annotation_scope(var, excepted, place);
        } else {
            self.used(var, !new, place);
        }
    }

    /// WF.5.POSITIONS: whether annotations at this position bind new shape variables.
    fn binds(&mut self, position: Position) -> bool {
        let anywhere = self.cx.conclude(rule!("WF.5.POSITIONS"), false);
        match position {
            Position::Parameter => self.cx.conclude(rule!("SI.DIM.BINDPOS.PARAM"), true),
            Position::Cast => self.cx.conclude(rule!("SI.DIM.BINDPOS.CAST"), true),
            Position::FuncParams => true,
            Position::Return | Position::Other => {
                anywhere || self.cx.conclude(rule!("SI.DIM.BINDPOS.NONE-ELSE"), false)
            }
        }
    }

    pub(super) fn bind_shape_var(&mut self, var: &'m ShapeVar) {
        let new = self.is_no_relax_var(var);
        self.demand(
            var.span,
            &[(rule!("WF.2.ONCE"), 1, new, &|| {
                Complaint::error(format!("the shape variable `{var}` has the name of a Relax variable"))
            })],
        );
        self.shapes.enter(var, ());
    }

    /// WF.5.ALONE: only an occurrence alone binds. A variable in a larger expression must be bound already.
    fn in_compound(&mut self, var: &ShapeVar, in_scope: bool, dim: &PrimExpr, place: AnnotationSite) {
        match place.position {
            Position::Parameter | Position::Cast | Position::FuncParams => {
                self.demand(
                    spot(var, place.span),
                    &[(rule!("WF.5.ALONE"), 1, in_scope, &|| {
                        Complaint::error(format!(
                            "`{dim}` does not bind the new shape variable `{var}`, which is not alone"
                        ))
                        .with_hint(format!("bind `{var}` as a dimension of its own before this"))
                    })],
                );
                self.annotation_scope(var, in_scope, place);
            }
            Position::Return | Position::Other => self.used(var, in_scope, place),
        }
    }

    /// WF.4.RET and WF.5.BEFORE: an occurrence that does not bind.
    fn used(&mut self, var: &ShapeVar, in_scope: bool, place: AnnotationSite) {
        if place.position == Position::Return {
            self.demand(
                spot(var, place.span),
                &[(rule!("WF.4.RET"), 1, in_scope, &|| {
                    Complaint::error(format!(
                        "the return annotation uses `{var}`, which neither a parameter nor an outer scope binds"
                    ))
                })],
            );
        }
        self.bound_before(var, in_scope, place.span);
        self.annotation_scope(var, in_scope, place);
    }

    /// WF.13.DIMS-SCOPE, WF.14.SCOPE, WF23-12.16.
    fn annotation_scope(&mut self, var: &ShapeVar, allowed: bool, place: AnnotationSite) {
        let complain = || Complaint::error(format!("the annotation uses `{var}`, which is not in scope"));
        let demand: Demand = match place.owner {
            Owner::Tensor => (rule!("WF.13.DIMS-SCOPE"), 1, allowed, &complain),
            Owner::Shape => (rule!("WF.14.SCOPE"), 1, allowed, &complain),
            Owner::Scalar => (rule!("WF23-12.16"), 1, allowed, &complain),
        };
        self.demand(spot(var, place.span), &[demand]);
    }

    fn bound_before(&mut self, var: &ShapeVar, in_scope: bool, span: Span) {
        let bound = in_scope || self.cx.conclude(rule!("SI.DIM.UNBOUND-ERR"), false);
        self.demand(
            spot(var, span),
            &[(rule!("WF.5.BEFORE"), 1, bound, &|| {
                Complaint::error(format!("the shape variable `{var}` is not bound at this point"))
                    .with_hint("bind it in a parameter annotation or with a match_cast first")
            })],
        );
    }

    /// WF23-12.6.COVER: every shape variable of a signature is a whole dimension in some parameter.
    ///
    /// Errata: N14, literally this includes variables that an enclosing function has bound.
    pub(super) fn signature_covers(&mut self, function: &'m Function) {
        if !self.cx.has(rule!("WF23-12.6.COVER")) {
            return;
        }
        let params = || function.params.iter().filter_map(|param| param.annotation.as_ref());
        let alone: BTreeSet<ShapeVar> = params().flat_map(introduced_shape_vars).collect();
        let captured_too = self.cx.literal(Erratum::N14);
        let mut open: BTreeSet<ShapeVar> =
            params().chain(&function.ret_struct_info).flat_map(shape_vars_outside_functions).collect();
        open.retain(|var| !alone.contains(var) && (captured_too || !self.shapes.contains(&var)));
        let uncovered = open.first().cloned();
        self.demand(
            uncovered.as_ref().map_or(function.span, |var| spot(var, function.span)),
            &[(rule!("WF23-12.6.COVER"), 1, uncovered.is_none(), &|| {
                let vars: Vec<String> = open.iter().map(|var| format!("`{var}`")).collect();
                Complaint::error(format!("no parameter has {} as a dimension alone", vars.join(", ")))
                    .with_hint("give it as a dimension of its own in some parameter")
            })],
        );
    }

    /// WF.5.SIG-ORDER: parameters bind from left to right. WF23-12.6.ANY-ORDER: a variable may be bound anywhere in the
    /// signature.
    ///
    /// Errata: A08, literally any order is allowed in the first edition too. N13, literally criterion 5 applies to
    /// signatures too.
    pub(super) fn signature_order(&mut self, annotations: impl Iterator<Item = &'m StructInfo>) {
        let in_order = if self.cx.has(rule!("WF23-12.6.ANY-ORDER")) {
            self.cx.literal(Erratum::N13) || self.cx.conclude(rule!("WF23-12.6.ANY-ORDER"), false)
        } else {
            self.cx.conclude(rule!("WF.5.SIG-ORDER"), true) && !self.cx.literal(Erratum::A08)
        };
        self.of_signature.clear();
        if in_order {
            return;
        }
        for annotation in annotations {
            self.bind_all_alone(annotation);
        }
    }

    fn bind_all_alone(&mut self, annotation: &'m StructInfo) {
        let dims: &[PrimExpr] = match annotation {
            StructInfo::Object | StructInfo::Func(_) => &[],
            StructInfo::Prim(_) if !self.cx.has(rule!("WF23-12.16")) && self.cx.literal(Erratum::A74) => &[],
            StructInfo::Prim(prim) => prim.value.as_slice(),
            StructInfo::Tensor(tensor) => match &tensor.shape {
                Some(TensorShape::Dims(dims)) => dims,
                None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => &[],
            },
            StructInfo::Shape(shape) => shape.values.as_deref().unwrap_or_default(),
            StructInfo::Tuple(fields) => {
                crate::judge::with_stack(|| fields.iter().for_each(|field| self.bind_all_alone(field)));
                &[]
            }
        };
        for dim in dims {
            if let PrimExpr::Var(var) = dim
                && !self.shapes.contains(&var)
            {
                self.bind_shape_var(var);
                if self.cx.has(rule!("WF23-12.6.ANY-ORDER")) {
                    self.of_signature.push(var.clone());
                }
            }
        }
    }
}

/// The position of the variable in the text, if it has one.
fn spot(var: &ShapeVar, span: Span) -> Span {
    if var.span.is_none() { span } else { var.span }
}
