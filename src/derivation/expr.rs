//! Leaves, tuples, conditionals, projections and sequences.

use super::{Deriver, Fit, InfoEntry};
use crate::book::{Erratum, Rule};
use crate::findings::{Complaint, Finder, TrailStep};
use crate::grammar::width::TOO_WIDE;
use crate::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Constant, DataType, Expr, GlobalVar, If, PrimExpr, PrimStructInfo,
    PrimValue, SeqExpr, ShapeExpr, Span, StructInfo, TensorShape, Tuple, TupleGetItem, Var,
};
use crate::judge::{VisitedTuples, is_new, with_stack};
use crate::struct_info::{ClosedDisplay, Surroundings, erase_to_well_defined, unify_struct_info_in};

use std::slice::from_ref;

impl<'m> Deriver<'_, 'm> {
    /// Derives the structural information of an expression; `None` after an error.
    pub(super) fn expr(&mut self, expr: &'m Expr) -> Option<StructInfo> {
        match expr {
            Expr::Constant(constant) => Some(self.cx.conclude(rule!("SI.DERIVE.CONST"), info_of_constant(constant))),
            Expr::Var(var) | Expr::DataflowVar(var) => self.var(var),
            Expr::GlobalVar(gv) => self.global_var(gv),
            Expr::Tuple(tuple) => with_stack(|| self.tuple(tuple)),
            Expr::SeqExpr(seq) => with_stack(|| self.seq_expr(seq)),
            Expr::PrimValue(prim) => {
                let info = self.prim_value(prim);
                self.in_sigma(from_ref(&prim.value), prim.span).then_some(info)
            }
            Expr::StringImm(_) => Some(self.immediate(rule!("SI.DERIVE.STRINGIMM"))),
            Expr::DataTypeImm(_) => Some(self.immediate(rule!("SI.DERIVE.DATATYPEIMM"))),
            Expr::Function(function) => with_stack(|| self.literal(function)),
            Expr::If(branch) => with_stack(|| self.if_expr(branch)),
            Expr::ExternFunc(_) => {
                let info = self.info_of_extern_func();
                Some(self.cx.conclude(rule!("SI.DERIVE.EXTERNFUNC"), info))
            }
            Expr::Call(call) => with_stack(|| self.call(call)),
            Expr::ShapeExpr(shape) => self.shape_expr(shape),
            Expr::TupleGetItem(get) => with_stack(|| self.tuple_get_item(get)),
            // WF.8: well-formedness allows operators only as callees.
            Expr::Op(_) => None,
        }
    }

    /// An object. In later editions it has its own rule.
    fn immediate(&mut self, own: Rule) -> StructInfo {
        let info = self.cx.conclude(rule!("PR14148.IMM.DERIVE"), StructInfo::Object);
        self.cx.conclude(own, info)
    }

    /// PR14148.SI.PRIM.DERIVE, PR14148.SI.PRIM.VALUE: the data type, and the value if it is an integer.
    ///
    /// Errata: A74, and N08 in later editions. Read literally, only the data type is known.
    fn prim_value(&mut self, prim: &PrimValue) -> StructInfo {
        let dtype = self.cx.conclude(rule!("PR14148.SI.PRIM.DERIVE"), StructInfo::prim(prim.dtype));
        let valueless = self.cx.literal(Erratum::A74) || self.cx.literal(Erratum::N08);
        let known = prim.dtype == DataType::INT64 && prim.float.is_none() && !valueless;
        if !known {
            return self.cx.conclude(rule!("SI.DERIVE.PRIMVALUE"), dtype);
        }
        let value = StructInfo::Prim(PrimStructInfo { dtype: prim.dtype, value: Some(prim.value.clone()) });
        let value = self.cx.conclude(rule!("PR14148.SI.PRIM.VALUE"), value);
        self.cx.conclude(rule!("SI.DERIVE.PRIMVALUE"), value)
    }

    /// SI.DERIVE.VAR: the entry in Δ.
    fn var(&mut self, var: &'m Var) -> Option<StructInfo> {
        let known = self.cx.conclude(rule!("SI.DERIVE.VAR"), self.scope.delta.get(var));
        let known = known.map(|entry| entry.info.clone());
        self.known(known, &var.name, var.span)
    }

    fn global_var(&mut self, gv: &'m GlobalVar) -> Option<StructInfo> {
        let known = self.cx.conclude(rule!("SI.DERIVE.VAR"), self.globals.get(&*gv.name)).cloned();
        self.inferring.note_use(&gv.name);
        self.known(known, &gv.name, gv.span)
    }

    fn known(&mut self, known: Option<Option<StructInfo>>, name: &str, span: Span) -> Option<StructInfo> {
        self.demand(
            span,
            &[(rule!("TC.VAR.UNBOUND"), 1, known.is_some(), &|| {
                Complaint::error(format!("nothing is known of `{name}`, which is not in scope"))
            })],
        );
        known.flatten()
    }

    /// SI.DERIVE.CONTEXT: an expression uses only the shape variables in Σ.
    fn in_sigma(&mut self, dims: &[PrimExpr], span: Span) -> bool {
        let mut outside = Vec::new();
        for dim in dims {
            dim.for_each_var(|var| {
                if outside.is_empty() && !self.scope.sigma.contains(var) {
                    outside.push(var);
                }
            });
        }
        self.demand(
            span,
            &[(rule!("SI.DERIVE.CONTEXT"), 1, outside.is_empty(), &|| {
                let vars: Vec<String> = outside.iter().map(|var| format!("`{var}`")).collect();
                Complaint::error(format!("the shape variable {} is not in scope", vars.concat()))
            })],
        )
    }

    /// SI.DERIVE.SHAPEEXPR.
    fn shape_expr(&mut self, shape: &ShapeExpr) -> Option<StructInfo> {
        let known = self.in_sigma(&shape.values, shape.span);
        known.then(|| self.cx.conclude(rule!("SI.DERIVE.SHAPEEXPR"), info_of_shape(shape)))
    }

    /// SI.DERIVE.TUPLE.
    fn tuple(&mut self, tuple: &'m Tuple) -> Option<StructInfo> {
        let mut fields = Vec::with_capacity(tuple.fields.len());
        for (i, field) in tuple.fields.iter().enumerate() {
            fields.push(self.at(TrailStep::Item("fields", i), |d| d.expr(field)));
        }
        let fields: Option<Vec<StructInfo>> = fields.into_iter().collect();
        let info = fields.map(|fields| self.cx.conclude(rule!("SI.DERIVE.TUPLE"), StructInfo::tuple(fields)));
        self.within_bounds(info, tuple.span)
    }

    /// The information, unless the work on it would exceed the bound.
    pub(super) fn within_bounds(&mut self, info: Option<StructInfo>, span: Span) -> Option<StructInfo> {
        let info = info?;
        if self.parts.allow_info(&info) {
            return Some(info);
        }
        self.complain(rule!("SI.DERIVE.TUPLE"), span, &|| Complaint::limit(TOO_WIDE));
        None
    }

    /// SI.DERIVE.IF: the join of the branches. The condition is derived only to report its errors.
    fn if_expr(&mut self, branch: &'m If) -> Option<StructInfo> {
        if self.cx.fire(rule!("SI.DERIVE.IF.COND")) {
            let cond = self.at(TrailStep::Field("cond"), |d| d.expr(&branch.cond));
            cond.iter().for_each(|cond| self.condition(cond, &branch.cond));
        }
        let true_info = self.at(TrailStep::Field("true_branch"), |d| d.expr(&branch.true_branch));
        let false_info = self.at(TrailStep::Field("false_branch"), |d| d.expr(&branch.false_branch));
        let (true_info, false_info) = (true_info?, false_info?);
        let scope = &self.scope;
        let joined = unify_struct_info_in(self.cx, &true_info, &false_info, scope);
        let joined = self.cx.conclude(rule!("SI.DERIVE.IF"), joined);
        // TYPE.GENERALIZE: later editions have no common type for both branches and state this rule for structural
        // information.
        Some(if self.declares_purity() { self.cx.conclude(rule!("TYPE.GENERALIZE"), joined) } else { joined })
    }

    /// SI.DERIVE.IF.COND: where types do not check the condition, it must be a Boolean scalar tensor.
    /// SI.DERIVE.IF.COND.PRIM: it may also be a boxed Boolean. SI.DERIVE.IF.PRIMEXPR: it may also be an expression over
    /// shape variables.
    ///
    /// Errata: N40. Read literally, no rule checks it. M01: a `PrimFunc` is accepted.
    fn condition(&mut self, cond: &StructInfo, expr: &Expr) {
        if !self.declares_purity() || self.cx.literal(Erratum::N40) {
            return;
        }
        if expr.is_over_shape_vars() && self.cx.has(rule!("SI.DERIVE.IF.PRIMEXPR")) {
            return self.condition_over_shape_vars(cond, expr.span());
        }
        if self.is_prim_func(expr) && self.cx.literal(Erratum::M01) {
            return;
        }
        let scalar = StructInfo::tensor([], DataType::BOOL);
        let fits = self.fits_condition(cond, &scalar);
        let cond = ClosedDisplay(cond);
        self.demand_in_turn(
            expr.span(),
            &[
                (rule!("SI.DERIVE.IF.COND"), 1, fits != Fit::Never, &|| {
                    Complaint::error(format!("the condition is {cond}, where {scalar} is expected"))
                }),
                (rule!("SI.DERIVE.IF.COND"), 2, fits != Fit::Perhaps, &|| {
                    Complaint::warning(format!("the condition is {cond}, and may not be {scalar} as expected"))
                }),
            ],
        );
    }

    /// Errata: M03. Read literally, no expression over shape variables is Boolean.
    fn condition_over_shape_vars(&mut self, cond: &StructInfo, span: Span) {
        let is_boolean =
            matches!(cond, StructInfo::Prim(prim) if prim.dtype.is_bool()) && !self.cx.literal(Erratum::M03);
        self.demand(
            span,
            &[(rule!("SI.DERIVE.IF.PRIMEXPR"), 1, is_boolean, &|| {
                Complaint::error("the condition is a number").with_hint("compare it with another")
            })],
        );
    }

    /// Errata: M04. Read literally, a condition that is not boxed is exactly a Boolean scalar. N67: a boxed value is
    /// never a condition.
    fn fits_condition(&mut self, cond: &StructInfo, scalar: &StructInfo) -> Fit {
        let fits = if self.cx.literal(Erratum::M04) {
            if cond == scalar { Fit::Certainly } else { Fit::Never }
        } else {
            // A scalar has no dimensions that could be unknown.
            Fit::by_subtyping(self.cx, cond, &StructInfo::tensor_ndim(0, DataType::BOOL), &self.scope)
        };
        let boxed = matches!(cond, StructInfo::Prim(prim) if prim.dtype.is_bool());
        if boxed && !self.cx.has(rule!("SI.DERIVE.IF.COND.PRIM")) && !self.cx.literal(Erratum::N67) {
            return Fit::Certainly;
        }
        self.cx.by_cases(&[(rule!("SI.DERIVE.IF.COND.PRIM"), boxed, Fit::Certainly)]).unwrap_or(fits)
    }

    /// SI.DERIVE.TGI, with the conditions SI.DERIVE.TGI.NOTTUPLE and SI.DERIVE.TGI.BOUND.
    fn tuple_get_item(&mut self, get: &'m TupleGetItem) -> Option<StructInfo> {
        let tuple = self.at(TrailStep::Field("tuple_value"), |d| d.expr(&get.tuple_value))?;
        let fields = tuple.as_tuple();
        let shown = ClosedDisplay(&tuple);
        self.demand(
            get.span,
            &[(rule!("SI.DERIVE.TGI.NOTTUPLE"), 1, fields.is_some(), &|| {
                Complaint::error(format!("field {} is taken of {shown}, which is not known to be a tuple", get.index))
                    .with_hint("cast the value to a tuple first")
            })],
        );
        let fields = fields?;
        let field = usize::try_from(get.index).ok().and_then(|index| fields.get(index));
        self.demand(
            get.span,
            &[(rule!("SI.DERIVE.TGI.BOUND"), 1, field.is_some(), &|| {
                Complaint::error(format!("a tuple of {} fields has no field {}", fields.len(), get.index))
            })],
        );
        field.map(|field| self.cx.conclude(rule!("SI.DERIVE.TGI"), field.clone()))
    }

    /// SI.DERIVE.SEQ: derives the blocks and the body, and erases the body's information to the outer scope.
    fn seq_expr(&mut self, seq: &'m SeqExpr) -> Option<StructInfo> {
        let (delta, sigma) = (self.scope.delta.mark(), self.scope.sigma.mark());
        if self.cx.fire(rule!("SI.DERIVE.SEQ.BINDINGS")) {
            seq.blocks
                .iter()
                .enumerate()
                .for_each(|(i, block)| self.at(TrailStep::Item("blocks", i), |d| d.block(block)));
        }
        let body = self.at(TrailStep::Field("body"), |d| d.expr(&seq.body));
        let body = self.within_bounds(body, seq.body.span());
        let body = body.map(|body| self.cx.conclude(rule!("SI.DERIVE.SEQ.BODY"), body));
        if self.cx.fire(rule!("SI.DERIVE.SEQ.REMOVE")) {
            self.scope.delta.leave(delta);
            self.scope.sigma.leave(sigma);
        }
        let (body, scope) = (body?, &self.scope);
        let erased = erase_to_well_defined(self.cx, &body, scope);
        let erased = self.cx.conclude(rule!("SI.DERIVE.SEQ.ERASE"), erased);
        // Variables in parameters that are no longer in scope become variables of the function type.
        Some(self.closed(&erased))
    }

    fn block(&mut self, block: &'m BindingBlock) {
        let mark = self.scope.delta.mark();
        self.scope.delta.reserve(block.bindings.len());
        self.report.vars.reserve(block.bindings.len());
        let around = self.place.in_dataflow;
        self.place.in_dataflow |= block.kind == BlockKind::Dataflow;
        for (i, binding) in block.bindings.iter().enumerate() {
            self.at(TrailStep::Item("bindings", i), |d| d.binding(binding));
        }
        self.place.in_dataflow = around;
        if block.kind == BlockKind::Dataflow && self.cx.fire(rule!("SI.DERIVE.SEQ.DF-DROP")) {
            self.scope.delta.leave_some(mark, |_, entry| entry.dataflow);
            block.bindings.iter().filter_map(Binding::binder).for_each(|binder| self.forget_dataflow_vars(binder));
        }
    }

    /// Erases from the information of a variable that leaves a `DataflowBlock` the `DataflowVar`s that do not (E28).
    /// Read literally, information about variables that remain in scope is not changed.
    fn forget_dataflow_vars(&mut self, binder: &'m Binder) {
        let Some(InfoEntry { info: Some(info), dataflow }) = self.scope.delta.get(&binder.var) else { return };
        if takes_shape_from_outside(info, &self.scope) && !self.cx.literal(Erratum::E28) {
            let (info, dataflow) = (info.clone(), *dataflow);
            let info = Some(erase_to_well_defined(self.cx, &info, &self.scope));
            self.scope.delta.enter(&binder.var, InfoEntry { info, dataflow });
        }
    }
}

/// Whether a tensor takes its shape from a variable that is not in scope.
pub(super) fn takes_shape_from_outside(info: &StructInfo, scope: &dyn Surroundings) -> bool {
    takes_from_outside(info, scope, &mut VisitedTuples::default())
}

fn takes_from_outside(info: &StructInfo, scope: &dyn Surroundings, seen: &mut VisitedTuples) -> bool {
    with_stack(|| match info {
        StructInfo::Tensor(tensor) => match &tensor.shape {
            Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => !scope.has_var(var),
            Some(TensorShape::Dims(_) | TensorShape::Other(_)) | None => false,
        },
        StructInfo::Tuple(fields) => {
            is_new(fields, seen) && fields.iter().any(|field| takes_from_outside(field, scope, seen))
        }
        StructInfo::Func(func) => {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).any(|part| takes_from_outside(part, scope, seen))
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    })
}

/// The information of a literal: a constant, a `ShapeExpr` or a `PrimValue`.
pub fn info_of_literal(expr: &Expr) -> Option<StructInfo> {
    if let Expr::Constant(constant) = expr {
        Some(info_of_constant(constant))
    } else if let Expr::ShapeExpr(shape) = expr {
        Some(info_of_shape(shape))
    } else if let Expr::PrimValue(prim) = expr {
        Some(StructInfo::prim(prim.dtype))
    } else {
        None
    }
}

/// SI.DERIVE.CONST: rank, data type and dimensions of the data.
fn info_of_constant(constant: &Constant) -> StructInfo {
    let dims: Option<Vec<PrimExpr>> =
        constant.data.shape.iter().map(|dim| i64::try_from(*dim).ok().map(PrimExpr::from)).collect();
    let dtype: DataType = constant.data.dtype;
    match dims {
        Some(dims) => StructInfo::tensor(dims, dtype),
        // A size beyond int64 cannot be a dimension.
        None => StructInfo::tensor_ndim(i64::try_from(constant.data.shape.len()).unwrap_or(-1), dtype),
    }
}

fn info_of_shape(shape: &ShapeExpr) -> StructInfo {
    StructInfo::shape(shape.values.iter().cloned())
}
