//! Criteria 13 to 15: the form of structural annotations.

use super::Checker;
use super::shape_var::{Owner, Place, Position};
use crate::findings::{Complaint, Finder, Step};
use crate::grammar::{
    DataType, FuncStructInfo, Ndim, ShapeStructInfo, Span, StructInfo, TensorShape, TensorStructInfo, Var, VarKind,
};
use crate::judge::with_stack;

impl<'m> Checker<'_, 'm> {
    /// WF.ANNOT-RECURSIVE: an annotation is checked at every depth.
    pub(super) fn annotation(&mut self, info: &'m StructInfo, position: Position, span: Span) {
        match info {
            StructInfo::Object => {}
            StructInfo::Tensor(tensor) => self.tensor_annotation(tensor, position, span),
            StructInfo::Shape(shape) => self.shape_annotation(shape, position, span),
            StructInfo::Prim(prim) => {
                self.datatype(prim.dtype, span);
                if let Some(value) = &prim.value {
                    self.value_of_annotation(value, position, span);
                }
            }
            StructInfo::Tuple(fields) => {
                if self.cx.fire(rule!("WF.ANNOT-RECURSIVE")) {
                    for (i, field) in fields.iter().enumerate() {
                        self.at(Step::Item("fields", i), |c| with_stack(|| c.annotation(field, position, span)));
                    }
                }
            }
            StructInfo::Func(func) => self.func_annotation(func, position, span),
        }
    }

    fn tensor_annotation(&mut self, tensor: &'m TensorStructInfo, position: Position, span: Span) {
        self.datatype(tensor.dtype, span);
        let permitted = !matches!(tensor.shape, Some(TensorShape::Other(_)));
        self.demand(
            span,
            &[(rule!("WF.13.FORM"), 1, permitted, &|| {
                Complaint::error("the shape of a tensor annotation is neither a variable nor a ShapeExpr")
                    .with_hint("bind the expression to a variable and use that")
            })],
        );
        match &tensor.shape {
            None => {}
            Some(TensorShape::Dims(dims)) => {
                let len = dims.len();
                self.demand(
                    span,
                    &[(rule!("WF.13.NDIM"), 1, tensor.ndim == Ndim::of_len(len), &|| {
                        other_number("tensor", "dimensions", tensor.ndim, len)
                    })],
                );
                self.dims_of_annotation(dims, Place { owner: Owner::Tensor, position, span });
            }
            Some(TensorShape::Var(var)) => self.shape_is_var(var, VarKind::Var),
            Some(TensorShape::DataflowVar(var)) => self.shape_is_var(var, VarKind::DataflowVar),
            Some(TensorShape::Other(expr)) => self.at(Step::Field("shape"), |c| c.expr(expr)),
        }
    }

    /// PR14148.DTYPE.TIR-SUBSET: not every datatype of TIR is one of Relax. Not a criterion but a limit of the grammar, which
    /// the tree does not have.
    pub(super) fn datatype(&mut self, dtype: DataType, span: Span) {
        let Some(limit) = dtype.inadmissible() else { return };
        if self.cx.fire(rule!("PR14148.DTYPE.TIR-SUBSET")) && !self.cx.premise(limit, 1, false) {
            let message = format!("Relax has no datatype {dtype}");
            self.error_with_hint(limit, span, message, "scalars have one lane, and the unknown datatype is `void`");
        }
    }

    /// WF.13.VAR-SCOPE: a variable that stands for the shape is in scope.
    fn shape_is_var(&mut self, var: &'m Var, kind: VarKind) {
        let in_scope = self.use_var(var, kind);
        self.demand(
            var.span,
            &[(rule!("WF.13.VAR-SCOPE"), 1, in_scope, &|| {
                Complaint::error(format!("the annotation takes its shape from `{var}`, which is not in scope"))
            })],
        );
    }

    /// WF.14.NDIM: as many values as `ndim` says.
    fn shape_annotation(&mut self, shape: &'m ShapeStructInfo, position: Position, span: Span) {
        let values = shape.values.as_deref().unwrap_or_default();
        let agrees = shape.values.is_none() || shape.ndim == Ndim::of_len(values.len());
        self.demand(
            span,
            &[(rule!("WF.14.NDIM"), 1, agrees, &|| other_number("shape", "values", shape.ndim, values.len()))],
        );
        self.dims_of_annotation(values, Place { owner: Owner::Shape, position, span });
    }

    /// WF.15: one of `params` and `derive_func`; then the parameters, whose new shape variables are known only in here.
    fn func_annotation(&mut self, func: &'m FuncStructInfo, position: Position, span: Span) {
        let (params, derives) = (func.params.is_some(), func.derive_func.is_some());
        self.demand(
            span,
            &[
                (rule!("WF.15.EXCLUSIVE"), 1, !(params && derives), &|| {
                    Complaint::error("a function annotation has both params and derive_func")
                        .with_hint("leave out one of the two")
                }),
                (rule!("WF.15.ATLEASTONE"), 1, params || derives, &|| {
                    Complaint::error("a function annotation has neither params nor derive_func")
                        .with_hint("give params, or a derive_func such as empty_derive for an opaque function")
                }),
            ],
        );
        if self.cx.fire(rule!("WF.ANNOT-RECURSIVE")) {
            self.inside_func_annotation(func, position, span);
        }
    }

    fn inside_func_annotation(&mut self, func: &'m FuncStructInfo, position: Position, span: Span) {
        let mark = self.shapes.mark();
        for (i, param) in func.params.iter().flat_map(|params| params.iter()).enumerate() {
            self.at(Step::Item("params", i), |c| with_stack(|| c.annotation(param, Position::FuncParams, span)));
        }
        let ret = if position == Position::Return { Position::Return } else { Position::Other };
        self.at(Step::Field("ret"), |c| with_stack(|| c.annotation(&func.ret, ret, span)));
        self.shapes.leave(mark);
    }
}

fn other_number(of: &str, listed: &str, ndim: Ndim, len: usize) -> Complaint {
    Complaint::error(format!("a {of} annotation has {len} {listed} and an ndim of {ndim}"))
        .with_hint(format!("set ndim to {len}"))
}
