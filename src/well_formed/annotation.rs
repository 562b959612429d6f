//! Criteria 13 to 15: the form of structural annotations.

use super::Checker;
use super::shape_var::{Owner, Place, Position};
use crate::findings::{Finder, Step};
use crate::grammar::{
    DataType, FuncStructInfo, Ndim, ShapeStructInfo, Span, StructInfo, TensorShape, TensorStructInfo, Var, VarKind,
};
use crate::judge::with_stack;

use std::slice::from_ref;

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
                    self.dims_of_expr(from_ref(value), span);
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
        if !self.cx.premise(rule!("WF.13.FORM"), 1, permitted) {
            let message = "the shape of a tensor annotation is neither a variable nor a ShapeExpr".to_string();
            self.error_with_hint(rule!("WF.13.FORM"), span, message, "bind the expression to a variable and use that");
        }
        match &tensor.shape {
            None => {}
            Some(TensorShape::Dims(dims)) => {
                self.ndim_of_tensor(tensor.ndim, dims.len(), span);
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
        if !self.cx.premise(rule!("WF.13.VAR-SCOPE"), 1, in_scope) {
            let message = format!("the annotation takes its shape from `{var}`, which is not in scope");
            self.error(rule!("WF.13.VAR-SCOPE"), var.span, message);
        }
    }

    /// WF.13.NDIM: as many dimensions as `ndim` says.
    fn ndim_of_tensor(&mut self, ndim: Ndim, len: usize, span: Span) {
        if !self.cx.premise(rule!("WF.13.NDIM"), 1, ndim == Ndim::of_len(len)) {
            let message = format!("a tensor annotation has {len} dimensions and an ndim of {ndim}");
            self.error_with_hint(rule!("WF.13.NDIM"), span, message, &format!("set ndim to {len}"));
        }
    }

    fn shape_annotation(&mut self, shape: &'m ShapeStructInfo, position: Position, span: Span) {
        self.ndim_of_shape(shape, span);
        let values = shape.values.as_deref().unwrap_or_default();
        self.dims_of_annotation(values, Place { owner: Owner::Shape, position, span });
    }

    /// WF.14.NDIM: as many values as `ndim` says.
    fn ndim_of_shape(&mut self, shape: &ShapeStructInfo, span: Span) {
        let (ndim, len) = (shape.ndim, shape.values.as_ref().map_or(0, |values| values.len()));
        if !self.cx.premise(rule!("WF.14.NDIM"), 1, shape.values.is_none() || ndim == Ndim::of_len(len)) {
            let message = format!("a shape annotation has {len} values and an ndim of {ndim}");
            self.error_with_hint(rule!("WF.14.NDIM"), span, message, &format!("set ndim to {len}"));
        }
    }

    /// WF.15.EXCLUSIVE, WF.15.ATLEASTONE; then the parameters, whose new shape variables are known only in here.
    fn func_annotation(&mut self, func: &'m FuncStructInfo, position: Position, span: Span) {
        let (params, derives) = (func.params.is_some(), func.derive_func.is_some());
        if !self.cx.premise(rule!("WF.15.EXCLUSIVE"), 1, !(params && derives)) {
            let message = "a function annotation has both params and derive_func".to_string();
            self.error_with_hint(rule!("WF.15.EXCLUSIVE"), span, message, "leave out one of the two");
        }
        if !self.cx.premise(rule!("WF.15.ATLEASTONE"), 1, params || derives) {
            let message = "a function annotation has neither params nor derive_func".to_string();
            let hint = "give params, or a derive_func such as empty_derive for an opaque function";
            self.error_with_hint(rule!("WF.15.ATLEASTONE"), span, message, hint);
        }
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
