//! Criteria 13 to 15, in later editions 10, 14 to 17, 19, 20 and 22: the form of structural annotations.

use super::WellFormedChecker;
use super::shape_var::{AnnotationSite, Owner, Position};
use crate::book::{Erratum, Rule};
use crate::findings::{Complaint, Demand, Finder, TrailStep};
use crate::grammar::{
    DataType, Expr, FuncStructInfo, Ndim, PrimExpr, PrimStructInfo, ShapeStructInfo, Span, StructInfo, TensorShape,
    TensorStructInfo, TypeCode, VDevice, Var, VarKind,
};
use crate::judge::with_stack;

impl<'m> WellFormedChecker<'_, 'm> {
    /// WF.ANNOT-RECURSIVE: checks an annotation at every depth.
    pub(super) fn annotation(&mut self, info: &'m StructInfo, position: Position, span: Span) {
        match info {
            StructInfo::Object => {}
            StructInfo::Tensor(tensor) => self.tensor_annotation(tensor, position, span),
            StructInfo::Shape(shape) => self.shape_annotation(shape, position, span),
            StructInfo::Prim(prim) => self.prim_annotation(prim, position, span),
            StructInfo::Tuple(fields) => {
                if self.cx.fire(rule!("WF.ANNOT-RECURSIVE")) {
                    for (i, field) in fields.iter().enumerate() {
                        self.at(TrailStep::Item("fields", i), |c| with_stack(|| c.annotation(field, position, span)));
                    }
                }
            }
            StructInfo::Func(func) => self.func_annotation(func, position, span),
        }
    }

    /// WF23-12.19, WF23-12.22: the value is a number of the annotated datatype.
    fn prim_annotation(&mut self, prim: &'m PrimStructInfo, position: Position, span: Span) {
        let dtype = prim.dtype;
        self.datatype(dtype, span);
        let number = dtype.is_int() || dtype.is_uint() || dtype.is_float();
        let consistent = prim.value.as_ref().is_none_or(|value| may_have_datatype(value, dtype));
        self.demand(
            span,
            &[
                (rule!("WF23-12.19"), 1, number, &|| {
                    Complaint::error(format!("a boxed scalar is annotated as {dtype}, which is no number"))
                        .with_hint("use an integer or float datatype, or R.Object for a handle")
                }),
                (rule!("WF23-12.22"), 1, consistent, &|| {
                    Complaint::error(format!("the value of a boxed scalar is not of its datatype, {dtype}"))
                        .with_hint("arithmetic on shape variables is of int64, a comparison of bool")
                }),
            ],
        );
        if let Some(value) = &prim.value {
            self.value_of_annotation(value, position, span);
        }
    }

    fn tensor_annotation(&mut self, tensor: &'m TensorStructInfo, position: Position, span: Span) {
        self.datatype(tensor.dtype, span);
        let permitted = !matches!(tensor.shape, Some(TensorShape::Other(_)));
        self.demand(
            span,
            &[(rule!("WF.13.FORM"), 1, permitted, &|| {
                Complaint::error("the shape of a tensor annotation is neither a variable nor a ShapeExpr")
                    .with_hint(shape_instead_of(tensor))
            })],
        );
        if let Some(device) = &tensor.vdevice {
            self.device(device, span);
        }
        match &tensor.shape {
            None => {}
            Some(TensorShape::Dims(dims)) => {
                let len = dims.len();
                let agrees = tensor.ndim == Ndim::of_len(len);
                let complain = || other_number("tensor", "dimensions", tensor.ndim, len);
                self.demand(span, &[(rule!("WF.13.NDIM"), 1, agrees, &complain)]);
                self.number_of_dimensions(agrees, span, &complain);
                self.dims_of_annotation(dims, AnnotationSite { owner: Owner::Tensor, position, span });
            }
            Some(TensorShape::Var(var)) => self.shape_is_var(var, VarKind::Var),
            Some(TensorShape::DataflowVar(var)) => self.shape_is_var(var, VarKind::DataflowVar),
            Some(TensorShape::Other(expr)) => self.at(TrailStep::Field("shape"), |c| c.expr(expr)),
        }
    }

    /// WF23-12.24: a device in an annotation is one of those that the module lists. WF23-12.24.EMPTY: no device is
    /// allowed if the module lists none.
    fn device(&mut self, device: &VDevice, span: Span) {
        let listed = self.module.vdevices();
        let demand = if listed.is_empty() { rule!("WF23-12.24.EMPTY") } else { rule!("WF23-12.24") };
        self.demand(
            span,
            &[(demand, 1, listed.contains(device), &|| {
                Complaint::error(format!("the annotation names the device {device}, which the module does not list"))
                    .with_hint("list it in `I.module_global_infos`")
            })],
        );
    }

    /// WF23-12.10: the annotation of a variable is consistent about the number of dimensions, at every depth.
    fn number_of_dimensions(&mut self, agrees: bool, span: Span, complain: &dyn Fn() -> Complaint) {
        if self.of_variable {
            self.demand(span, &[(rule!("WF23-12.10"), 1, agrees, complain)]);
        }
    }

    /// The datatype of an annotation obeys the limits of the grammar and criterion 20.
    pub(super) fn datatype(&mut self, dtype: DataType, span: Span) {
        self.datatype_of_tir(dtype, span);
        let limits = self.criterion_20(dtype);
        let complain = || no_datatype(dtype);
        let demands: Vec<Demand> = limits.into_iter().map(|(rule, holds)| (rule, 1, holds, &complain as _)).collect();
        self.demand(span, &demands);
    }

    /// The datatype of a value, as opposed to an annotation, has one lane.
    pub(super) fn datatype_of_value(&mut self, dtype: DataType, span: Span) {
        self.datatype_of_tir(dtype, span);
        let scalar = dtype.code == TypeCode::Handle || dtype.lanes == 1;
        self.demand(span, &[(rule!("WF23-12.20.LANES"), 1, scalar, &|| no_datatype(dtype))]);
    }

    /// The datatype that a `DataTypeImm` names.
    ///
    /// Errata: N62, literally criterion 20 applies to it too, so vector types of TIR cannot be named.
    pub(super) fn datatype_named(&mut self, dtype: DataType, span: Span) {
        if self.cx.literal(Erratum::N62) { self.datatype(dtype, span) } else { self.datatype_of_tir(dtype, span) }
    }

    /// PR14148.DTYPE.TIR-SUBSET: Relax has only some of the datatypes of TIR. This is a limit of the grammar that the
    /// syntax tree does not enforce, not a criterion.
    fn datatype_of_tir(&mut self, dtype: DataType, span: Span) {
        // Later editions state limits on lanes in criterion 20, and report them there.
        let Some(limit) = dtype.inadmissible().filter(|limit| self.cx.stated_as(*limit) == *limit) else { return };
        if self.cx.fire(rule!("PR14148.DTYPE.TIR-SUBSET")) && !self.cx.premise(limit, 1, false) {
            let message = format!("Relax has no datatype {dtype}");
            self.error_with_hint(limit, span, message, "scalars have one lane, and the unknown datatype is `void`");
        }
    }

    /// WF23-12.20: the lanes and widths of datatypes.
    ///
    /// Errata: N01, literally a handle needs both 0 bits (notes on datatypes) and 64 bits, so none is valid. N62,
    /// literally the grammar has no `bfloat16` and no small floats.
    fn criterion_20(&mut self, dtype: DataType) -> Vec<(Rule, bool)> {
        let scalar = (rule!("WF23-12.20.LANES"), dtype.lanes == 1);
        match dtype.code {
            TypeCode::Int | TypeCode::UInt => {
                vec![scalar, (rule!("WF23-12.20.INTBITS"), [1, 8, 16, 32, 64].contains(&dtype.bits))]
            }
            TypeCode::Float => vec![scalar, (rule!("WF23-12.20.FLOATBITS"), [16, 32, 64].contains(&dtype.bits))],
            TypeCode::BFloat | TypeCode::Small(_) => {
                vec![scalar, (rule!("WF23-12.20.FLOATBITS"), !self.cx.literal(Erratum::N62))]
            }
            TypeCode::Handle => {
                vec![(rule!("WF23-12.20.VOID"), dtype.is_void() && !self.cx.literal(Erratum::N01))]
            }
        }
    }

    /// WF.13.VAR-SCOPE: a variable that is the shape is in scope.
    fn shape_is_var(&mut self, var: &'m Var, kind: VarKind) {
        let in_scope = self.use_var(var, kind);
        self.demand(
            var.span,
            &[(rule!("WF.13.VAR-SCOPE"), 1, in_scope, &|| {
                Complaint::error(format!("the annotation takes its shape from `{var}`, which is not in scope"))
            })],
        );
    }

    /// WF.14.NDIM: the number of values is `ndim`.
    fn shape_annotation(&mut self, shape: &'m ShapeStructInfo, position: Position, span: Span) {
        let values = shape.values.as_deref().unwrap_or_default();
        let agrees = shape.values.is_none() || shape.ndim == Ndim::of_len(values.len());
        let complain = || other_number("shape", "values", shape.ndim, values.len());
        self.demand(span, &[(rule!("WF.14.NDIM"), 1, agrees, &complain)]);
        self.number_of_dimensions(agrees, span, &complain);
        self.dims_of_annotation(values, AnnotationSite { owner: Owner::Shape, position, span });
    }

    /// WF.15: there is either `params` or `derive_func`. Then the parameters are checked; their new shape variables are
    /// visible only inside.
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
        if self.in_signature {
            self.says_purity(func, span);
        }
        if self.cx.fire(rule!("WF.ANNOT-RECURSIVE")) {
            self.inside_func_annotation(func, position, span);
        }
    }

    /// PURITY3.WF25: a function type in a signature states its purity, at any depth.
    fn says_purity(&mut self, func: &FuncStructInfo, span: Span) {
        self.demand(
            span,
            &[(rule!("PURITY3.WF25"), 1, func.pure.is_some(), &|| {
                Complaint::error("a function type in a signature does not say whether it is pure")
                    .with_hint("give its purity, as in `R.Callable((..), .., True)`")
            })],
        );
    }

    fn inside_func_annotation(&mut self, func: &'m FuncStructInfo, position: Position, span: Span) {
        let mark = self.shapes.mark();
        for (i, param) in func.params.iter().flat_map(|params| params.iter()).enumerate() {
            self.at(TrailStep::Item("params", i), |c| with_stack(|| c.annotation(param, Position::FuncParams, span)));
        }
        let ret = if position == Position::Return { Position::Return } else { Position::Other };
        self.at(TrailStep::Field("ret"), |c| with_stack(|| c.annotation(&func.ret, ret, span)));
        self.shapes.leave(mark);
    }
}

fn no_datatype(dtype: DataType) -> Complaint {
    Complaint::error(format!("Relax has no datatype {dtype}"))
        .with_hint("scalars have one lane and a usual width, and the unknown datatype is `void`")
}

/// Whether an expression can have a datatype: a number any integer type, arithmetic `int64`, and a comparison `bool`.
fn may_have_datatype(value: &PrimExpr, dtype: DataType) -> bool {
    match value {
        PrimExpr::IntImm(_) => dtype.is_int() || dtype.is_uint(),
        PrimExpr::Var(_) => dtype == DataType::INT64,
        PrimExpr::Not(_) => dtype.is_bool(),
        PrimExpr::Binary(op, ..) if op.is_predicate() => dtype.is_bool(),
        PrimExpr::Binary(..) => dtype == DataType::INT64,
        PrimExpr::Select(_, yes, no) => with_stack(|| may_have_datatype(yes, dtype) && may_have_datatype(no, dtype)),
    }
}

fn other_number(of: &str, listed: &str, ndim: Ndim, len: usize) -> Complaint {
    Complaint::error(format!("a {of} annotation has {len} {listed} and an ndim of {ndim}"))
        .with_hint(format!("set ndim to {len}"))
}

/// The advice for a tensor whose shape is not a shape. A number in parentheses is a number: a tuple with one field
/// needs a comma.
fn shape_instead_of(tensor: &TensorStructInfo) -> String {
    match &tensor.shape {
        Some(TensorShape::Other(expr)) if let Expr::PrimValue(number) = &**expr => {
            format!("`({0})` is the number {0}: a shape is a tuple, `({0},)`", number.value)
        }
        Some(_) | None => "bind the expression to a variable and use that".to_string(),
    }
}
