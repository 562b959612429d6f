//! Leaves, tuples, conditionals, projections and sequences.

use super::TypeChecker;
use super::call::NamedType;
use crate::book::Erratum;
use crate::findings::{Complaint, Finder, TrailStep};
use crate::grammar::width::TOO_WIDE;
use crate::grammar::{
    BindingBlock, BlockKind, Constant, DataType, Expr, GlobalVar, If, Ndim, SeqExpr, ShapeExpr, Span, Tuple,
    TupleGetItem, Type, Var,
};
use crate::judge::with_stack;
use crate::types::find_lub;

impl<'m> TypeChecker<'_, 'm> {
    /// `Γ ⊢ e : T`, or `None` after an error.
    pub(super) fn expr(&mut self, expr: &'m Expr) -> Option<Type> {
        match expr {
            Expr::Constant(constant) => Some(self.constant(constant)),
            Expr::Var(var) | Expr::DataflowVar(var) => self.var(var),
            Expr::GlobalVar(gv) => self.global_var(gv),
            Expr::Tuple(tuple) => with_stack(|| self.tuple(tuple)),
            Expr::SeqExpr(seq) => with_stack(|| self.seq_expr(seq)),
            Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => Some(Type::Object),
            Expr::Function(function) => with_stack(|| self.function(function, false)),
            Expr::If(branch) => with_stack(|| self.if_expr(branch)),
            Expr::ExternFunc(_) => Some(self.cx.conclude(rule!("TC.EXTERNFUNC"), Type::PackedFunc)),
            Expr::Call(call) => with_stack(|| self.call(call)),
            Expr::ShapeExpr(shape) => Some(self.shape_expr(shape)),
            Expr::TupleGetItem(get) => with_stack(|| self.tuple_get_item(get)),
            // Well-formedness allows operators only as callees (WF.8). Elsewhere they have no type.
            Expr::Op(_) => None,
        }
    }

    /// TC.VAR, TC.VAR.UNBOUND. TC.FUNC.NESTED: a nested function sees the variables around it.
    fn var(&mut self, var: &'m Var) -> Option<Type> {
        let depth = self.frames.len();
        let entry = self.gamma.get(&var).filter(|entry| entry.depth == depth || self.cx.fire(rule!("TC.FUNC.NESTED")));
        let known = self.cx.conclude(rule!("TC.VAR"), entry).map(|entry| entry.ty.clone());
        self.known(known, var, var.span)
    }

    fn global_var(&mut self, gv: &'m GlobalVar) -> Option<Type> {
        let known = self.cx.conclude(rule!("TC.VAR"), self.globals.get(&*gv.name)).cloned();
        self.known(known, &gv.name, gv.span)
    }

    fn known(&mut self, known: Option<Option<Type>>, name: &dyn std::fmt::Display, span: Span) -> Option<Type> {
        self.demand(
            span,
            &[(rule!("TC.VAR.UNBOUND"), 1, known.is_some(), &|| {
                Complaint::error(format!("`{name}` is not in the typing context"))
            })],
        );
        known.flatten()
    }

    /// TC.CONST: the rank and datatype of the data.
    fn constant(&mut self, constant: &Constant) -> Type {
        let (rank, dtype) = (constant.data.shape.len(), constant.data.dtype);
        let rank = i64::try_from(rank).unwrap_or(-1);
        self.cx.conclude(rule!("TC.CONST"), Type::tensor(rank, dtype))
    }

    /// TC.SHAPEEXPR.
    fn shape_expr(&mut self, shape: &ShapeExpr) -> Type {
        let rank = i64::try_from(shape.values.len()).unwrap_or(-1);
        self.cx.conclude(rule!("TC.SHAPEEXPR"), Type::shape(rank))
    }

    /// TC.TUPLE.
    fn tuple(&mut self, tuple: &'m Tuple) -> Option<Type> {
        let mut fields = Vec::with_capacity(tuple.fields.len());
        for (i, field) in tuple.fields.iter().enumerate() {
            fields.push(self.at(TrailStep::Item("fields", i), |c| c.expr(field)));
        }
        let fields: Option<Vec<Type>> = fields.into_iter().collect();
        let ty = fields.map(|fields| self.cx.conclude(rule!("TC.TUPLE"), Type::tuple(fields)));
        self.within_bounds(ty, tuple.span)
    }

    /// The type, unless it is too large to traverse.
    pub(super) fn within_bounds(&mut self, ty: Option<Type>, span: Span) -> Option<Type> {
        let ty = ty?;
        if self.parts.allow_type(&ty) {
            return Some(ty);
        }
        self.complain(rule!("TC.TUPLE"), span, &|| Complaint::limit(TOO_WIDE));
        None
    }

    fn if_expr(&mut self, branch: &'m If) -> Option<Type> {
        let cond = self.at(TrailStep::Field("cond"), |c| c.expr(&branch.cond));
        if let Some(cond) = cond {
            self.condition(branch, &cond);
        }
        let true_type = self.at(TrailStep::Field("true_branch"), |c| c.expr(&branch.true_branch));
        // TC.IF.BRANCHES: both are checked, even if the condition is known.
        let mut false_type = None;
        if self.cx.fire(rule!("TC.IF.BRANCHES")) {
            false_type = self.at(TrailStep::Field("false_branch"), |c| c.expr(&branch.false_branch));
        }
        let (true_type, false_type) = (true_type?, false_type?);
        let lub = find_lub(self.cx, &true_type, &false_type);
        let lub = self.cx.conclude(rule!("TC.IF.LUB"), lub);
        // TYPE.GENERALIZE: branches of different types are no error.
        let precise = lub == true_type && lub == false_type;
        Some(if precise { lub } else { self.cx.conclude(rule!("TYPE.GENERALIZE"), lub) })
    }

    /// VAL.OBJECT.UNUSABLE: an arbitrary object cannot be called, indexed or used as a condition.
    pub(super) fn usable_object(&mut self, ty: &Type) -> bool {
        *ty == Type::Object && self.cx.conclude(rule!("VAL.OBJECT.UNUSABLE"), false)
    }

    /// TC.IF.COND: the condition is exactly a Boolean scalar.
    fn condition(&mut self, branch: &If, cond: &Type) {
        let boolean = *cond == Type::tensor(0, DataType::BOOL)
            || self.boxed_bool(branch, cond)
            || self.counts_as_bool(cond)
            || self.usable_object(cond);
        let cond = self.named_type(&branch.cond, cond);
        self.demand(
            branch.cond.span(),
            &[(rule!("TC.IF.COND"), 1, boolean, &|| {
                Complaint::error(format!("the condition of an If has the type {cond}, not that of a Boolean scalar"))
                    .with_hint("cast the condition to R.Tensor((), \"bool\") first")
            })],
        );
    }

    /// A73: a boxed Boolean is a condition too.
    fn boxed_bool(&mut self, branch: &If, cond: &Type) -> bool {
        let boxed = match self.named_type(&branch.cond, cond) {
            NamedType::Scalar(prim) => prim.dtype.is_bool(),
            NamedType::Plain(_) => false,
        };
        boxed && !self.cx.literal(Erratum::A73)
    }

    /// PR14148.DTYPE.BOOL.DISTINCT: no unsigned integer of another width is a Boolean.
    fn counts_as_bool(&mut self, cond: &Type) -> bool {
        match cond {
            Type::Tensor(t) => {
                let of_uint = t.ndim == Ndim::Known(0) && t.dtype.is_uint() && !t.dtype.is_bool();
                of_uint && self.cx.conclude(rule!("PR14148.DTYPE.BOOL.DISTINCT"), false)
            }
            Type::Object | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc => false,
        }
    }

    /// TC.TGI, with the conditions TC.TGI.NOTTUPLE and TC.TGI.BOUND.
    fn tuple_get_item(&mut self, get: &'m TupleGetItem) -> Option<Type> {
        let tuple = self.at(TrailStep::Field("tuple_value"), |c| c.expr(&get.tuple_value))?;
        let fields = tuple.as_tuple();
        let is_tuple = fields.is_some() || self.usable_object(&tuple);
        let named = self.named_type(&get.tuple_value, &tuple);
        self.demand(
            get.span,
            &[(rule!("TC.TGI.NOTTUPLE"), 1, is_tuple, &|| {
                Complaint::error(format!(
                    "field {} is taken of a value of type {named}, which is not a tuple",
                    get.index
                ))
                .with_hint("cast the value to a tuple first")
            })],
        );
        let fields = fields?;
        let field = usize::try_from(get.index).ok().and_then(|index| fields.get(index));
        let bound = self.has_field(fields.len(), get.index);
        self.demand(
            get.span,
            &[(rule!("TC.TGI.BOUND"), 1, bound, &|| {
                Complaint::error(format!("a tuple of {} fields has no field {}", fields.len(), get.index))
            })],
        );
        field.map(|field| self.cx.conclude(rule!("TC.TGI"), field.clone()))
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
        seq.blocks.iter().enumerate().for_each(|(i, block)| self.at(TrailStep::Item("blocks", i), |c| c.block(block)));
        let body = self.at(TrailStep::Field("body"), |c| c.expr(&seq.body));
        let body = self.within_bounds(body, seq.body.span());
        if self.cx.fire(rule!("TC.SEQ.POP")) {
            self.gamma.leave(mark);
        }
        body.map(|body| self.cx.conclude(rule!("TC.SEQ.RESULT"), body))
    }

    fn block(&mut self, block: &'m BindingBlock) {
        let mark = self.gamma.mark();
        self.gamma.reserve(block.bindings.len());
        self.report.vars.reserve(block.bindings.len());
        let dataflow = block.kind == BlockKind::Dataflow;
        self.count_dataflow(dataflow, |n| n + 1);
        let in_order: Vec<_> = block.bindings.iter().enumerate().collect();
        for (i, binding) in self.cx.conclude(rule!("TC.SEQ.ORDER"), in_order) {
            self.at(TrailStep::Item("bindings", i), |c| c.binding(binding));
        }
        self.count_dataflow(dataflow, |n| n - 1);
        if dataflow && self.cx.fire(rule!("TC.SEQ.DF-DROP")) {
            self.gamma.leave_some(mark, |_, entry| entry.dataflow);
        }
    }

    fn count_dataflow(&mut self, dataflow: bool, count: impl Fn(usize) -> usize) {
        if dataflow && let Some(frame) = self.frames.last_mut() {
            frame.in_dataflow = count(frame.in_dataflow);
        }
    }
}
