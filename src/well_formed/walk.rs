//! The traversal, in the order of evaluation, and criteria 6 and 8.

use super::WellFormedChecker;
use super::bound::{ScopeRegion, SequencePoint};
use super::recursion::DenotedFunction;
use super::shape_var::Position;
use crate::book::Erratum;
use crate::findings::{Complaint, Finder, TrailStep};
use crate::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Call, Expr, Function, GlobalVar, If, MatchCast, PrimExpr, PrimValue,
    SeqExpr, Span, StructInfo, VarBinding, VarKind,
};
use crate::judge::with_stack;

use std::slice::from_ref;

impl<'m> WellFormedChecker<'_, 'm> {
    /// An expression anywhere but in callee position.
    pub(super) fn expr(&mut self, expr: &'m Expr) {
        if let Expr::Op(op) = expr {
            self.op_is_callee(&op.op_name, op.span, false)
        } else if let Expr::Function(function) = expr {
            self.anonymous_function(function)
        } else if let Expr::Var(_) | Expr::DataflowVar(_) = expr {
            self.inside(expr)
        } else {
            with_stack(|| self.inside(expr))
        }
    }

    fn inside(&mut self, expr: &'m Expr) {
        match expr {
            Expr::StringImm(_) | Expr::ExternFunc(_) => {}
            Expr::Constant(constant) => self.datatype_of_value(constant.data.dtype, constant.span),
            Expr::DataTypeImm(imm) => self.datatype_named(imm.value, imm.span),
            Expr::Var(var) => {
                self.use_var(var, VarKind::Var);
            }
            Expr::DataflowVar(var) => {
                self.use_var(var, VarKind::DataflowVar);
            }
            Expr::GlobalVar(gv) => self.use_global(gv),
            Expr::Tuple(tuple) => {
                for (i, field) in tuple.fields.iter().enumerate() {
                    self.at(TrailStep::Item("fields", i), |c| c.expr(field));
                }
            }
            Expr::SeqExpr(seq) => self.seq_expr(seq),
            Expr::PrimValue(prim) => {
                self.datatype_of_value(prim.dtype, prim.span);
                self.is_immediate(prim);
                self.dims_of_expr(from_ref(&prim.value), prim.span);
            }
            Expr::ShapeExpr(shape) => self.dims_of_expr(&shape.values, shape.span),
            Expr::If(branch) => self.if_expr(branch),
            Expr::Call(call) => self.call(call),
            Expr::TupleGetItem(get) => self.at(TrailStep::Field("tuple_value"), |c| c.expr(&get.tuple_value)),
            Expr::Op(_) | Expr::Function(_) => self.expr(expr),
        }
    }

    /// WF23-12.18: a boxed scalar is written as a number.
    ///
    /// Errata: N03, evaluation gives every expression a meaning, so this is only advice.
    fn is_immediate(&mut self, prim: &PrimValue) {
        let immediate = prim.float.is_some() || matches!(prim.value, PrimExpr::IntImm(_));
        let computed = "a PrimValue is computed, where a number is meant";
        let literal = self.cx.literal(Erratum::N03);
        self.demand(
            prim.span,
            &[(rule!("WF23-12.18"), 1, immediate, &|| {
                if literal { Complaint::error(computed) } else { Complaint::warning(computed) }
            })],
        );
    }

    /// WF.8: an operator occurs only as a callee.
    fn op_is_callee(&mut self, name: &str, span: Span, callee: bool) {
        self.demand(
            span,
            &[(rule!("WF.8"), 1, callee, &|| {
                Complaint::error(format!("the operator `{name}` stands where it is not called"))
                    .with_hint("call it, or wrap the call in a function and use that")
            })],
        );
    }

    /// SCOPE.GLOBAL: every global function sees every `GlobalVar` of the module, itself included.
    fn use_global(&mut self, gv: &GlobalVar) {
        let visible = match self.globals.get(&*gv.name).copied() {
            None => false,
            Some(index) => self.cx.conclude(rule!("SCOPE.GLOBAL"), true) && self.sees(index),
        };
        self.demand(
            gv.span,
            &[(rule!("SCOPE.BIND-ONCE.GLOBAL"), 2, visible, &|| {
                Complaint::error(format!("the module binds no function `{}`", gv.name)).with_hint(format!(
                    "define it in the module; a packed function of that name is called by \
                     `R.call_packed(\"{0}\", ..)`, and by `R.call_dps_packed(\"{0}\", ..)` in the place of `R.call_tir`",
                    gv.name
                ))
            })],
        );
    }

    /// SCOPE.FUNC.REC-GLOBAL and SCOPE.GLOBAL.MUTUAL: the order of the functions in the module does not matter.
    fn sees(&mut self, index: usize) -> bool {
        let itself = index == self.global;
        let is_earlier = index < self.global;
        (!itself || self.cx.conclude(rule!("SCOPE.FUNC.REC-GLOBAL"), true))
            && (is_earlier || self.cx.conclude(rule!("SCOPE.GLOBAL.MUTUAL"), true))
    }

    fn call(&mut self, call: &'m Call) {
        self.at(TrailStep::Field("op"), |c| match &call.op {
            // WF.SYNTACTIC: the criteria do not ask whether the operator exists.
            Expr::Op(op) => {
                let registered = || crate::ops::lookup(&op.op_name).is_some();
                let callee = c.cx.fire(rule!("WF.SYNTACTIC")) || registered();
                c.op_is_callee(&op.op_name, op.span, callee);
            }
            callee => c.expr(callee),
        });
        for (i, arg) in call.args.iter().enumerate() {
            self.at(TrailStep::Item("args", i), |c| c.expr(arg));
        }
        for (i, info) in call.sinfo_args.iter().enumerate() {
            self.at(TrailStep::Item("sinfo_args", i), |c| c.sinfo_arg(info, call.span));
        }
        self.call_to(call);
    }

    /// SI.DERIVEFUNC.SCOPE: the `sinfo_args` of a call count as annotations.
    fn sinfo_arg(&mut self, info: &'m StructInfo, span: Span) {
        if self.cx.conclude(rule!("SI.DERIVEFUNC.SCOPE"), true) {
            self.annotation(info, Position::Other, span);
        }
    }

    /// WF.6.IF: a `DataflowBlock` is free of control flow.
    fn if_expr(&mut self, branch: &'m If) {
        let in_dataflow = self.functions.last().is_some_and(|frame| frame.in_dataflow > 0);
        let outside = self.cx.conclude(rule!("R89.DF.NOCONTROL"), !in_dataflow);
        self.demand(
            branch.span,
            &[(rule!("WF.6.IF"), 1, outside, &|| {
                Complaint::error("an If inside a DataflowBlock").with_hint("move it into an ordinary BindingBlock")
            })],
        );
        self.at(TrailStep::Field("cond"), |c| c.condition(&branch.cond));
        self.at(TrailStep::Field("true_branch"), |c| c.branch(&branch.true_branch));
        self.at(TrailStep::Field("false_branch"), |c| c.branch(&branch.false_branch));
    }

    /// SI.DERIVE.IF.PRIMEXPR: a condition over shape variables is written directly, so criterion 18 about `PrimValue`s
    /// does not apply.
    fn condition(&mut self, cond: &'m Expr) {
        match cond {
            Expr::PrimValue(prim) if cond.is_over_shape_vars() && self.cx.has(rule!("SI.DERIVE.IF.PRIMEXPR")) => {
                self.dims_of_expr(from_ref(&prim.value), prim.span);
            }
            other => self.expr(other),
        }
    }

    fn branch(&mut self, branch: &'m Expr) {
        self.expr(branch);
    }

    fn seq_expr(&mut self, seq: &'m SeqExpr) {
        let sequence = self.open_sequence();
        let shapes = self.shapes.mark();
        for (i, block) in seq.blocks.iter().enumerate() {
            self.stand_at(sequence, SequencePoint::Block(i));
            self.at(TrailStep::Item("blocks", i), |c| c.block(block, sequence, i));
        }
        self.stand_at(sequence, SequencePoint::Body);
        self.at(TrailStep::Field("body"), |c| c.expr(&seq.body));
        self.close_sequence();
        if self.cx.fire(rule!("SCOPE.SEQ.SHAPEVAR-EXIT")) && self.cx.fire(rule!("SI.DIM.SCOPE.CAST")) {
            self.shapes.leave(shapes);
        }
    }

    fn block(&mut self, block: &'m BindingBlock, sequence: usize, index: usize) {
        let region = ScopeRegion::Block { sequence, block: index, kind: block.kind };
        let start = self.visible_count();
        self.relax.reserve(block.bindings.len());
        self.count_dataflow(block.kind, |n| n + 1);
        for (i, binding) in block.bindings.iter().enumerate() {
            self.at(TrailStep::Item("bindings", i), |c| match binding {
                Binding::VarBinding(binding) => c.var_binding(binding, region),
                Binding::MatchCast(cast) => c.match_cast(cast, region),
            });
        }
        self.count_dataflow(block.kind, |n| n - 1);
        self.close_block(block.kind, start);
    }

    fn count_dataflow(&mut self, kind: BlockKind, count: impl Fn(usize) -> usize) {
        if kind == BlockKind::Dataflow
            && let Some(frame) = self.functions.last_mut()
        {
            frame.in_dataflow = count(frame.in_dataflow);
        }
    }

    fn var_binding(&mut self, binding: &'m VarBinding, region: ScopeRegion) {
        let binder = &binding.var;
        self.at(TrailStep::Field("var"), |c| {
            c.dataflow_var_in_dataflow_block(binder, region);
            c.bound_once(binder, region);
        });
        let callee = match &binding.value {
            Expr::Function(function) => self.named_function(binder, function),
            value => {
                self.define(binder, region);
                self.at(TrailStep::Field("value"), |c| c.expr(value));
                self.denotes(value)
            }
        };
        self.annotated(binder);
        self.bind(binder, region, callee);
    }

    /// A function literal that is the right side of a binding may call itself by the name of its variable.
    fn named_function(&mut self, binder: &'m Binder, function: &'m Function) -> DenotedFunction {
        let callee = self.next_local();
        let start = self.visible_count();
        self.bind(binder, ScopeRegion::OwnLiteral, callee);
        self.at(TrailStep::Field("value"), |c| c.function(function, callee));
        self.leave_own_literal(binder, start);
        callee
    }

    /// Errata: A47, literally a function literal in a `MatchCast` may be recursive too.
    fn match_cast(&mut self, cast: &'m MatchCast, region: ScopeRegion) {
        if let Some(binder) = &cast.var {
            self.at(TrailStep::Field("var"), |c| {
                c.dataflow_var_in_dataflow_block(binder, region);
                c.bound_once(binder, region);
            });
        }
        let callee = match (&cast.var, &cast.value) {
            (Some(binder), Expr::Function(function)) if self.cx.literal(Erratum::A47) => {
                self.named_function(binder, function)
            }
            (binder, value) => {
                if let Some(binder) = binder {
                    self.define(binder, region);
                }
                self.at(TrailStep::Field("value"), |c| c.expr(value));
                self.denotes(value)
            }
        };
        self.at(TrailStep::Field("struct_info"), |c| c.annotation(&cast.struct_info, Position::Cast, cast.span));
        if let Some(binder) = &cast.var {
            self.annotated(binder);
            self.bind(binder, region, callee);
        }
    }

    fn annotated(&mut self, binder: &'m Binder) {
        if let Some(info) = &binder.annotation {
            self.at(TrailStep::Field("annotation"), |c| {
                c.annotation_of_variable(info, Position::Other, binder.var.span)
            });
        }
    }

    fn annotation_of_variable(&mut self, info: &'m StructInfo, position: Position, span: Span) {
        self.of_variable = true;
        self.annotation(info, position, span);
        self.of_variable = false;
    }

    /// SCOPE.FUNC.NEST-ANY: a literal may stand wherever an expression may.
    fn anonymous_function(&mut self, function: &'m Function) {
        if self.cx.fire(rule!("SCOPE.FUNC.NEST-ANY")) {
            self.function(function, DenotedFunction::Unknown);
        }
    }

    pub(super) fn function(&mut self, function: &'m Function, callee: DenotedFunction) {
        with_stack(|| {
            let start = self.visible_count();
            let shapes = self.shapes.mark();
            self.enter_function(callee);
            if self.cx.literal(Erratum::A33) {
                self.still_in_dataflow();
            }
            self.forced_is_pure(function);
            self.signature(function);
            self.at(TrailStep::Field("body"), |c| c.expr(&function.body));
            self.leave_function(function);
            if self.cx.fire(rule!("SCOPE.FUNC.LOCAL")) {
                self.leave(start);
            }
            // WF.5.PER-FUNC: a global function cannot see the shape variables of others.
            let separate = !self.functions.is_empty() || self.cx.conclude(rule!("WF.5.PER-FUNC"), true);
            if separate && self.cx.fire(rule!("SCOPE.SHAPEVAR-LIKE-VAR")) && self.cx.fire(rule!("SI.DIM.SCOPE.SIG")) {
                self.shapes.leave(shapes);
            }
        });
    }

    /// WF23-12.21: a function with `force_pure` is declared pure.
    ///
    /// Errata: N20, literally a missing declaration is not enough. N22, literally the attribute counts even if it is
    /// false.
    fn forced_is_pure(&mut self, function: &Function) {
        let forced = if self.cx.literal(Erratum::N22) {
            function.attrs.contains_key("relax.force_pure")
        } else {
            function.force_pure()
        };
        let pure = function.pure.unwrap_or(!self.cx.literal(Erratum::N20));
        self.demand(
            function.span,
            &[(rule!("WF23-12.21"), 1, pure || !forced, &|| {
                Complaint::error("a function with relax.force_pure is declared impure")
                    .with_hint("declare the function pure, or leave out the attribute")
            })],
        );
    }

    /// Errata: A33, literally the body of a literal bound in a `DataflowBlock` is inside the block.
    fn still_in_dataflow(&mut self) {
        if let [.., outer, inner] = self.functions.as_mut_slice() {
            inner.in_dataflow = outer.in_dataflow;
        }
    }

    fn signature(&mut self, function: &'m Function) {
        self.signature_covers(function);
        self.signature_order(function.params.iter().filter_map(|param| param.annotation.as_ref()));
        for (i, param) in function.params.iter().enumerate() {
            self.at(TrailStep::Item("params", i), |c| c.parameter(param));
        }
        self.in_signature = true;
        if let Some(info) = &function.ret_struct_info {
            self.at(TrailStep::Field("ret_struct_info"), |c| c.annotation(info, Position::Return, function.span));
        }
        self.in_signature = false;
    }

    fn parameter(&mut self, param: &'m Binder) {
        self.dataflow_var_in_dataflow_block(param, ScopeRegion::Function);
        self.bound_once(param, ScopeRegion::Function);
        if let Some(info) = &param.annotation {
            self.in_signature = true;
            self.annotation_of_variable(info, Position::Parameter, param.var.span);
            self.in_signature = false;
        }
        self.bind(param, ScopeRegion::Function, DenotedFunction::Unknown);
    }
}
