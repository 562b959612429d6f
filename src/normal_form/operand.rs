//! The normalizer: values and operands (step 3 of the procedure).

use std::sync::Arc;

use super::effect::FailureContext;
use super::is_leaf;
use super::normalize::Normalizer;
use crate::book::Erratum;
use crate::findings::{Finder, TrailStep};
use crate::grammar::{
    Binder, Binding, BlockKind, Call, Expr, Function, If, PrimValue, ShapeExpr, Span, StructInfo, Tuple, TupleGetItem,
    Var, VarBinding, VarKind,
};
use crate::judge::with_stack;

/// The parts of a call that are evaluated.
enum EvaluatedCallPart {
    Callee,
    Arguments,
}

impl Normalizer<'_, '_> {
    /// Normalizes an expression as the value of a binding. Its operands are hoisted; the expression stays.
    pub(super) fn value(&mut self, expr: &Expr) -> Expr {
        if self.cx.literal(Erratum::A20) {
            self.hoist_by_levels(expr);
        }
        with_stack(|| match expr {
            Expr::SeqExpr(seq) => self.flatten(expr, seq),
            Expr::Tuple(tuple) => self.tuple(tuple, false),
            Expr::Call(call) => self.call(call),
            Expr::If(branch) => {
                let cond = self.condition(branch);
                self.if_expr(branch, cond)
            }
            Expr::Function(function) => Expr::Function(Arc::new(self.function(function, rule!("NF.ALG.NESTED-FUNC")))),
            Expr::TupleGetItem(get) => Expr::TupleGetItem(Arc::new(TupleGetItem {
                tuple_value: self.at(TrailStep::Field("tuple_value"), |n| n.operand(&get.tuple_value, false)),
                index: get.index,
                span: get.span,
            })),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => self.leaf(expr),
        })
    }

    /// Copies an expression with its shape variables replaced.
    pub(super) fn leaf(&mut self, expr: &Expr) -> Expr {
        if let Expr::ShapeExpr(shape) = expr {
            Expr::ShapeExpr(ShapeExpr { values: self.dims(&shape.values), span: shape.span })
        } else if let Expr::PrimValue(prim) = expr {
            Expr::PrimValue(PrimValue { value: self.prim_expr(&prim.value), ..prim.clone() })
        } else {
            expr.clone()
        }
    }

    /// NF.1.LEAF.PRIMEXPR: a condition over shape variables stays in place.
    fn condition(&mut self, branch: &If) -> Expr {
        let cond = &branch.cond;
        let moves = cond.is_over_shape_vars() && !self.cx.conclude(rule!("NF.1.LEAF.PRIMEXPR"), true);
        self.at(TrailStep::Field("cond"), |n| if moves { n.hoist(cond) } else { n.operand(cond, false) })
    }

    /// NF.ALG.4.IF: bindings hoisted in a branch stay in the branch.
    fn if_expr(&mut self, branch: &If, cond: Expr) -> Expr {
        let side =
            |n: &mut Self, field, side| n.at(TrailStep::Field(field), |n| n.sequence(side, rule!("NF.ALG.4.IF")));
        Expr::If(Arc::new(If {
            cond,
            true_branch: side(self, "true_branch", &branch.true_branch),
            false_branch: side(self, "false_branch", &branch.false_branch),
            span: branch.span,
        }))
    }

    fn tuple(&mut self, tuple: &Tuple, effect_follows: bool) -> Expr {
        let fields = self.operands("fields", &tuple.fields, effect_follows);
        Expr::Tuple(Arc::new(Tuple { fields, span: tuple.span }))
    }

    /// NF.ALG.3.CALLEE: the callee comes before the arguments.
    fn call(&mut self, call: &Call) -> Expr {
        let (mut op, mut args) = (None, Vec::new());
        for part in
            self.cx.conclude(rule!("NF.ALG.3.CALLEE"), [EvaluatedCallPart::Callee, EvaluatedCallPart::Arguments])
        {
            match part {
                EvaluatedCallPart::Callee => op = Some(self.callee(call)),
                EvaluatedCallPart::Arguments => args = self.operands("args", &call.args, false),
            }
        }
        let args = self.with_inputs_as_tuple(call, args);
        Expr::Call(Arc::new(Call {
            op: op.unwrap_or_else(|| call.op.clone()),
            args,
            sinfo_args: call.sinfo_args.iter().map(|info| self.struct_info(info)).collect(),
            attrs: self.attrs(&call.attrs),
            span: call.span,
        }))
    }

    /// NF.ALG.6.OPNORM, NF.5.OPNORM.EXPAND: replaces a variable that holds the inputs by a tuple of its fields. The
    /// fields are those of its bound tuple, or else variables for them.
    fn with_inputs_as_tuple(&mut self, call: &Call, mut args: Vec<Expr>) -> Vec<Expr> {
        if let Some(inputs) = self.tuples.inputs_elsewhere(self.cx, call)
            && self.cx.fire(rule!("NF.ALG.6.OPNORM"))
            && self.cx.fire(rule!("NF.5.OPNORM.EXPAND"))
        {
            self.expand_inputs(&inputs, call.span, &mut args);
        }
        args
    }

    fn expand_inputs(&mut self, inputs: &Var, span: Span, args: &mut [Expr]) {
        let count = self.tuples.fields_of(inputs);
        let fields = match self.tuples.literal_of(inputs) {
            Some(fields) => fields,
            None => (0..count).filter_map(|index| self.field_of(args.get(1)?.clone(), index, span)).collect(),
        };
        if let Some(given) = args.get_mut(1) {
            *given = Expr::Tuple(Arc::new(Tuple { fields, span }));
        }
    }

    /// A new variable for a field.
    fn field_of(&mut self, tuple_value: Expr, index: usize, span: Span) -> Option<Expr> {
        let index = i64::try_from(index).ok()?;
        Some(self.bind_fresh(&Expr::TupleGetItem(Arc::new(TupleGetItem { tuple_value, index, span }))))
    }

    /// NF.1.LEAF.OTHERS: an `Op` or an `ExternFunc` stays in callee position.
    fn callee(&mut self, call: &Call) -> Expr {
        self.at(TrailStep::Field("op"), |n| match &call.op {
            Expr::Op(_) => call.op.clone(),
            Expr::ExternFunc(_) if !n.is_looked_up_before_an_effect(&call.args) => call.op.clone(),
            Expr::GlobalVar(_) if n.may_fail(&call.op) && n.is_looked_up_before_an_effect(&call.args) => {
                n.hoist(&call.op)
            }
            callee => n.operand(callee, false),
        })
    }

    /// Whether an expression may fail if it stays in place.
    fn may_fail(&self, expr: &Expr) -> bool {
        FailureContext { module: self.module, boxed: &self.boxed }.may_fail(expr)
    }

    /// NF.PRESERVES: an `ExternFunc` that is not found would fail after the effects of the arguments if it stayed in
    /// place.
    fn is_looked_up_before_an_effect(&mut self, args: &[Expr]) -> bool {
        args.iter().any(|arg| self.effects.possible(arg)) && self.cx.conclude(rule!("NF.PRESERVES"), true)
    }

    /// NF.ALG.3.ORDER: operands are hoisted from left to right, each after its own operands (A20).
    fn operands(&mut self, field: &'static str, exprs: &[Expr], effect_follows: bool) -> Vec<Expr> {
        // Later effects matter only for a leaf that may fail.
        let asks = exprs.iter().any(|expr| self.may_fail(expr) || matches!(expr, Expr::Tuple(_)));
        let last_effect = if asks { exprs.iter().rposition(|expr| self.effects.possible(expr)) } else { None };
        let mut done = Vec::with_capacity(exprs.len());
        for (i, expr) in self.cx.conclude(rule!("NF.ALG.3.ORDER"), exprs.iter().enumerate().collect::<Vec<_>>()) {
            let follows = effect_follows || last_effect.is_some_and(|last| last > i);
            done.push((i, self.at(TrailStep::Item(field, i), |n| n.operand(expr, follows))));
        }
        done.sort_by_key(|(i, _)| *i);
        done.into_iter().map(|(_, operand)| operand).collect()
    }

    /// Normalizes an expression as an operand: a leaf, or a variable bound to it.
    pub(super) fn operand(&mut self, expr: &Expr, effect_follows: bool) -> Expr {
        if let Some(var) = self.hoisted_early(expr) {
            return var;
        }
        match expr {
            Expr::Tuple(tuple) => with_stack(|| self.tuple(tuple, effect_follows)),
            Expr::Op(_) => expr.clone(),
            _ if is_leaf(self.cx, expr) => {
                // In place it would fail after the effect instead of before.
                let late = effect_follows && self.may_fail(expr);
                if late && self.cx.fire(rule!("NF.PRESERVES")) { self.hoist(expr) } else { self.leaf(expr) }
            }
            _ => self.hoist(expr),
        }
    }

    /// NF.ALG.3.HOIST: binds an expression to a fresh variable in the current block.
    pub(super) fn hoist(&mut self, expr: &Expr) -> Expr {
        let mut operand = expr.clone();
        if self.cx.fire(rule!("NF.ALG.3.HOIST")) {
            operand = self.bind_fresh(expr);
        }
        operand
    }

    fn bind_fresh(&mut self, expr: &Expr) -> Expr {
        let (binder, value) = self.bound_value(expr);
        let result = binder.to_expr();
        self.emit(Binding::VarBinding(VarBinding { var: binder, value, span: expr.span() }));
        result
    }

    /// Normalizes an expression as the value of a new binding. Fresh variables are numbered in the order of the text:
    /// first those of the operands, then the new one, then those inside branches and bodies.
    pub(super) fn bound_value(&mut self, expr: &Expr) -> (Binder, Expr) {
        with_stack(|| match expr {
            Expr::If(branch) => {
                let cond = self.condition(branch);
                (self.hoisted_binder(expr), self.if_expr(branch, cond))
            }
            Expr::Function(_) => (self.hoisted_binder(expr), self.value(expr)),
            _ => {
                let value = self.value(expr);
                (self.hoisted_binder(expr), value)
            }
        })
    }

    /// NF.ALG.3.FRESH-KIND: a `DataflowVar` inside a `DataflowBlock`, a `Var` elsewhere.
    fn hoisted_binder(&mut self, expr: &Expr) -> Binder {
        let dataflow = self.block.kind == BlockKind::Dataflow;
        let kind = self.cx.by_cases(&[(rule!("NF.ALG.3.FRESH-KIND"), dataflow, VarKind::DataflowVar)]);
        let annotation = match expr {
            Expr::Function(function) => self.annotation_of_literal(function),
            _ => None,
        };
        Binder { var: self.fresh().var(), kind: kind.unwrap_or(VarKind::Var), annotation }
    }

    /// NF.ALG.LAMBDA-ARG: the annotation of a hoisted literal follows from the literal's own annotations.
    ///
    /// Errata: A38. Read literally, it has no annotation, and type checking rejects the binding.
    fn annotation_of_literal(&mut self, function: &Function) -> Option<StructInfo> {
        let annotated = !self.cx.literal(Erratum::A38) && self.cx.fire(rule!("NF.ALG.LAMBDA-ARG"));
        annotated.then(|| self.struct_info(&function.signature()))
    }
}
