//! Leaves, tuples, conditionals, projections and sequences.

use super::Checker;
use crate::book::Erratum;
use crate::findings::{Finder, Step};
use crate::grammar::{
    BindingBlock, BlockKind, Constant, DataType, Expr, GlobalVar, If, Ndim, SeqExpr, ShapeExpr, Tuple, TupleGetItem,
    Type, Var,
};
use crate::judge::with_stack;
use crate::types::find_lub;

impl<'m> Checker<'_, 'm> {
    /// `Γ ⊢ e : T`, or `None` after an error.
    pub(super) fn expr(&mut self, expr: &'m Expr) -> Option<Type> {
        match expr {
            Expr::Constant(constant) => self.constant(constant),
            Expr::Var(var) | Expr::DataflowVar(var) => self.var(var),
            Expr::GlobalVar(gv) => self.global_var(gv),
            Expr::Tuple(tuple) => with_stack(|| self.tuple(tuple)),
            Expr::SeqExpr(seq) => with_stack(|| self.seq_expr(seq)),
            Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => Some(Type::Object),
            Expr::Function(function) => with_stack(|| self.function(function, false)),
            Expr::If(branch) => with_stack(|| self.if_expr(branch)),
            Expr::ExternFunc(func) => self.by(rule!("TC.EXTERNFUNC"), func.span).then_some(Type::PackedFunc),
            Expr::Call(call) => with_stack(|| self.call(call)),
            Expr::ShapeExpr(shape) => self.shape_expr(shape),
            Expr::TupleGetItem(get) => with_stack(|| self.tuple_get_item(get)),
            // Well-formedness keeps operators in callee position (WF.8); elsewhere they have no type.
            Expr::Op(_) => None,
        }
    }

    /// TC.VAR, TC.VAR.UNBOUND.
    fn var(&mut self, var: &'m Var) -> Option<Type> {
        let known = match self.gamma.get(&var) {
            Some(entry) if entry.depth == self.frames.len() => Some(entry.ty.clone()),
            // TC.FUNC.NESTED: a nested function sees the variables around it.
            Some(entry) => {
                let ty = entry.ty.clone();
                self.cx.fire(rule!("TC.FUNC.NESTED")).then_some(ty)
            }
            None => None,
        };
        let known = if self.cx.fire(rule!("TC.VAR")) { known } else { None };
        if !self.cx.premise(rule!("TC.VAR.UNBOUND"), 1, known.is_some()) {
            self.error(rule!("TC.VAR.UNBOUND"), var.span, format!("`{var}` is not in the typing context"));
        }
        known.flatten()
    }

    fn global_var(&mut self, gv: &'m GlobalVar) -> Option<Type> {
        let known = self.globals.get(&*gv.name).cloned();
        let known = if self.cx.fire(rule!("TC.VAR")) { known } else { None };
        if !self.cx.premise(rule!("TC.VAR.UNBOUND"), 1, known.is_some()) {
            self.error(rule!("TC.VAR.UNBOUND"), gv.span, format!("`{}` is not in the typing context", gv.name));
        }
        known.flatten()
    }

    /// TC.CONST: rank and data type of the data.
    fn constant(&mut self, constant: &Constant) -> Option<Type> {
        let (rank, dtype) = (constant.data.shape.len(), constant.data.dtype);
        let rank = i64::try_from(rank).unwrap_or(-1);
        self.by(rule!("TC.CONST"), constant.span).then(|| Type::tensor(rank, dtype))
    }

    /// TC.SHAPEEXPR.
    fn shape_expr(&mut self, shape: &ShapeExpr) -> Option<Type> {
        let rank = i64::try_from(shape.values.len()).unwrap_or(-1);
        self.by(rule!("TC.SHAPEEXPR"), shape.span).then(|| Type::shape(rank))
    }

    /// TC.TUPLE.
    fn tuple(&mut self, tuple: &'m Tuple) -> Option<Type> {
        let mut fields = Vec::with_capacity(tuple.fields.len());
        for (i, field) in tuple.fields.iter().enumerate() {
            fields.push(self.at(Step::Item("fields", i), |c| c.expr(field)));
        }
        let fields: Option<Vec<Type>> = fields.into_iter().collect();
        fields.filter(|_| self.by(rule!("TC.TUPLE"), tuple.span)).map(Type::tuple)
    }

    fn if_expr(&mut self, branch: &'m If) -> Option<Type> {
        let cond = self.at(Step::Field("cond"), |c| c.expr(&branch.cond));
        if let Some(cond) = cond {
            self.condition(branch, &cond);
        }
        let true_type = self.at(Step::Field("true_branch"), |c| c.expr(&branch.true_branch));
        // TC.IF.BRANCHES: both are checked, whatever is known of the condition.
        if !self.cx.fire(rule!("TC.IF.BRANCHES")) {
            return true_type;
        }
        let false_type = self.at(Step::Field("false_branch"), |c| c.expr(&branch.false_branch));
        let (true_type, false_type) = (true_type?, false_type?);
        if !self.by(rule!("TC.IF.LUB"), branch.span) {
            return None;
        }
        let lub = find_lub(self.cx, &true_type, &false_type);
        // TYPE.GENERALIZE: branches of different types are no error.
        let precise = lub == true_type && lub == false_type;
        (precise || self.by(rule!("TYPE.GENERALIZE"), branch.span)).then_some(lub)
    }

    /// VAL.OBJECT.UNUSABLE: an arbitrary object cannot be called, indexed or used as a condition.
    pub(super) fn usable_object(&mut self, ty: &Type) -> bool {
        *ty == Type::Object && !self.cx.fire(rule!("VAL.OBJECT.UNUSABLE"))
    }

    /// TC.IF.COND: exactly a Boolean scalar.
    fn condition(&mut self, branch: &If, cond: &Type) {
        let boolean = *cond == Type::tensor(0, DataType::BOOL) || self.counts_as_bool(cond) || self.usable_object(cond);
        if !self.cx.premise(rule!("TC.IF.COND"), 1, boolean) {
            let message = format!("the condition of an If has the type {cond}, not that of a Boolean scalar");
            let hint = "cast the condition to R.Tensor((), \"bool\") first";
            self.error_with_hint(rule!("TC.IF.COND"), branch.cond.span(), message, hint);
        }
    }

    /// PR14148.DTYPE.BOOL.DISTINCT: no unsigned integer of another width is a Boolean.
    fn counts_as_bool(&mut self, cond: &Type) -> bool {
        match cond {
            Type::Tensor(t) => {
                let of_uint = t.ndim == Ndim::Known(0) && t.dtype.is_uint() && !t.dtype.is_bool();
                of_uint && !self.cx.fire(rule!("PR14148.DTYPE.BOOL.DISTINCT"))
            }
            Type::Object | Type::Shape(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc => false,
        }
    }

    /// TC.TGI, with the conditions TC.TGI.NOTTUPLE and TC.TGI.BOUND.
    fn tuple_get_item(&mut self, get: &'m TupleGetItem) -> Option<Type> {
        let tuple = self.at(Step::Field("tuple_value"), |c| c.expr(&get.tuple_value))?;
        let fields = if let Type::Tuple(fields) = &tuple { Some(fields) } else { None };
        let is_tuple = fields.is_some() || self.usable_object(&tuple);
        if !self.cx.premise(rule!("TC.TGI.NOTTUPLE"), 1, is_tuple) {
            let message = format!("field {} is taken of a value of type {tuple}, which is not a tuple", get.index);
            self.error_with_hint(rule!("TC.TGI.NOTTUPLE"), get.span, message, "cast the value to a tuple first");
        }
        let fields = fields?;
        let field = usize::try_from(get.index).ok().and_then(|index| fields.get(index));
        if !self.cx.premise(rule!("TC.TGI.BOUND"), 1, self.has_field(fields.len(), get.index)) {
            let message = format!("a tuple of {} fields has no field {}", fields.len(), get.index);
            self.error(rule!("TC.TGI.BOUND"), get.span, message);
        }
        field.filter(|_| self.by(rule!("TC.TGI"), get.span)).cloned()
    }

    /// Errata: A23, literally `i` fields are enough for the index `i`.
    fn has_field(&self, fields: usize, index: i64) -> bool {
        match usize::try_from(index) {
            Ok(index) if self.cx.literal(Erratum::A23) => index <= fields,
            Ok(index) => index < fields,
            Err(_) => false,
        }
    }

    /// TC.SEQ.RESULT: the body's type in the context after the last block.
    fn seq_expr(&mut self, seq: &'m SeqExpr) -> Option<Type> {
        let mark = self.gamma.mark();
        seq.blocks.iter().enumerate().for_each(|(i, block)| self.at(Step::Item("blocks", i), |c| c.block(block)));
        let body = self.at(Step::Field("body"), |c| c.expr(&seq.body));
        if self.cx.fire(rule!("TC.SEQ.POP")) {
            self.gamma.leave(mark);
        }
        body.filter(|_| self.by(rule!("TC.SEQ.RESULT"), seq.span))
    }

    fn block(&mut self, block: &'m BindingBlock) {
        let mark = self.gamma.mark();
        self.gamma.reserve(block.bindings.len());
        self.report.vars.reserve(block.bindings.len());
        let dataflow = block.kind == BlockKind::Dataflow;
        self.count_dataflow(dataflow, |n| n + 1);
        let in_order = self.cx.fire(rule!("TC.SEQ.ORDER"));
        for k in 0..block.bindings.len() {
            let i = if in_order { k } else { block.bindings.len() - 1 - k };
            self.at(Step::Item("bindings", i), |c| c.binding(&block.bindings[i]));
        }
        self.count_dataflow(dataflow, |n| n - 1);
        if self.cx.rule(rule!("TC.SEQ.DF-DROP"), dataflow) {
            self.gamma.leave_some(mark, |_, entry| entry.dataflow);
        }
    }

    fn count_dataflow(&mut self, dataflow: bool, count: impl Fn(usize) -> usize) {
        if dataflow && let Some(frame) = self.frames.last_mut() {
            frame.in_dataflow = count(frame.in_dataflow);
        }
    }
}
